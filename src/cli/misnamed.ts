/**
 * Handles an unknown command. A known name from another tool and a certain typo become redirects (exit code 13), which a
 * program follows word for word. An uncertain one gets a suggestion with exit code 3 (decision 0025).
 */

import { commandLine } from "../base/shell.ts";
import { certainly, nearest } from "../base/suggest.ts";
import type { CommandDef } from "../commands/command.ts";
import { COMMANDS } from "../commands/commands.ts";
import { ELSEWHERE, RENAMED } from "../commands/elsewhere.ts";
import { HoldfastError } from "../protocol/errors.ts";
import { redactText } from "../protocol/redact.ts";

const FIRST_WORDS = [
  ...new Set(COMMANDS.flatMap((command) => [command.words[0]!, ...(command.alias ? [command.alias] : [])])),
  "help",
];

export const childrenOf = (word: string): readonly CommandDef[] =>
  COMMANDS.filter((command) => command.words.length === 2 && command.words[0] === word);

/** For a command that is also a group: whether its second word is a typo of a command in the group. */
export const isMistyped = ({ words: [group = "", word = ""] }: TypedWords): boolean =>
  nearest(
    word,
    childrenOf(group).map((child) => child.words[1]!),
  ) !== undefined;

export interface TypedWords {
  readonly argv: readonly string[];
  /** The first words that are not flags, and their positions. */
  readonly words: readonly string[];
  readonly at: readonly number[];
}

/** The command of argv, if the whole call is without mistakes. */
export type CallReader = (argv: readonly string[]) => CommandDef | undefined;

export const noSuchCommand = (typed: TypedWords, read: CallReader): HoldfastError => {
  const { words } = typed;
  const children = childrenOf(words[0]!);
  const isGroup = children.length > 0;
  const name = isGroup ? words.join(" ") : words[0]!;
  const renamed = RENAMED.find(({ from }) => from === name);
  if (renamed !== undefined) {
    const to = (words.length > 1 && renamed.of) || renamed.to;
    const asked = replaced(typed, isGroup ? 2 : 1, to);
    const argv = to[0] === "spawn" ? asSpawn(typed, asked, read) : asked;
    if (argv === undefined)
      return unknown(name, undefined, "", "A program is started with: agent spawn -- PROGRAM");
    const line = lineOf(argv);
    if (!isTellable(line)) return unknown(name, to, line);
    return new HoldfastError("COMMAND_RENAMED", `"${name}" is called ${to.join(" ")} here.`, {
      redirect: { command: line, permanent: true, reason: "renamed" },
      suggestion: `Run: ${line}`,
    });
  }
  if (!isGroup && Object.hasOwn(ELSEWHERE, name)) return unknown(name, undefined, "", ELSEWHERE[name]);
  const [word, candidates] = isGroup
    ? [words[1] ?? "", children.map((child) => child.words[1]!)]
    : [words[0]!, FIRST_WORDS];
  const before = isGroup ? [words[0]!] : [];
  const near = nearest(word, candidates);
  if (near === undefined) return unknown(name);
  const line = lineOf(replaced(typed, before.length + 1, [...before, near]));
  return (
    corrected(typed, name, before, certainly(word, candidates), read) ??
    unknown(name, [...before, near], line)
  );
};

/** Other tools run a program directly; here it stands behind `--`. Undefined if that would not be a valid call either. */
const asSpawn = (
  { argv, at }: TypedWords,
  asked: readonly string[],
  read: CallReader,
): readonly string[] | undefined => {
  if (at.length < 2 || read(asked) !== undefined) return asked;
  const program = at[1]!;
  const [before, after] = [argv.slice(0, program), argv.slice(program)];
  const behind = [...before.map((word, index) => (index === at[0] ? "spawn" : word)), "--", ...after];
  return !argv.includes("--") && read(behind) !== undefined ? behind : undefined;
};

const lineOf = (argv: readonly string[]): string => commandLine(["agent", ...argv]);

/** A program follows the redirect word for word, so a line with a masked secret would be another call. */
const isTellable = (line: string): boolean => redactText(line) === line;

const replaced = ({ argv, at }: TypedWords, count: number, words: readonly string[]): readonly string[] =>
  argv.flatMap((word, index) => (index === at[0] ? words : at.slice(0, count).includes(index) ? [] : [word]));

/** Corrects a typo only if the whole call would be valid and could not destroy anything. */
const corrected = (
  typed: TypedWords,
  name: string,
  before: readonly string[],
  meant: string | undefined,
  read: CallReader,
): HoldfastError | undefined => {
  if (meant === undefined) return undefined;
  const argv = replaced(typed, before.length + 1, [...before, meant]);
  const command = read(argv);
  if (command === undefined || command.danger === "destructive") return undefined;
  const line = lineOf(argv);
  if (!isTellable(line)) return undefined;
  return new HoldfastError(
    "COMMAND_MISTYPED",
    `There is no command "${name}"; did you mean ${["agent", ...before, meant].join(" ")}?`,
    {
      redirect: { command: line, permanent: false, reason: "typo_corrected" },
      suggestion: `Run: ${line}`,
    },
  );
};

const unknown = (
  name: string,
  near?: readonly string[],
  line = "",
  otherwise = "See all commands with: agent --help",
): HoldfastError => {
  const meant = near && ["agent", ...near].join(" ");
  const run = isTellable(line) ? `Run: ${line}` : `Run, with what *** stands for: ${redactText(line)}`;
  return new HoldfastError(
    "UNKNOWN_COMMAND",
    `There is no command "${name}"${meant ? `; did you mean ${meant}?` : "."}`,
    { phase: "validation", suggestion: meant ? run : otherwise },
  );
};
