/** What the command line and holdfast.yaml have in common about kinds of agents and variables. The client loads this file: no imports that cost time. */
import { KINDS, type KindDef, NAMED_AGENTS } from "./commands.ts";
import { BRANCH_MAX_BYTES } from "./limits.ts";
import { didYouMean } from "./suggest.ts";
import type { WorkerSpecInput } from "./worker.ts";

/** Every word that names a kind: short names first. */
const KIND_NAMES: readonly string[] = [
  ...KINDS.flatMap(({ kind, short }) => (kind === short ? [kind] : [short, kind])),
  ...NAMED_AGENTS.map(({ short }) => short),
];

export const kindOf = (typed: string): KindDef | undefined =>
  [...KINDS, ...NAMED_AGENTS].find((each) => each.kind === typed || each.short === typed);

/** What is wrong with a word that names no kind. */
export const unknownKind = (typed: string): string =>
  `there is no kind "${typed}"${didYouMean(typed, KIND_NAMES) || `; there are ${KINDS.map(({ short }) => short).join(", ")}`}`;

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
