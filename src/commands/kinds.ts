/** Facts that the command line and holdfast.yaml share about kinds of agents and variables. The client loads this file: no imports that cost time. */

import { didYouMean } from "../base/suggest.ts";
import type { RestartPolicy, WorkerSpecInput } from "../protocol/worker.ts";
import { KINDS, type KindDef, NAMED_AGENTS } from "./commands.ts";

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
  /** The mistake in a word that names no kind. */
  unknown(typed: string): string;
}

/** The mistake in a word that names no kind; `otherwise` is the next step where none is near. */
export const unknownKind = (typed: string, added: readonly AddedKind[] = [], otherwise?: string): string => {
  const names = [...KIND_NAMES, ...added.flatMap(({ kind, aliases }) => [kind, ...aliases])];
  const shown = [...KINDS.map(({ short }) => short), ...added.map(({ kind }) => kind)].join(", ");
  return `there is no kind "${typed}"${didYouMean(typed, names) || `; ${otherwise ?? `there are ${shown}; config.yaml of the state directory can add one`}`}`;
};

/** The kinds where no configuration adds any. */
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
