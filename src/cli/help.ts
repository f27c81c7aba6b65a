/** Help, generated from the registry. */
import type { FlagDef } from "../base/flag.ts";
import { type CommandDef, GROUPS } from "../commands/command.ts";
import { COMMANDS } from "../commands/commands.ts";
import { GLOBAL_FLAGS } from "../commands/flags.ts";
import { TOPICS } from "../protocol/spec-fields.ts";
import { type Paint, pad, width, wrap } from "./render/terminal.ts";

/** Longer lines are hard to read. */
const WRAP_COLUMNS = 100;
/** On a very narrow terminal less room would be left beside the flags; the terminal then wraps by itself. */
const WRAP_MIN_COLUMNS = 24;

/** Names with their meanings wrapped beside them. */
const glossary = (rows: readonly (readonly [string, string])[], columns: number): string => {
  const first = Math.max(...rows.map(([name]) => width(name))) + 2;
  const room = Math.max(WRAP_MIN_COLUMNS, columns - first);
  return rows
    .map(([name, what]) => pad(name, first) + wrap(what, room).join(`\n${" ".repeat(first)}`))
    .join("\n");
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

const valueWord = ({ type, values, value = "VALUE", optional }: FlagDef): string => {
  if (type === "bool") return "";
  const shown = values && values.length <= 3 ? values.join("|") : value;
  return optional ? `[=${shown}]` : ` ${shown}`;
};

const flagRow = (flag: FlagDef): readonly [string, string] => [
  `  ${flag.short ? `-${flag.short}, ` : "    "}--${flag.name}${valueWord(flag)}`,
  flag.help + (flag.default ? ` (${flag.default})` : ""),
];

const everywhere = (paint: Paint, columns: number): string =>
  `${paint("bold", "Everywhere")}\n${glossary(GLOBAL_FLAGS.map(flagRow), columns)}`;

const overview = (paint: Paint, columns: number): string => {
  const names = (command: CommandDef): string =>
    `  ${command.words.join(" ")}${command.alias ? `, ${command.alias}` : ""}`.padEnd(18);
  const sections = GROUPS.map((group) => {
    const rows = COMMANDS.filter((command) => command.group === group).map(
      (command) => [names(command), command.summary] as const,
    );
    return `${paint("bold", group)}\n${glossary(rows, columns)}`;
  });
  return [
    "Supervise agent CLIs: every process watched, every exit known, nothing left behind.",
    `${paint("bold", "Usage")}\n  agent COMMAND [flags]`,
    ...sections,
    everywhere(paint, columns),
    `New here? ${paint("name", "agent demo")} shows it at work. ${paint("dim", "More: agent COMMAND --help")}`,
  ].join("\n\n");
};

/** Longer lists are divided into topics. */
const FLAGS_IN_ONE_LIST = 20;

/** The flags as help shows them: in one list, or by topic if there are many. */
const flagSections = ({ flags }: CommandDef): readonly (readonly [string, readonly FlagDef[]])[] => {
  if (flags.length <= FLAGS_IN_ONE_LIST) return [["Flags", flags]];
  return TOPICS.map(
    (title) => [title, flags.filter(({ topic = TOPICS.at(-1) }) => topic === title)] as const,
  );
};

const one = (command: CommandDef, paint: Paint, columns: number): string => {
  const section = (title: string, rows: readonly (readonly [string, string])[]): readonly string[] =>
    rows.length === 0 ? [] : [`${paint("bold", title)}\n${glossary(rows, columns)}`];
  return [
    command.summary,
    `${paint("bold", "Usage")}\n  ${usage(command)}`,
    ...(command.details ? [wrap(command.details, columns).join("\n")] : []),
    ...section(
      "Arguments",
      command.args.map((arg) => [`  ${arg.name}`, arg.help]),
    ),
    ...flagSections(command).flatMap(([title, flags]) => section(title, flags.map(flagRow))),
    everywhere(paint, columns),
    `${paint("bold", "Examples")}\n${command.examples.map((example) => `  ${example}`).join("\n")}`,
  ].join("\n\n");
};

/** Help for everything, a group (`daemon`) or one command. Undefined if there is no such command. */
export const help = (
  words: readonly string[],
  paint: Paint,
  terminalColumns = WRAP_COLUMNS,
): string | undefined => {
  const columns = Math.min(terminalColumns, WRAP_COLUMNS);
  if (words.length === 0) return overview(paint, columns);
  const [first, second] = words;
  const exact = COMMANDS.find(
    (command) =>
      command.words.join(" ") === words.join(" ") || (words.length === 1 && command.alias === first),
  );
  if (exact) return one(exact, paint, columns);
  const group = COMMANDS.filter((command) => command.words.length === 2 && command.words[0] === first);
  if (group.length === 0 || second !== undefined) return undefined;
  const rows = group.map((command) => [`  ${command.words.join(" ")}`, command.summary] as const);
  return `${paint("bold", "Usage")}\n  agent ${first} COMMAND [flags]\n\n${glossary(rows, columns)}`;
};
