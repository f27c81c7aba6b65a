/**
 * The port between the runtime and one kind of agent. An adapter is pure: it plans a launch and folds lines
 * into records. It never starts, signals or reads anything, and never owns control-plane truth
 * (runtime-architecture.txt).
 */

import type { ProcessStatus } from "../protocol/completion.ts";
import type { IncarnationOutcome } from "../protocol/incarnation.ts";
import type { JsonValue, ModelUsage, RecordDraft, Usage } from "../protocol/records.ts";
import type { WorkerSpec } from "../protocol/worker.ts";

export type SpoolName = "stdout" | "stderr";

/** The child's stdin: nothing, a file that ends, or a file that stays open and grows (architecture §5). */
export type StdinPlan =
  | { readonly kind: "empty" }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "open"; readonly text: string };

export interface LaunchPlan {
  /** argv[0] is a path, or a bare name that is searched in the child's PATH. */
  readonly argv: readonly string[];
  /** Added to the environment that the runtime builds; --env wins over it. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: StdinPlan;
  /**
   * Recorded once, as Status events before the agent's output: one sentence each, at most MESSAGE_MAX_BYTES.
   */
  readonly warnings?: readonly string[];
  /** More variables of the agent. A value may hold a reference to a secret, as in `Bearer @env:NAME`, read at the launch. */
  readonly references?: Readonly<Record<string, string>>;
  /** Scripts that are written before the launch, by their names in `scripts_dir`. Only the agent's user may read them. */
  readonly scripts?: Readonly<Record<string, LaunchScript>>;
}

/** Becomes a program with these variables, whose values may hold references to secrets. */
export interface LaunchScript {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Rights that the configuration may give to a kind. Each is off by default (notes A.5, opt-in). */
export interface KindOptions {
  /** The key `agent_api.exec.external_sandbox.v1`. */
  readonly allow_external_sandbox_exec?: boolean | undefined;
  /** `agent mcp add` and `agent mcp remove`. */
  readonly allow_mcp_write?: boolean | undefined;
}

export interface PlanContext {
  readonly spec: WorkerSpec;
  /** Empty for a spec that is only checked and has no worker yet. */
  readonly worker_id: string;
  readonly incarnation: number;
  /** The provider's session of an earlier incarnation, to resume; undefined if there is none. */
  readonly session: string | undefined;
  /** The last turn of its earlier incarnations has no end on record. */
  readonly interrupted?: boolean;
  /** The kind's program: from its *_BINARY variable, else from the configuration, else its bare name. */
  readonly binary: string;
  /** The directory of the plan's scripts. */
  readonly scripts_dir?: string;
}

/** A record that a decoder makes; the runtime adds stream, worker, incarnation and ids. */
export type DecodedRecord = {
  [T in RecordDraft["type"]]: {
    readonly type: T;
    readonly payload: Extract<RecordDraft, { type: T }>["payload"];
  };
}[
  | "agent.event"
  | "session_started"
  | "turn_started"
  | "turn_completed"
  | "worker_message"
  | "approval_requested"
  | "approval_withdrawn"];

/**
 * A reply that the agent's protocol requires: whole lines for its stdin, written once, to this incarnation
 * only. They are committed with the decoded records, so that the next daemon writes them if this one dies
 * first.
 */
export type DecodedReply =
  | { readonly type: "reply"; readonly line: string }
  /** Closes the agent's input: no more will be written. */
  | { readonly type: "reply"; readonly closes: true };

/**
 * The usage of the open turn so far. A decoder reports it only if the turn continues, because the end of a
 * turn reports the total. Budgets count it. It is not recorded: only `turn_completed` records the usage of a
 * turn.
 */
export interface DecodedUsage {
  readonly type: "turn_usage";
  readonly usage: Usage;
  /** Usage by model, if the CLI reports it. */
  readonly models?: readonly ModelUsage[];
}

/** All that a decoder may return for a line. */
export type DecodedItem = DecodedRecord | DecodedReply | DecodedUsage;

/** One framed line: its text without the line end, or only its beginning if the line exceeds the limit. */
export type Line =
  | {
      readonly kind: "text";
      readonly text: string;
      /** "\n" or "\r\n"; "" for a last line without an end. */
      readonly end: string;
    }
  | {
      readonly kind: "truncated";
      /** The line is longer than this. The log has its full length. */
      readonly limit_bytes: number;
      /**
       * Its first LINE_HEAD_MAX_BYTES, to find a request that needs an answer or a call that has ended. Its
       * text is never recorded.
       */
      readonly head?: string;
    };

export interface Decoded<S> {
  /** The same object if nothing changed: the caller then skips its commit. */
  readonly state: S;
  readonly records: readonly DecodedItem[];
}

/** How the process ended, with facts that the decoder cannot see. */
export interface ExitFacts {
  readonly status: ProcessStatus;
  /** Signals that we sent to it, in order. */
  readonly signals_sent: readonly string[];
  /** Its open stdin had been closed, so it ended as requested and not in the middle of its work. */
  readonly input_ended?: boolean;
  /** The last bytes of stderr, for classification only: never put its text into a message. */
  readonly stderr_tail: string;
  /** The text of the file that it `leaves`; absent without one. At most SMALL_FILE_MAX_BYTES. */
  readonly left?: string;
  /** Name of the program without its directory, for sentences; undefined if it is no longer known. */
  readonly program?: string;
}

/** How to talk to an agent with an open stdin. `state` is the decoder's state as it is in the log. */
export interface MessageProtocol<S = unknown> {
  /**
   * The text to write for a message, in whole lines; undefined while the agent cannot take a message. Within
   * one incarnation the text of a message must never change, because it is used to complete a torn write.
   */
  frame(message_id: string, text: string, state: S): string | undefined;
  /**
   * The agent reports each message that it has taken in (a `worker_message` of the decoder), and never takes
   * one twice within its session. Its next incarnation therefore gets the unacknowledged messages again, and
   * the prompt is the first message.
   */
  readonly acknowledges: boolean;
  /**
   * A message, or the end of the input, waits until the message before it is answered: `frame` and the turns
   * tell when.
   */
  readonly one_at_a_time?: boolean;
  /**
   * An agent of this kind may keep running after the end of its input. It is ended EXIT_AFTER_END_MS later.
   */
  readonly may_linger?: boolean;
  /**
   * A request may stay open after its turn, as a sub-agent's request does; the decoder then reports what is
   * withdrawn. Without this, the end of a turn withdraws the requests that are open in it.
   */
  readonly asks_beyond_turn?: boolean;
  /**
   * The answer to a permission request, in whole lines. `reply` is the value that the decoder put into the
   * request's record.
   */
  answer?(reply: JsonValue, answer: PermissionAnswer): string;
  /** The lines that end the open turn without ending the agent; undefined if no turn is open. */
  interrupt?(state: S): string | undefined;
}

export interface PermissionAnswer {
  readonly decision: "allow" | "deny";
  /** The reason for a denial, for the agent. */
  readonly message?: string;
}

/** The facts that a decoder may know before the first line. */
export type Opening = Pick<PlanContext, "spec" | "incarnation" | "session"> &
  Partial<Pick<PlanContext, "worker_id" | "scripts_dir">>;

/**
 * A directory (or file) of the agent that must stay writable: the value of `variable`, else `home` below
 * HOME.
 */
export interface WritableState {
  readonly home: string;
  readonly variable?: string;
  readonly isFile?: true;
}

/**
 * A request of `agent mcp` to an agent's CLI about its MCP servers. Values are checked and trimmed, and never
 * begin with a dash (notes A.5).
 */
export type McpRequest =
  | { readonly do: "list" }
  | { readonly do: "get" | "remove"; readonly name: string }
  | {
      readonly do: "add";
      readonly name: string;
      readonly server:
        | {
            readonly at: "command";
            readonly command: readonly string[];
            readonly env: Readonly<Record<string, string>>;
          }
        /** The name of a variable: the CLI reads its value when it connects. */
        | { readonly at: "url"; readonly url: string; readonly bearer_env_var: string | undefined };
    };

export interface AgentAdapter<S = unknown> {
  readonly kind: string;
  /** Short names on the command line: `claude` for `claude_code`. */
  readonly aliases: readonly string[];
  readonly summary: string;
  /** Capability ids of the AgentEvent notes, A.5. */
  readonly capabilities: readonly string[];
  /** Capabilities that describe how it is run. They are not extension keys. */
  readonly ways_of_running?: readonly string[];
  /** Its CLI includes cached tokens in `input_tokens`. Other CLIs report them separately. */
  readonly counts_cached_inside?: boolean;
  /** The program, and the variable that replaces it; null if argv is the program (command), or Holdfast itself. */
  readonly binary: { readonly name: string; readonly variable: string } | null;
  /** Names of the client's variables that this kind may need: keys, base URLs, its own settings. */
  readonly credentials: readonly string[];
  /** The credentials of this worker, if they depend on its spec. They replace `credentials`. */
  needs?(spec: WorkerSpec): readonly string[];
  /** Spools whose lines are decoded; the others stay raw. */
  readonly streams: readonly SpoolName[];
  readonly default_restart: WorkerSpec["restart"];
  /**
   * The first of these variables that is set names the directory above its sessions; absent if it keeps none.
   */
  readonly sessions_under?: readonly string[];
  /**
   * Tools (or kinds of calls without a tool name) that change nothing: a turn interrupted in one continues
   * without a question.
   */
  readonly reading_tools?: readonly string[];
  /**
   * It keeps a journal of its calls and repeats none that may have changed something: an interrupted turn continues without
   * a question.
   */
  readonly never_repeats?: true;
  /** Its task is done by somebody else, so a worker of a federated task starts none: trust is not handed on. */
  readonly asks_others?: true;
  /** Words after `--` of a valid spec, for a kind that needs some and whose words are no program. */
  readonly sample_argv?: readonly string[];
  /** The protocol of a worker with an open stdin; absent if the kind takes no messages. */
  readonly messages?: MessageProtocol<S>;
  /** Whether stdin stays open for a dialogue. Default: `spec.interactive`. */
  converses?(spec: WorkerSpec): boolean;
  /**
   * The arguments of its program for the request, or a sentence that says why there are none; absent if the
   * kind has no MCP servers.
   */
  readonly mcp?: (request: McpRequest) => readonly string[] | string;
  /** The capabilities and checks under these options; absent if no option concerns this kind. */
  readonly configured?: (options: KindOptions) => Pick<AgentAdapter, "capabilities" | "validate">;
  /** Directories that stay writable in a sandbox: its sessions and settings. */
  readonly state?: readonly WritableState[];
  /** Its CLI holds the model to `spec.output_schema`, so that the final answer is JSON of that form. */
  readonly takes_output_schema?: true;
  /** Names of directories that its CLI, when stopped, may leave behind empty wherever it may write. */
  litter?(spec: WorkerSpec): readonly string[];
  /**
   * The name of a file in `scripts_dir` that its CLI writes at its end, as the plan asks of it; undefined if this run leaves
   * none. It is read once the run is over, for `finish`.
   */
  leaves?(spec: WorkerSpec, incarnation: number): string | undefined;
  /** All mistakes of a spec for this kind, one sentence each; empty if there are none. */
  validate(spec: WorkerSpec): readonly string[];
  plan(context: PlanContext): LaunchPlan;
  /**
   * The model that a spec requests in another way than by its field or extension key; undefined if it
   * requests none.
   */
  model?(spec: WorkerSpec): string | undefined;
  /** Raised when the shape of the state changes: a stored state of another version is discarded. */
  readonly decoder_version: number;
  /** JSON-serialisable and at most DECODER_STATE_MAX_BYTES, always. */
  initial(opening: Opening): S;
  /** A pure fold; it never throws on any input. */
  decode(state: S, line: Line, stream: SpoolName): Decoded<S>;
  /** Called once, after the last line. */
  finish(
    state: S,
    exit: ExitFacts,
  ): { readonly outcome: IncarnationOutcome; readonly records: readonly DecodedRecord[] };
}

/** Whether this worker's stdin stays open. */
export const converses = (adapter: Pick<AgentAdapter, "converses">, spec: WorkerSpec): boolean =>
  adapter.converses?.(spec) ?? spec.interactive;

/** Names of the client's variables that may reach this worker's agent. */
export const variablesOf = (
  { needs, credentials }: Pick<AgentAdapter, "needs" | "credentials">,
  spec: WorkerSpec,
): readonly string[] => needs?.(spec) ?? credentials;
