/** man/agent.1, from the registry of commands. */

import type { FlagDef } from "../src/base/flag.ts";
import { VERSION } from "../src/base/version.ts";
import { usage } from "../src/cli/help.ts";
import { type CommandDef, GROUPS } from "../src/commands/command.ts";
import { COMMANDS } from "../src/commands/commands.ts";
import { ENVIRONMENT, GLOBAL_FLAGS } from "../src/commands/flags.ts";
import { G1 } from "../src/protocol/generations.ts";

/** As roff takes it: no escape, no hyphen that it may break, no request at the beginning of a line. */
export const roff = (text: string): string =>
  text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("…", "...")
    .replace(/^(?=[.'])/gm, "\\&");

const bold = (text: string): string => `\\fB${roff(text)}\\fR`;
const italic = (text: string): string => `\\fI${roff(text)}\\fR`;
const item = (head: string, text: string): string => `.TP\n${head}\n${roff(text)}`;
const section = (title: string, lines: readonly string[]): string => `.SH ${title}\n${lines.join("\n")}`;

const flagItem = (flag: FlagDef): string => {
  const { name, short, type, value, values, help, default: fallback, optional } = flag;
  const word = italic(values?.join("|") ?? value ?? "VALUE");
  const shown = type === "bool" ? "" : optional ? `[=${word}]` : ` ${word}`;
  const head = `${short === undefined ? "" : `${bold(`-${short}`)}, `}${bold(`--${name}`)}${shown}`;
  return item(head, help + (fallback === undefined ? "" : ` (${fallback})`));
};

const commandLines = (command: CommandDef): readonly string[] => [
  `.SS ${roff(usage(command))}`,
  roff(`${command.summary}.`),
  ...(command.details === undefined ? [] : [".PP", roff(command.details)]),
  ...command.args.map(({ name, help }) => item(italic(name), help)),
  ...command.flags.map(flagItem),
];

export const manPage = (): string =>
  `${[
    `.\\" Generated from src/commands by npm run docs.`,
    `.TH AGENT 1 "" "holdfast ${VERSION}" "User Commands"`,
    section("NAME", ["agent \\- supervise agent CLIs"]),
    section("SYNOPSIS", [`${bold("agent")} ${italic("COMMAND")} [flags]`]),
    section("DESCRIPTION", [
      roff(
        "Runs claude, codex, gemini, opencode, copilot, qwen or any command under supervision: every process is supervised, every exit is known, every event is kept, and nothing is left behind, even when the supervisor itself is killed.",
      ),
    ]),
    ...GROUPS.map((group) =>
      section(
        group.toUpperCase(),
        COMMANDS.filter((command) => command.group === group).flatMap(commandLines),
      ),
    ),
    section("FLAGS OF EVERY COMMAND", GLOBAL_FLAGS.map(flagItem)),
    section(
      "EXIT STATUS",
      Object.entries(G1.exits).map(([exit, { name, description }]) =>
        item(bold(exit), `${name}. ${description}`),
      ),
    ),
    section(
      "ENVIRONMENT",
      ENVIRONMENT.map(({ name, help }) => item(bold(name), help)),
    ),
    section("SEE ALSO", [roff("agent COMMAND --help, agent manifest, and docs/ of the package.")]),
  ].join("\n")}\n`;
