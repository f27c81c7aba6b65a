/**
 * argv to a call of one command, by the registry. Every mistake is collected before anything starts (cli.md; CLI
 * requirements F-015): the caller sees all of them in one answer, and nothing was done.
 */
import { parseArgs } from "node:util";
import { didYouMean, nearest } from "../base/suggest.ts";
import {
  type ArgDef,
  COMMANDS,
  type CommandDef,
  FLAGS_ELSEWHERE,
  type FlagDef,
  GLOBAL_FLAGS,
} from "../commands/commands.ts";
import { HoldfastError } from "../protocol/errors.ts";
import { childrenOf, isMistyped, noSuchCommand, type Reader, type Typed } from "./misnamed.ts";
import { readValue } from "./values.ts";

export interface Call {
  readonly command: CommandDef;
  /** Values by flag name, repeatable ones as arrays; absent means not given. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly args: readonly string[];
  /** The words that stood after `--`; undefined without it. */
  readonly argv: readonly string[] | undefined;
  /** One sentence a mistake; nothing may be done when there is one. */
  readonly problems: readonly string[];
  /** There is no such command at all. */
  readonly unknown?: HoldfastError;
  /** A word right behind a flag that has its value after `=`: which flag, and which of `args` it is. It may be meant for the value. */
  readonly behind?: { readonly flag: string; readonly at: number };
  /** A word stands behind a flag that there is not: it may be the flag's value, and what is read of `args` may be wrong. */
  readonly isDoubtful?: true;
}

export type Parsed =
  | { readonly kind: "call"; readonly call: Call }
  /** Words of the command or group that is asked about; none is the overview. */
  | {
      readonly kind: "help";
      readonly words: readonly string[];
      readonly flags: Readonly<Record<string, unknown>>;
    };

/** Stands in where there is no command, so that the mistake still gets its envelope. */
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

/** Global flags may stand before the command: their values must not be taken for it. */
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
    // The second word must follow the first directly: `daemon start`.
    else if (at.length === 1) break;
  }
  return { at, words: at.map((index) => argv[index]!) };
};

interface TokensRead {
  readonly values: Record<string, unknown>;
  readonly problems: string[];
  readonly positionals: string[];
  readonly argv: string[] | undefined;
  readonly behind: Call["behind"];
  readonly isDoubtful: boolean;
}

/**
 * Reads tokens under the given flags; unknown flags and bad values become problems. A word behind an unknown flag may be
 * its value: it is taken for one where the flag that was meant has a value, or there are more words than `wordsMax`.
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
  const { values, problems } = reader;
  return { values, problems, positionals, argv: rest, behind, isDoubtful };
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

interface FlagToken {
  readonly rawName: string;
  readonly name: string;
  readonly value: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

class FlagReader {
  readonly values: Record<string, unknown> = {};
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

  /** Guesses silently whether the next word belongs to an unknown flag. */
  takesValue(name: string, hasTooManyWords: boolean): boolean {
    const meant = this.known.get(nearest(name, [...this.known.keys()], 1) ?? "");
    return meant === undefined ? hasTooManyWords : meant.type !== "bool" && !meant.optional;
  }

  read(token: FlagToken): void {
    const flag = this.known.get(token.name);
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
): Parsed => ({
  kind: "call",
  call: { command: NO_COMMAND, flags, args: [], argv: undefined, problems: [], ...mistake },
});

/** A command's own checks of a call, beyond the registry: mistakes between its flags and arguments. */
export type Checks = Readonly<Record<string, ((call: Call, place?: Place) => readonly string[]) | undefined>>;

/** The place of a call; undefined while it is only looked whether it could be one. */
export interface Place {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

const readerWith =
  (checks: Checks): Reader =>
  (argv) => {
    const parsed = parse(argv, checks);
    if (parsed.kind === "help" || parsed.call.unknown !== undefined) return undefined;
    const { command, problems } = parsed.call;
    return [...problems, ...(checks[command.command]?.(parsed.call) ?? [])].length === 0
      ? command
      : undefined;
  };

const VERSION_FLAG: FlagDef = { name: "version", short: "V", type: "bool", help: "version of this command" };

/** No command word: help, or --version. */
const parseBare = ({ argv, at, words }: Typed, reader: Reader): Parsed => {
  const { values, problems } = readTokens(without(argv, at), [...GLOBAL_FLAGS, VERSION_FLAG], "agent");
  if (problems.length > 0) return failed(values, { problems });
  if (values.version)
    return {
      kind: "call",
      call: { command: findCommand(["version"])!, flags: values, args: [], argv: undefined, problems },
    };
  const asked = words.slice(1);
  if (asked.length > 0 && findCommand(asked) === undefined && childrenOf(asked[0]!).length === 0)
    return failed(values, { unknown: noSuchCommand({ argv, words: asked, at: at.slice(1) }, reader) });
  return { kind: "help", words: asked, flags: values };
};

const without = (argv: readonly string[], at: readonly number[]): readonly string[] =>
  argv.filter((_, index) => !at.includes(index));

/** With `checks` a typo is only taken for a command where the whole call would be right. */
export const parse = (argv: readonly string[], checks: Checks = {}): Parsed => {
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
  // `approvals approv fixer`: one word more than `approvals ID` takes.
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
      problems,
      ...(read.behind && { behind: read.behind }),
      ...(read.isDoubtful && { isDoubtful: true }),
    },
  };
};

/** All mistakes as one error: each is a sentence of `problems`, and all are in the message. */
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

/** A command's name is typed as it is; other sentences begin with a capital. */
const sentence = (problem: string): string =>
  `${problem.startsWith("agent ") ? "a" : problem[0]!.toUpperCase()}${problem.slice(1)}${/[.?]$/.test(problem) ? "" : "."}`;
