/**
 * The facts of one kind of agent: all that the registry, the command line, the doctor and the docs must know of it, without the code that runs
 * it. The client loads them: no decoder, no plan.
 */
import type { WorkerSpec } from "../protocol/worker.ts";
import type { AgentAdapter, KindOptions } from "./adapter.ts";

/** An agent that a kind knows by a name of its own, as `acp:gemini`. */
export interface NamedAgent {
  readonly name: string;
  /** The program and the variable that names another one. */
  readonly binary: string;
  readonly variable: string;
  /** Names of the client's variables that it may need, beside those that it shares with a kind. */
  readonly variables: readonly string[];
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
    | "state"
  > {
  /** Behind its name in help, where the name alone does not say how it is asked for. */
  readonly usage?: string;
  /** Sentences for docs/reference/adapters.md: each says one thing that it cannot do. */
  readonly limits: readonly string[];
  /** Capabilities that the configuration must give, by the option that allows them. */
  readonly opt_ins?: Readonly<Partial<Record<keyof KindOptions, readonly string[]>>>;
  /** Sentences for a spec without a program: of `agent spawn`, and behind the path of a node. Absent where the kind has a program. */
  readonly no_program?: { readonly on_command_line: string; readonly in_file: string };
  /** Its agents that have a name, and the extension key that names one. */
  readonly named?: { readonly key: string; readonly agents: readonly NamedAgent[] };
  /** It works on a prompt, and so needs one. */
  readonly needs_prompt: boolean;
  /**
   * The use of an open stdin. `turns`: the agent answers each message in a turn, and asks for permission. `text`: the program gets the text as
   * it is. Absent: it takes one prompt.
   */
  readonly dialogue?: "turns" | "text";
  /** No clock ends it unless somebody sets one: it may be a server, which runs for months and says nothing for days. */
  readonly is_unbounded?: true;
  /** All mistakes of a spec, one sentence each, for an instance with these capabilities and keys. */
  validate(spec: WorkerSpec, able: readonly string[]): readonly string[];
}

/** Limits that several kinds have. */
export const NO_QUESTIONS =
  "Nobody can answer a question of it: `--permission ask` is refused, and what needs a permission that was not given is not done.";
export const NO_CONVERSATION = "It takes one prompt: no `--interactive`, and no messages later.";
export const NO_FORK = "A session cannot be forked.";
export const NO_COST = "The CLI tells no cost, so a budget of dollars counts nothing for it.";

/** The capabilities of an instance; without `options` as if the configuration allowed everything. */
const ableOf = ({ capabilities, opt_ins = {} }: KindFacts, options?: KindOptions): readonly string[] => [
  ...capabilities,
  ...Object.entries(opt_ins).flatMap(([name, ids]) =>
    options === undefined || options[name as keyof KindOptions] === true ? ids : [],
  ),
];

/** The mistakes that its adapter would find, told before there is a daemon: a right that the configuration must give passes, because the daemon knows it. */
export const mistakesIn = (facts: KindFacts, spec: WorkerSpec): readonly string[] =>
  facts.validate(spec, possibleKeys(facts));

/** The keys that `--ext` takes under some configuration. */
export const possibleKeys = (facts: KindFacts): readonly string[] =>
  keysOf({ ...facts, capabilities: ableOf(facts) });

/** Capabilities that are keys: those that tell a way of running are none. */
export const keysOf = ({
  capabilities,
  ways_of_running = [],
}: Pick<AgentAdapter, "capabilities" | "ways_of_running">): readonly string[] =>
  capabilities.filter((id) => !ways_of_running.includes(id));

type Behaviour<S> = Omit<AgentAdapter<S>, keyof KindFacts | "configured">;

/** The adapter of a kind of ours: its facts, and the code that runs it and reads it. */
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
