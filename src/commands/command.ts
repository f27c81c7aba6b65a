/** The shape of a command of the registry. */
import type { FlagDef } from "../base/flag.ts";
import type { RequestName } from "../protocol/requests.ts";

export interface ArgDef {
  readonly name: string;
  readonly help: string;
  readonly required?: boolean;
  readonly variadic?: boolean;
  /** The names that the shell completes. */
  readonly complete?: "worker" | "living" | "kind";
  readonly values?: readonly string[];
  /** The bound of a name that the user gives, which has the form of names. */
  readonly nameMaxBytes?: number;
}

/** The sections of help, in their order. */
export const GROUPS = [
  "Start and stop",
  "Look",
  "Talk",
  "Jobs",
  "Share work",
  "Skills",
  "This machine",
  "For programs",
] as const;

export interface CommandDef {
  /** Words on the command line. Joined with ".", they name the command in the manifest. */
  readonly words: readonly string[];
  readonly alias?: string;
  /** Protocol v1 `namespace/verb`, also in ndjson envelopes. */
  readonly command: string;
  /** The request that carries it over the socket, if there is exactly one. */
  readonly request?: RequestName;
  readonly group: (typeof GROUPS)[number];
  readonly summary: string;
  readonly details?: string;
  readonly args: readonly ArgDef[];
  readonly flags: readonly FlagDef[];
  /** The command accepts `-- ARGV…`. */
  readonly argv?: boolean;
  readonly danger: "safe" | "mutating" | "destructive";
  /** The command prints records, then one envelope. A list of flags: only if one of them is given. */
  readonly stream: boolean | readonly string[];
  /** Exit codes beyond 0, 1, 3, 4, 12, 130 and 143, which every command can have. */
  readonly exits: readonly number[];
  readonly examples: readonly string[];
}

/** Members that most commands have in common may be left out. */
type Written = Omit<CommandDef, "group" | "command" | "stream" | "exits" | "args" | "flags"> &
  Partial<Pick<CommandDef, "command" | "stream" | "exits" | "args" | "flags">>;

const commandOf = ([first, second]: readonly string[]): string =>
  second === undefined ? `agent/${first}` : `${first}/${second}`;

/** Commands of one section of help. A command's Protocol v1 name follows from its words unless it says another. */
export const inGroup = (group: CommandDef["group"], commands: readonly Written[]): readonly CommandDef[] =>
  commands.map((command) => ({
    command: commandOf(command.words),
    stream: false,
    exits: [],
    args: [],
    flags: [],
    group,
    ...command,
  }));
