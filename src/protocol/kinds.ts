/** What the command line and holdfast.yaml have in common about kinds of agents and variables. The client loads this file: no imports that cost time. */
import { KINDS, type KindDef, NAMED_AGENTS } from "./commands.ts";
import { BRANCH_MAX_BYTES } from "./limits.ts";
import { didYouMean } from "./suggest.ts";
import type { RestartPolicy, WorkerSpecInput } from "./worker.ts";

/** Every word that names a kind: short names first. */
const KIND_NAMES: readonly string[] = [
  ...KINDS.flatMap(({ kind, short }) => (kind === short ? [kind] : [short, kind])),
  ...NAMED_AGENTS.map(({ short }) => short),
];

export const kindOf = (typed: string): KindDef | undefined =>
  [...KINDS, ...NAMED_AGENTS].find((each) => each.kind === typed || each.short === typed);

/** A kind that the configuration of a daemon adds, as the daemon tells it. */
export interface AddedKind {
  readonly kind: string;
  readonly aliases: readonly string[];
  readonly restart: RestartPolicy;
  /** Names of the client's variables that its program may need. */
  readonly variables: readonly string[];
}

/** Kinds beyond ours, for whoever reads a word that names one. */
export interface AddedKinds {
  find(typed: string): AddedKind | undefined;
  /** What is wrong with a word that names no kind. */
  unknown(typed: string): string;
}

/** What is wrong with a word that names no kind. */
export const unknownKind = (typed: string, added: readonly AddedKind[] = []): string => {
  const names = [...KIND_NAMES, ...added.flatMap(({ kind, aliases }) => [kind, ...aliases])];
  const shown = [...KINDS.map(({ short }) => short), ...added.map(({ kind }) => kind)].join(", ");
  return `there is no kind "${typed}"${didYouMean(typed, names) || `; there are ${shown}; config.yaml of the state directory can add one`}`;
};

/** Where no configuration adds any. */
export const NO_KINDS_ADDED: AddedKinds = { find: () => undefined, unknown: (typed) => unknownKind(typed) };

export const makeAddedKinds = (added: readonly AddedKind[]): AddedKinds => ({
  find: (typed) => added.find(({ kind, aliases }) => kind === typed || aliases.includes(typed)),
  unknown: (typed) => unknownKind(typed, added),
});

/**
 * cli.md, Flags of spawn. A program of one's own may be a server, which runs for months and says nothing for days; a
 * conversation lasts until somebody ends it.
 */
export const kindDefaults = (
  kind: string,
  interactive = false,
): Pick<WorkerSpecInput, "restart" | "timeout_ms" | "stall_ms"> => {
  if (kind === "command") return { restart: "temporary", timeout_ms: 0, stall_ms: 0 };
  return interactive ? { restart: "transient", timeout_ms: 0 } : { restart: "transient" };
};

/** What a shell passes on to its child: it drops variables with other names. */
export const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Names of the client's variables to which values of `env` refer: `@env:NAME`. */
export const referencedVariables = (env: Readonly<Record<string, string>>): readonly string[] =>
  Object.values(env).flatMap((value) => (value.startsWith("@env:") ? [value.slice("@env:".length)] : []));

/** What a branch may be called here: git takes more, and some of it is read as a flag or a range. */
const BRANCH_NAME = /^[A-Za-z0-9][A-Za-z0-9._/+@-]*$/;
export const isBranchName = (name: string): boolean =>
  name.length <= BRANCH_MAX_BYTES && BRANCH_NAME.test(name);
