/** Help, made from the registry. */
import { COMMANDS, type CommandDef, type FlagDef, GLOBAL_FLAGS } from "../protocol/commands.ts";
import { type Paint, table } from "./render/terminal.ts";

const GROUPS = ["Start and stop", "Look", "Talk", "This machine", "For programs"] as const;
const WRAP_COLUMNS = 88;

const wrap = (text: string): string => {
  const lines = [""];
  for (const word of text.split(" ")) {
    if (`${lines.at(-1)} ${word}`.length > WRAP_COLUMNS) lines.push(word);
    else lines[lines.length - 1] = `${lines.at(-1)} ${word}`.trimStart();
  }
  return lines.join("\n");
};

const argText = (command: CommandDef): string =>
  command.args
    .map(({ name, required, variadic }) =>
      required ? `${name}${variadic ? "…" : ""}` : `[${name}${variadic ? "…" : ""}]`,
    )
    .join(" ");

export const usage = (command: CommandDef): string =>
  [
    "agent",
    ...command.words,
    argText(command),
    command.flags.length > 0 ? "[flags]" : "",
    command.argv ? "[-- ARGV…]" : "",
  ]
    .filter(Boolean)
    .join(" ");

const flagRow = (flag: FlagDef, paint: Paint): readonly string[] => [
  `  ${flag.short ? `-${flag.short}, ` : "    "}--${flag.name}${flag.type === "bool" ? "" : ` ${flag.values && flag.values.length <= 3 ? flag.values.join("|") : (flag.value ?? "VALUE")}`}`,
  flag.help + (flag.default ? paint("dim", ` (${flag.default})`) : ""),
];

const overview = (paint: Paint): string => {
  const sections = GROUPS.map((group) => {
    const rows = COMMANDS.filter((command) => command.group === group).map((command) => [
      `  ${command.words.join(" ")}${command.alias ? `, ${command.alias}` : ""}`.padEnd(18),
      command.summary,
    ]);
    return `${paint("bold", group)}\n${table(rows)}`;
  });
  return [
    "Supervise agent CLIs: every process watched, every exit known, nothing left behind.",
    `${paint("bold", "Usage")}\n  agent COMMAND [flags]`,
    ...sections,
    `${paint("bold", "Everywhere")}\n${table(GLOBAL_FLAGS.map((flag) => flagRow(flag, paint)))}`,
    `New here? ${paint("name", "agent demo")} shows it at work. ${paint("dim", "More: agent COMMAND --help")}`,
  ].join("\n\n");
};

const one = (command: CommandDef, paint: Paint): string => {
  const parts = [command.summary, `${paint("bold", "Usage")}\n  ${usage(command)}`];
  if (command.details) parts.push(wrap(command.details));
  if (command.args.length > 0)
    parts.push(
      `${paint("bold", "Arguments")}\n${table(command.args.map((arg) => [`  ${arg.name}`, arg.help]))}`,
    );
  if (command.flags.length > 0)
    parts.push(`${paint("bold", "Flags")}\n${table(command.flags.map((flag) => flagRow(flag, paint)))}`);
  parts.push(`${paint("bold", "Everywhere")}\n${table(GLOBAL_FLAGS.map((flag) => flagRow(flag, paint)))}`);
  parts.push(`${paint("bold", "Examples")}\n${command.examples.map((example) => `  ${example}`).join("\n")}`);
  return parts.join("\n\n");
};

/** Help for no command, a group (`daemon`) or one command. undefined when there is no such command. */
export const help = (words: readonly string[], paint: Paint): string | undefined => {
  if (words.length === 0) return overview(paint);
  const [first, second] = words;
  const exact = COMMANDS.find(
    (command) =>
      command.words.join(" ") === words.join(" ") || (words.length === 1 && command.alias === first),
  );
  if (exact) return one(exact, paint);
  const group = COMMANDS.filter((command) => command.words.length === 2 && command.words[0] === first);
  if (group.length === 0 || second !== undefined) return undefined;
  return `${paint("bold", "Usage")}\n  agent ${first} COMMAND [flags]\n\n${table(group.map((command) => [`  ${command.words.join(" ")}`, command.summary]))}`;
};
