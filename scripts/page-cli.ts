/** docs/reference/commands.md, from the registry of commands. */

import type { FlagDef } from "../src/base/flag.ts";
import { usage } from "../src/cli/help.ts";
import { exitsOf } from "../src/cli/manifest.ts";
import { type CommandDef, GROUPS } from "../src/commands/command.ts";
import { COMMANDS } from "../src/commands/commands.ts";
import { ENVIRONMENT, GLOBAL_FLAGS } from "../src/commands/flags.ts";
import { table } from "./markdown.ts";
import { exitTable } from "./page-errors.ts";

const flagName = ({ name, short, type, value, values, optional }: FlagDef): string => {
  const word = values?.join("\\|") ?? value ?? "VALUE";
  const shown = type === "bool" ? "" : optional ? `[=${word}]` : ` ${word}`;
  return `\`${short === undefined ? "" : `-${short}, `}--${name}${shown.replaceAll("\\|", "|")}\``;
};

const flagTable = (flags: readonly FlagDef[]): string =>
  table(
    ["flag", "does", "default"],
    flags.map((flag) => [
      flagName(flag),
      `${flag.help}${flag.repeatable ? "; may be repeated" : ""}`,
      flag.default ?? "",
    ]),
  );

const STREAMS = "It prints records, one a line, then one envelope";

const streamSentence = ({ stream }: CommandDef): readonly string[] =>
  stream === false
    ? []
    : [
        stream === true
          ? `${STREAMS}.`
          : `${STREAMS}, with ${stream.map((flag) => `\`--${flag}\``).join(" or ")}.`,
      ];

const DANGERS = {
  safe: "Changes nothing.",
  mutating: "Changes something: `data.effect` says what.",
  destructive: "Ends or removes something: `data.effect` says what.",
};

const section = (command: CommandDef): string =>
  [
    `### agent ${command.words.join(" ")}`,
    `${command.summary}.`,
    `\`\`\`console\n$ ${usage(command)}\n\`\`\``,
    ...(command.alias === undefined ? [] : [`Also \`agent ${command.alias}\`.`]),
    ...(command.details === undefined ? [] : [command.details]),
    ...(command.args.length === 0
      ? []
      : [
          table(
            ["argument", "is"],
            command.args.map(({ name, help, required, variadic }) => [
              `\`${name}\`${variadic ? ", one or more" : ""}${required ? "" : " (optional)"}`,
              help,
            ]),
          ),
        ]),
    ...(command.flags.length === 0 ? [] : [flagTable(command.flags)]),
    `${[DANGERS[command.danger], ...streamSentence(command)].join(" ")} Exit codes: ${exitsOf(command).join(", ")}.`,
    `\`\`\`console\n${command.examples.map((example) => `$ ${example}`).join("\n")}\n\`\`\``,
  ].join("\n\n");

export const cliPage = (): string => `# The \`agent\` command

Generated from \`src/commands\` by \`npm run docs\`; \`agent manifest\` says the same to programs, with the JSON Schemas. Errors:
[errors.md](errors.md).

A worker is named by its id, a unique prefix of it (4 characters or more), or its name; a supervisor by its path (\`crew/fixer\`). Durations are \`500ms\`, \`10s\`, \`5m\`, \`2h\`, sizes
\`64KB\`, \`1MB\`.

## Everywhere

${flagTable(GLOBAL_FLAGS)}

${table(
  ["variable", "says"],
  ENVIRONMENT.map(({ name, help }) => [`\`${name}\``, help]),
)}

## Exit codes

${exitTable()}

${GROUPS.map(
  (group) =>
    `## ${group}\n\n${COMMANDS.filter((command) => command.group === group)
      .map(section)
      .join("\n\n")}`,
).join("\n\n")}
`;
