/**
 * Parses argv to a call of one command, by the registry. It collects every mistake before anything starts (CLI
 * requirements F-015), so that the caller sees all of them at once.
 */
import { parseArgs } from "node:util";
import type { Reading } from "../base/durations.ts";
import type { FlagDef } from "../base/flag.ts";
import type { NamedHost } from "../base/host-address.ts";
import { didYouMean, nearest } from "../base/suggest.ts";
import type { ArgDef, CommandDef } from "../commands/command.ts";
import { COMMANDS } from "../commands/commands.ts";
import { FLAGS_ELSEWHERE } from "../commands/elsewhere.ts";
import { GLOBAL_FLAGS } from "../commands/flags.ts";
import type { ResolvedDefault } from "../protocol/defaults.ts";
import { HoldfastError } from "../protocol/errors.ts";
import { type CallReader, childrenOf, isMistyped, noSuchCommand, type TypedWords } from "./misnamed.ts";
import { readName, readValue } from "./values.ts";

export interface Call {
  readonly command: CommandDef;
  /** Values by flag name, arrays for repeatable flags; a missing key means that the flag was not given. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly args: readonly string[];
  /** The hosts that it is for; undefined for this machine alone. With several, the arguments still name theirs. */
  readonly hosts?: readonly NamedHost[];
  /** All words as they were typed. */
  readonly typed?: readonly string[];
  /** The words after `--`; undefined without it. */
  readonly argv: readonly string[] | undefined;
  /** Names of flags that were given, also with a value that cannot be read. */
  readonly given: ReadonlySet<string>;
  /** One sentence a mistake; if there is any, the call must not run. */
  readonly problems: readonly string[];
  /** The command does not exist. */
  readonly unknown?: HoldfastError;
  /** A word directly behind a flag that takes its value after `=`: the flag, and the word's index in `args`. The word may be meant as the value. */
  readonly behind?: { readonly flag: string; readonly at: number };
  /** The defaults that the call was given (src/cli/defaults), for a dry run. */
  readonly defaults?: readonly ResolvedDefault[];
  /** A word follows an unknown flag and may be the flag's value, so `args` may be wrong. */
  readonly isDoubtful?: true;
}

export type ParsedArguments =
  | { readonly kind: "call"; readonly call: Call }
  /** The words of the command or group in question; empty for the overview. */
  | {
      readonly kind: "help";
      readonly words: readonly string[];
      readonly flags: Readonly<Record<string, unknown>>;
    };

/** Used if there is no command, so that the mistake still gets an envelope. */
const NO_COMMAND: CommandDef = {
  words: [],
  command: "agent/unknown",
  group: "For programs",
  summary: "",
  args: [],
  flags: [],
  danger: "safe",
  stream: false,
  exits: [],
  examples: [],
};

const nameOf = (command: CommandDef): string => ["agent", ...command.words].join(" ");

export const findCommand = (words: readonly string[]): CommandDef | undefined =>
  COMMANDS.find(
    (command) =>
      (command.words.length === 1 &&
        words[0] !== undefined &&
        [command.words[0], command.alias].includes(words[0])) ||
      (command.words.length === 2 && command.words[0] === words[0] && command.words[1] === words[1]),
  );

const isFlag = (token: string): boolean => token.startsWith("-") && token !== "-";

/** Global flags may stand before the command; their values must not be taken as the command. */
const commandWords = (
  argv: readonly string[],
): { readonly at: readonly number[]; readonly words: readonly string[] } => {
  const valued = new Set(
    GLOBAL_FLAGS.filter((flag) => flag.type !== "bool").flatMap((flag) => [
      `--${flag.name}`,
      `-${flag.short}`,
    ]),
  );
  const at: number[] = [];
  for (let i = 0; i < argv.length && at.length < (argv[at[0]!] === "help" ? 3 : 2); i++) {
    if (argv[i] === "--") break;
    if (valued.has(argv[i]!)) i++;
    else if (!isFlag(argv[i]!)) at.push(i);
    // The second word must directly follow the first: `daemon start`.
    else if (at.length === 1) break;
  }
  return { at, words: at.map((index) => argv[index]!) };
};

interface TokensRead {
  readonly values: Record<string, unknown>;
  readonly given: ReadonlySet<string>;
  readonly problems: string[];
  readonly positionals: string[];
  readonly argv: string[] | undefined;
  readonly behind: Call["behind"];
  readonly isDoubtful: boolean;
}

/**
 * Parses tokens by the given flags; unknown flags and bad values become problems. A word behind an unknown flag is taken as
 * its value if the flag that was probably meant has a value, or if there are more words than `wordsMax`.
 */
const readTokens = (
  argv: readonly string[],
  flags: readonly FlagDef[],
  commandName: string,
  wordsMax = Number.POSITIVE_INFINITY,
): TokensRead => {
  const reader = new FlagReader(flags, commandName);
  const tokens = tokensOf(argv, flags);
  const positionals: string[] = [];
  const hasTooMany = tokens.filter(({ kind }) => kind === "positional").length > wordsMax;
  let rest: string[] | undefined;
  let unknown: string | undefined;
  let isDoubtful = false;
  let [bare, behind]: [string | undefined, Call["behind"]] = [undefined, undefined];
  for (const token of tokens) {
    if (token.kind === "option-terminator") rest = [];
    else if (token.kind !== "positional") reader.read(token);
    else if (rest !== undefined) rest.push(token.value);
    else if (unknown === undefined || !reader.takesValue(unknown, hasTooMany)) {
      isDoubtful ||= unknown !== undefined;
      if (bare !== undefined) behind = { flag: bare, at: positionals.length };
      positionals.push(token.value);
    }
    const alone = token.kind === "option" && !token.inlineValue ? token.name : undefined;
    const flag = reader.flag(alone);
    bare = flag?.optional === true ? alone : undefined;
    unknown = flag === undefined ? alone : undefined;
  }
  const { values, given, problems } = reader;
  return { values, given, problems, positionals, argv: rest, behind, isDoubtful };
};

const tokensOf = (argv: readonly string[], flags: readonly FlagDef[]) => {
  const options = Object.fromEntries(
    flags.map((flag) => [
      flag.name,
      {
        type: flag.type === "bool" || flag.optional ? ("boolean" as const) : ("string" as const),
        ...(flag.short ? { short: flag.short } : {}),
      },
    ]),
  );
  return parseArgs({ args: [...argv], options, strict: false, allowPositionals: true, tokens: true }).tokens;
};

/** The words of a call without these flags and their values. The words of a program, after `--`, stay. */
export const wordsWithout = (
  { command, typed = [] }: Pick<Call, "command" | "typed">,
  names: readonly string[],
): readonly string[] => {
  const left = new Set(typed.keys());
  for (const token of tokensOf(typed, [...command.flags, ...GLOBAL_FLAGS])) {
    if (token.kind !== "option" || !names.includes(token.name)) continue;
    left.delete(token.index);
    if (token.inlineValue === false) left.delete(token.index + 1);
  }
  return typed.filter((_, at) => left.has(at));
};

interface FlagToken {
  readonly rawName: string;
  readonly name: string;
  readonly value: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

class FlagReader {
  readonly values: Record<string, unknown> = {};
  readonly given = new Set<string>();
  readonly problems: string[] = [];
  private readonly known: ReadonlyMap<string, FlagDef>;
  private readonly commandName: string;

  constructor(flags: readonly FlagDef[], commandName: string) {
    this.known = new Map(flags.map((flag) => [flag.name, flag]));
    this.commandName = commandName;
  }

  flag(name: string | undefined): FlagDef | undefined {
    return name === undefined ? undefined : this.known.get(name);
  }

  /** Guesses whether the next word is the value of an unknown flag, without reporting a problem. */
  takesValue(name: string, hasTooManyWords: boolean): boolean {
    const meant = this.known.get(nearest(name, [...this.known.keys()], 1) ?? "");
    return meant === undefined ? hasTooManyWords : meant.type !== "bool" && !meant.optional;
  }

  read(token: FlagToken): void {
    const flag = this.known.get(token.name);
    if (flag !== undefined) this.given.add(flag.name);
    if (flag === undefined) this.problems.push(this.noSuchFlag(token));
    else if (flag.optional && token.value === undefined) {
      this.values[flag.name] = true;
    } else if (flag.type === "bool") {
      if (token.value === undefined) this.values[flag.name] = true;
      else this.problems.push(`--${flag.name} takes no value`);
    } else if (token.value === undefined || (!token.inlineValue && token.value.startsWith("--"))) {
      const value = flag.values?.join("|") ?? flag.value;
      this.problems.push(`--${flag.name} needs a value${value ? `: --${flag.name} ${value}` : ""}`);
    } else this.keep(flag, token.value);
  }

  private keep(flag: FlagDef, text: string): void {
    const { values, problems } = this;
    const read = readValue(flag, text);
    if (!read.ok) problems.push(`--${flag.name} ${read.problem}`);
    else if (!flag.repeatable && flag.name in values) problems.push(`--${flag.name} is given twice`);
    else if (flag.repeatable)
      values[flag.name] = [...((values[flag.name] as unknown[] | undefined) ?? []), read.value];
    else values[flag.name] = read.value;
  }

  private noSuchFlag({ name, rawName }: FlagToken): string {
    const otherwise = FLAGS_ELSEWHERE[this.commandName]?.[name];
    const why = otherwise === undefined ? didYouMean(name, [...this.known.keys()], "--") : `; ${otherwise}`;
    return `${this.commandName} has no flag ${rawName}${why}`;
  }
}

const problemIn = (read: Reading<unknown>, what: string): readonly string[] =>
  read.ok ? [] : [`${what} ${read.problem}`];

const checkArgs = (command: CommandDef, args: readonly string[]): readonly string[] => {
  const problems: string[] = [];
  const name = nameOf(command);
  const isVariadic = command.args.some((arg) => arg.variadic);
  command.args.forEach((arg: ArgDef, index) => {
    if (arg.required && args[index] === undefined) problems.push(`${name} needs ${arg.name}: ${arg.help}`);
    if (arg.values && args[index] !== undefined && !arg.values.includes(args[index]))
      problems.push(
        `${arg.name} is one of ${arg.values.join(", ")}, not "${args[index]}"${didYouMean(args[index], arg.values)}`,
      );
    if (arg.nameMaxBytes !== undefined && args[index])
      problems.push(...problemIn(readName(args[index], arg.nameMaxBytes), arg.name));
    if (args[index] === "") problems.push(`${arg.name} is empty`);
  });
  if (!isVariadic && args.length > command.args.length) {
    const extra = args
      .slice(command.args.length)
      .map((word) => `"${word}"`)
      .join(", ");
    const last = command.args.at(-1)?.name;
    const instead = {
      TEXT: "; put the whole TEXT in quotes",
      PROMPT: "; put the whole PROMPT in quotes, and a program after --",
    }[last ?? ""];
    const takesFile = command.flags.some((flag) => flag.name === "file");
    const byFile = takesFile ? `; a file is given with -f ${args[0]}` : "";
    problems.push(`${name} does not take ${extra}${instead ?? byFile}`);
  }
  return problems;
};

const failed = (
  flags: Readonly<Record<string, unknown>>,
  mistake: { readonly unknown: HoldfastError } | { readonly problems: readonly string[] },
): ParsedArguments => ({
  kind: "call",
  call: {
    command: NO_COMMAND,
    flags,
    args: [],
    argv: undefined,
    given: new Set(),
    problems: [],
    ...mistake,
  },
});

/** A command's own checks beyond the registry: mistakes between its flags and arguments. */
export type Checks = Readonly<
  Record<string, ((call: Call, place?: CallPlace) => readonly string[]) | undefined>
>;

/** The environment and directory of a call; undefined while the parser only tests whether words could be a call. */
export interface CallPlace {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

const readerWith =
  (checks: Checks): CallReader =>
  (argv) => {
    const parsed = parse(argv, checks);
    if (parsed.kind === "help" || parsed.call.unknown !== undefined) return undefined;
    const { command, problems } = parsed.call;
    return [...problems, ...(checks[command.command]?.(parsed.call) ?? [])].length === 0
      ? command
      : undefined;
  };

const VERSION_FLAG: FlagDef = { name: "version", short: "V", type: "bool", help: "version of this command" };

/** Without a command word: help, or --version. */
const parseBare = ({ argv, at, words }: TypedWords, reader: CallReader): ParsedArguments => {
  const { values, given, problems } = readTokens(without(argv, at), [...GLOBAL_FLAGS, VERSION_FLAG], "agent");
  if (problems.length > 0) return failed(values, { problems });
  if (values.version)
    return {
      kind: "call",
      call: { command: findCommand(["version"])!, flags: values, args: [], argv: undefined, given, problems },
    };
  const asked = words.slice(1);
  if (asked.length > 0 && findCommand(asked) === undefined && childrenOf(asked[0]!).length === 0)
    return failed(values, { unknown: noSuchCommand({ argv, words: asked, at: at.slice(1) }, reader) });
  return { kind: "help", words: asked, flags: values };
};

const without = (argv: readonly string[], at: readonly number[]): readonly string[] =>
  argv.filter((_, index) => !at.includes(index));

/** With `checks`, a typo is corrected only if the whole call would be valid. */
export const parse = (argv: readonly string[], checks: Checks = {}): ParsedArguments => {
  const reader = readerWith(checks);
  const { at, words } = commandWords(argv);
  if (words.length === 0 || words[0] === "help") return parseBare({ argv, at, words }, reader);
  const command = findCommand(words);
  if (command === undefined) {
    const { values } = readTokens(argv, GLOBAL_FLAGS, "agent");
    const isGroup = words.length === 1 && childrenOf(words[0]!).length > 0;
    return isGroup
      ? { kind: "help", words, flags: values }
      : failed(values, { unknown: noSuchCommand({ argv, words, at }, reader) });
  }
  const read = readTokens(
    without(argv, at.slice(0, command.words.length)),
    [...command.flags, ...GLOBAL_FLAGS],
    nameOf(command),
    command.args.some((arg) => arg.variadic) ? Number.POSITIVE_INFINITY : command.args.length,
  );
  if (read.values.help) return { kind: "help", words: command.words, flags: read.values };
  // `approvals approv fixer` has one word more than `approvals ID` takes.
  const isOver = command.words.length === 1 && read.positionals.length > command.args.length;
  if (isOver && isMistyped({ argv, at, words }))
    return failed(read.values, { unknown: noSuchCommand({ argv, words, at }, reader) });
  const args = command.argv ? read.positionals : [...read.positionals, ...(read.argv ?? [])];
  const problems = read.values.schema ? read.problems : [...read.problems, ...checkArgs(command, args)];
  return {
    kind: "call",
    call: {
      command,
      flags: read.values,
      args,
      argv: command.argv ? read.argv : undefined,
      given: read.given,
      problems,
      ...(read.behind && { behind: read.behind }),
      ...(read.isDoubtful && { isDoubtful: true }),
    },
  };
};

/** All mistakes as one error: each is a sentence in `problems`, and the message has all of them. */
export const invalid = (mistakes: readonly string[], commandName?: string): HoldfastError => {
  const problems = mistakes.map(sentence);
  return new HoldfastError(
    "INVALID_REQUEST",
    problems.length === 1 ? problems[0]! : `${problems.length} mistakes: ${problems.join(" ")}`,
    {
      problems,
      phase: "validation",
      suggestion: `See agent ${commandName ? `${commandName} ` : ""}--help`,
    },
  );
};

/** A command's name keeps its small letter; other sentences begin with a capital. */
const sentence = (problem: string): string =>
  `${problem.startsWith("agent ") ? "a" : problem[0]!.toUpperCase()}${problem.slice(1)}${/[.?]$/.test(problem) ? "" : "."}`;
