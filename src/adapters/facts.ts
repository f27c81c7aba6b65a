/**
 * The facts of one kind of agent: all that the registry, the command line, the doctor and the docs know about
 * it, without the code that runs it. The client loads only these, no decoder and no plan.
 */
import type { WorkerSpec } from "../protocol/worker.ts";
import type { AgentAdapter, KindOptions } from "./adapter.ts";

/** An agent that a kind knows by name, such as `acp:gemini`. */
export interface NamedAgent {
  readonly name: string;
  /** The program, and the variable that replaces it. */
  readonly binary: string;
  readonly variable: string;
  /** Names of the client's variables that it may need, besides those of the kind whose program it shares. */
  readonly variables: readonly string[];
  /** Why no test has run it as far as an answer: a clause for the doctor and the docs. Absent if one has. */
  readonly untried?: string;
}

export interface KindFacts
  extends Pick<
    AgentAdapter,
    | "kind"
    | "aliases"
    | "summary"
    | "capabilities"
    | "ways_of_running"
    | "counts_cached_inside"
    | "binary"
    | "credentials"
    | "default_restart"
    | "sessions_under"
    | "reading_tools"
    | "never_repeats"
    | "asks_others"
    | "sample_argv"
    | "state"
    | "takes_output_schema"
  > {
  /** Follows its name in help, if the name alone does not show how to select it. */
  readonly usage?: string;
  /** Sentences for docs/reference/adapters.md: each names one thing that the kind cannot do. */
  readonly limits: readonly string[];
  /** Capabilities that the configuration must allow, by option. */
  readonly opt_ins?: Readonly<Partial<Record<keyof KindOptions, readonly string[]>>>;
  /**
   * The errors for a spec without a program: for `agent spawn`, and for a node of a tree file. Absent if the
   * kind has a program of its own.
   */
  readonly no_program?: { readonly on_command_line: string; readonly in_file: string };
  /** Its agents that have names, and the extension key that selects one. */
  readonly named?: { readonly key: string; readonly agents: readonly NamedAgent[] };
  /** The provider of its models, as the conventions of OpenTelemetry for generative AI name it. Absent: there may be several. */
  readonly provider?: string;
  /** It cannot work without a prompt. */
  readonly needs_prompt: boolean;
  /**
   * The use of an open stdin. `turns`: the agent answers each message in a turn and may ask for permission.
   * `text`: the program gets the text unchanged. Absent: it takes one prompt.
   */
  readonly dialogue?: "turns" | "text";
  /**
   * No time limit applies by default, because it may be a server that runs for months and prints nothing for
   * days.
   */
  readonly is_unbounded?: true;
  /** All mistakes of a spec, one sentence each. `able` are the capabilities and keys of the instance. */
  validate(spec: WorkerSpec, able: readonly string[]): readonly string[];
}

/** Limits that several kinds share. */
export const NO_QUESTIONS =
  "It cannot ask for permission: `--permission ask` is refused, and the agent skips whatever it has no permission for.";
export const NO_CONVERSATION = "It takes one prompt: no `--interactive`, and no messages later.";
export const NO_FORK = "A session cannot be forked.";
export const NO_COST = "The CLI reports no cost, so a budget of dollars counts nothing for it.";

/** The capabilities of an instance; without `options`, as if the configuration allowed everything. */
const ableOf = ({ capabilities, opt_ins = {} }: KindFacts, options?: KindOptions): readonly string[] => [
  ...capabilities,
  ...Object.entries(opt_ins).flatMap(([name, ids]) =>
    options === undefined || options[name as keyof KindOptions] === true ? ids : [],
  ),
];

/**
 * The mistakes that its adapter would find, before a daemon runs. A right that the configuration must give
 * passes here, because only the daemon knows the configuration.
 */
export const mistakesIn = (facts: KindFacts, spec: WorkerSpec): readonly string[] =>
  facts.validate(spec, possibleKeys(facts));

/** The keys that `--ext` takes if the configuration allows everything. */
export const possibleKeys = (facts: KindFacts): readonly string[] =>
  keysOf({ ...facts, capabilities: ableOf(facts) });

/** The capabilities that are extension keys: all except ways of running. */
export const keysOf = ({
  capabilities,
  ways_of_running = [],
}: Pick<AgentAdapter, "capabilities" | "ways_of_running">): readonly string[] =>
  capabilities.filter((id) => !ways_of_running.includes(id));

type Behaviour<S> = Omit<AgentAdapter<S>, keyof KindFacts | "configured">;

/** The adapter of a built-in kind: its facts, and the code that runs it and decodes its output. */
export const adapterOf = <S>(facts: KindFacts, behaviour: Behaviour<S>): AgentAdapter<S> => ({
  ...facts,
  ...behaviour,
  validate: (spec) => facts.validate(spec, keysOf(facts)),
  ...(facts.opt_ins && {
    configured: (options: KindOptions) => {
      const capabilities = ableOf(facts, options);
      const keys = keysOf({ ...facts, capabilities });
      return { capabilities, validate: (spec: WorkerSpec) => facts.validate(spec, keys) };
    },
  }),
});
