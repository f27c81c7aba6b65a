/**
 * Facts about kinds of agents and their variables, shared by the command line and holdfast.yaml. The client loads this file,
 * so it has no imports that take time.
 */

import type { KindFacts, NamedAgent } from "../adapters/facts.ts";
import { mistakesIn, possibleKeys } from "../adapters/facts.ts";
import { KIND_FACTS, KIND_VARIABLES, PROGRAM_KIND } from "../adapters/kinds.ts";
import { didYouMean } from "../base/suggest.ts";
import { ADD_DIRS, FORK, MCP_SERVERS, MODEL, RESUME } from "../protocol/extensions.ts";
import type { RestartPolicy, WorkerSpec, WorkerSpecInput } from "../protocol/worker.ts";

export { KIND_VARIABLES, PROGRAM_KIND };

/** A kind as the command line names it, or a named agent of a kind. */
export interface KindDef {
  readonly kind: string;
  readonly short: string;
  /** The kind's program, and the variable that names another program; null if argv is the program. */
  readonly binary: string | null;
  readonly variable: string | null;
  /** The kind works on a prompt, and so requires one. */
  readonly needsPrompt: boolean;
  /** With --interactive, the kind takes messages and answers each in a turn, so the first message may come after the start. */
  readonly converses: boolean;
  /** Flags of spawn that have no meaning for it. */
  readonly refuses: readonly string[];
  /** For a named agent: the part of the spec that its name stands for. */
  readonly ext?: Readonly<Record<string, string>>;
  /** Why no test has run it as far as an answer; absent if one has. */
  readonly untried?: string | undefined;
}

/** Flags of spawn that require an ability of a kind, in the order in which mistakes are reported. */
const NEEDS: Readonly<Record<string, (facts: KindFacts) => boolean>> = {
  interactive: ({ dialogue }) => dialogue !== undefined,
  model: ({ capabilities }) => capabilities.includes(MODEL),
  session: ({ capabilities }) => capabilities.includes(RESUME),
  fork: ({ capabilities }) => capabilities.includes(FORK),
  "add-dir": ({ capabilities }) => capabilities.includes(ADD_DIRS),
  "output-schema": ({ takes_output_schema }) => takes_output_schema === true,
  mcp: ({ capabilities }) => capabilities.includes(MCP_SERVERS),
  "approval-within": ({ dialogue }) => dialogue === "turns",
  "approval-default": ({ dialogue }) => dialogue === "turns",
};

const defOf = (facts: KindFacts): KindDef => ({
  kind: facts.kind,
  short: facts.aliases[0] ?? facts.kind,
  binary: facts.binary?.name ?? null,
  variable: facts.binary?.variable ?? null,
  needsPrompt: facts.needs_prompt,
  converses: facts.dialogue === "turns",
  refuses: Object.keys(NEEDS).filter((flag) => !NEEDS[flag]!(facts)),
});

/** Kinds for the command line, with their required and refused flags, so that the client reports a mistake before it starts a daemon. */
export const KINDS: readonly KindDef[] = KIND_FACTS.map(defOf);

/** Named agents, such as `acp:gemini`. */
export const NAMED_AGENTS: readonly KindDef[] = KIND_FACTS.flatMap((facts) =>
  (facts.named?.agents ?? []).map(({ name, binary, variable, untried }: NamedAgent) => {
    const def = defOf(facts);
    const short = `${def.short}:${name}`;
    return { ...def, short, binary, variable, untried, ext: { [facts.named!.key]: name } };
  }),
);

const NAMES: readonly KindDef[] = [...KINDS, ...NAMED_AGENTS];

/** A few names, as examples in a sentence. */
export const SOME_KINDS = `${KINDS.slice(0, 3)
  .map(({ short }) => short)
  .join(", ")} …`;

/** The programs of agents, each variable once. */
export const PROGRAMS = NAMES.flatMap(({ short, binary, variable, untried }, at) =>
  binary === null || variable === null || NAMES.findIndex((one) => one.variable === variable) < at
    ? []
    : [{ short, binary, variable, untried }],
);

/** The kinds for help: short names, each with its usage. */
export const kindWords = (): string =>
  KIND_FACTS.map(({ usage }, at) => `${KINDS[at]!.short}${usage === undefined ? "" : ` (${usage})`}`).join(
    ", ",
  );

/** Short names of the kinds that a flag of spawn applies to. */
export const kindsThatTake = (flag: string): readonly string[] =>
  KINDS.filter(({ refuses }) => !refuses.includes(flag)).map(({ short }) => short);

export const kindOf = (typed: string): KindDef | undefined =>
  NAMES.find((each) => each.kind === typed || each.short === typed);

const factsOf = (kind: string): KindFacts | undefined => KIND_FACTS.find((facts) => facts.kind === kind);

/** The sentences about a kind without a program; undefined if it has one, or the spec names one of its agents. */
export const noProgramOf = (kind: string, ext: Readonly<Record<string, unknown>> = {}) => {
  const facts = factsOf(kind);
  return facts?.named !== undefined && Object.hasOwn(ext, facts.named.key) ? undefined : facts?.no_program;
};

/** The mistakes that the adapter of a built-in kind would find in a spec. */
export const mistakesOf = (spec: WorkerSpec): readonly string[] => mistakesIn(factsOf(spec.kind)!, spec);

/** The extension keys that a built-in kind takes under some configuration. */
export const keysOfKind = (kind: string): readonly string[] => possibleKeys(factsOf(kind)!);

/** A kind that the configuration of a daemon adds, as the daemon reports it. */
export interface AddedKind {
  readonly kind: string;
  readonly aliases: readonly string[];
  readonly restart: RestartPolicy;
  /** Names of the client's variables that the kind's program may need. */
  readonly variables: readonly string[];
}

/** The kinds that are not built in. */
export interface AddedKinds {
  find(typed: string): AddedKind | undefined;
  /** The mistake in an unknown kind. */
  unknown(typed: string): string;
}

/** The mistake in an unknown kind; `otherwise` is the next step if no known name is near. */
export const unknownKind = (typed: string, added: readonly AddedKind[] = [], otherwise?: string): string => {
  // Short names first.
  const names = [
    ...KINDS.flatMap(({ kind, short }) => (kind === short ? [kind] : [short, kind])),
    ...NAMED_AGENTS.map(({ short }) => short),
    ...added.flatMap(({ kind, aliases }) => [kind, ...aliases]),
  ];
  const shown = [...KINDS.map(({ short }) => short), ...added.map(({ kind }) => kind)].join(", ");
  return `there is no kind "${typed}"${didYouMean(typed, names) || `; ${otherwise ?? `there are ${shown}; config.yaml of the state directory can add one`}`}`;
};

/** For callers without a configuration that adds kinds. */
export const NO_KINDS_ADDED: AddedKinds = { find: () => undefined, unknown: (typed) => unknownKind(typed) };

export const makeAddedKinds = (added: readonly AddedKind[]): AddedKinds => ({
  find: (typed) => added.find(({ kind, aliases }) => kind === typed || aliases.includes(typed)),
  unknown: (typed) => unknownKind(typed, added),
});

/** The defaults of a spawn that depend on its kind. A dialogue has no time limit by default. */
export const kindDefaults = (
  kind: string,
  interactive = false,
): Pick<WorkerSpecInput, "restart" | "timeout_ms" | "stall_ms"> => {
  const { default_restart: restart, is_unbounded } = factsOf(kind) ?? { default_restart: "transient" };
  if (is_unbounded) return { restart, timeout_ms: 0, stall_ms: 0 };
  return interactive ? { restart, timeout_ms: 0 } : { restart };
};
