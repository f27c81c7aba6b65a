/**
 * The seam between the runtime and one kind of agent. An adapter is pure: it plans a launch and folds lines into
 * records. It never starts, signals or reads anything, and never owns control-plane truth (runtime-architecture.txt).
 */

import type { ProcessStatus } from "../protocol/completion.ts";
import type { IncarnationOutcome } from "../protocol/incarnation.ts";
import type { JsonValue, ModelUsage, RecordDraft, Usage } from "../protocol/records.ts";
import type { WorkerSpec } from "../protocol/worker.ts";

export type SpoolName = "stdout" | "stderr";

/** The input that a child is given on fd 0: nothing, a file that ends, or an appended file that stays open (architecture §5). */
export type StdinPlan =
  | { readonly kind: "empty" }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "open"; readonly text: string };

export interface LaunchPlan {
  /** argv[0] is a bare name (found on the child's PATH) or a path. */
  readonly argv: readonly string[];
  /** Added to the built environment; --env wins over it. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: StdinPlan;
  /** Told once, as Status events, before anything that the agent prints: one sentence each, of at most MESSAGE_MAX_BYTES. */
  readonly warnings?: readonly string[];
}

/** Rights that the configuration may give a kind; all of it is off unless it says so (notes A.5, opt-in). */
export interface KindOptions {
  /** The key `agent_api.exec.external_sandbox.v1`. */
  readonly allow_external_sandbox_exec?: boolean | undefined;
  /** `agent mcp add` and `agent mcp remove`. */
  readonly allow_mcp_write?: boolean | undefined;
}

export interface PlanContext {
  readonly spec: WorkerSpec;
  /** The id is "" for a spec that is only tried, and has no worker yet. */
  readonly worker_id: string;
  readonly incarnation: number;
  /** The provider's session of an earlier incarnation, to resume; undefined at the first. */
  readonly session: string | undefined;
  /** The program of the kind: *_BINARY, the configuration, or its bare name. */
  readonly binary: string;
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
 * Lines that the agent's protocol wants said to it now: whole lines for its stdin, written once, to this incarnation alone. They
 * are on record with what was decoded, so that a daemon that dies before it has written them leaves them to the next one.
 */
export type DecodedReply =
  | { readonly type: "reply"; readonly line: string }
  /** The end of its input: all is said. */
  | { readonly type: "reply"; readonly closes: true };

/**
 * All that the open turn has used so far, told where the turn goes on after it: behind the last answer its end tells the whole. Budgets
 * count it. It is no record: what a turn comes to is in its `turn_completed` alone.
 */
export interface DecodedUsage {
  readonly type: "turn_usage";
  readonly usage: Usage;
  /** Usage by model, if the CLI tells them apart. */
  readonly models?: readonly ModelUsage[];
}

/** The results of a decoder for a line. */
export type DecodedItem = DecodedRecord | DecodedReply | DecodedUsage;

/** One framed line: its text without the line end, or, once it is over the limit, the beginning of one that nobody reads whole. */
export type Line =
  | {
      readonly kind: "text";
      readonly text: string /** "\n", "\r\n" or "" (the last line, without one). */;
      readonly end: string;
    }
  | {
      readonly kind: "truncated";
      /** It is longer. How long it is in the end, the log tells. */
      readonly limit_bytes: number;
      /** Its first LINE_HEAD_MAX_BYTES: for what has to be answered or has ended, never to be told. */
      readonly head?: string;
    };

export interface Decoded<S> {
  /** The same object when nothing changed: the caller then skips committing it. */
  readonly state: S;
  readonly records: readonly DecodedItem[];
}

/** How the process ended, and what the decoder cannot see. */
export interface ExitFacts {
  readonly status: ProcessStatus;
  /** Signals that we sent to it, in order. */
  readonly signals_sent: readonly string[];
  /** Its open stdin was given its end: it has ended because it was asked to, not in the middle of something. */
  readonly input_ended?: boolean;
  /** The last bytes of stderr, for classification only: never put its text into a message. */
  readonly stderr_tail: string;
  /** Name of the program without its directory, for sentences; undefined where nobody knows it any more. */
  readonly program?: string;
}

/** How an agent with an open stdin is talked to. `state` is the decoder's, as far as it is in the log. */
export interface MessageProtocol<S = unknown> {
  /**
   * The text that is written for a message, whole lines; undefined while the agent cannot take one yet. The same for the same message
   * within one incarnation, always: a torn write is completed by it.
   */
  frame(message_id: string, text: string, state: S): string | undefined;
  /**
   * The agent tells which message it has taken in (a `worker_message` of the decoder), and takes none of them twice within
   * its session: what it has not acknowledged is handed to its next incarnation again. The prompt is then the first message.
   */
  readonly acknowledges: boolean;
  /** A message, and the end of the input, waits until the one before is answered: `frame` and the turns say when. */
  readonly one_at_a_time?: boolean;
  /** An agent of this kind may run on after the end of its input: it is ended EXIT_AFTER_END_MS after it. */
  readonly may_linger?: boolean;
  /**
   * A request in a turn may stay open over its end, as a sub-agent's request does; the decoder says what is withdrawn. If this is not said, the end of a turn withdraws what is open in it.
   */
  readonly asks_beyond_turn?: boolean;
  /** The answer to a request for permission, whole lines. `reply` is what the decoder has put into the request's record. */
  answer?(reply: JsonValue, answer: PermissionAnswer): string;
  /** The text that ends the turn that is open and keeps the agent, whole lines; undefined where none is open. */
  interrupt?(state: S): string | undefined;
}

export interface PermissionAnswer {
  readonly decision: "allow" | "deny";
  /** For the agent: why not. */
  readonly message?: string;
}

/** Facts that a decoder may know before the first line. */
export type Opening = Pick<PlanContext, "spec" | "incarnation" | "session"> &
  Partial<Pick<PlanContext, "worker_id">>;

/** A directory (or file) of the agent's own that it must be able to write: where the variable says, or in HOME. */
export interface WritableState {
  readonly home: string;
  readonly variable?: string;
  readonly isFile?: true;
}

/** The question of `agent mcp` to an agent's CLI about its MCP servers: checked, trimmed, and never with a dash in front (notes A.5). */
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
        /** The variable is a name: the CLI reads its value when it connects. */
        | { readonly at: "url"; readonly url: string; readonly bearer_env_var: string | undefined };
    };

export interface AgentAdapter<S = unknown> {
  readonly kind: string;
  /** Short names on the command line: `claude` for `claude_code`. */
  readonly aliases: readonly string[];
  readonly summary: string;
  /** Capability ids of the AgentEvent notes, A.5. */
  readonly capabilities: readonly string[];
  /** Ids among them that say how it is run: they are no extension keys. */
  readonly ways_of_running?: readonly string[];
  /** Its CLI counts the tokens that came from a cache inside `input_tokens`; otherwise they are beside it. */
  readonly counts_cached_inside?: boolean;
  /** The program and the variable that names another one; null where argv is the program (command). */
  readonly binary: { readonly name: string; readonly variable: string } | null;
  /** Names of the client's variables that this kind may need: keys, base URLs, its own settings. */
  readonly credentials: readonly string[];
  /** The credentials of this worker, where the kind alone does not tell: in the place of `credentials`. */
  needs?(spec: WorkerSpec): readonly string[];
  /** Spools whose lines are decoded; the others stay raw. */
  readonly streams: readonly SpoolName[];
  readonly default_restart: WorkerSpec["restart"];
  /** Variables of which the first that is set says under which directory its sessions live; absent where it has none. */
  readonly sessions_under?: readonly string[];
  /** Names of tools, or kinds of calls without one, that change nothing: a turn that was interrupted in them goes on unasked. */
  readonly reading_tools?: readonly string[];
  /** The protocol of a worker with an open stdin; absent where the kind takes no messages. */
  readonly messages?: MessageProtocol<S>;
  /** Whether the stdin of this worker stays open, so that it is spoken with; where it is not said, if it is interactive. */
  converses?(spec: WorkerSpec): boolean;
  /** The arguments of its program for such a request, or a sentence that says why there are none; absent where it has no MCP servers. */
  readonly mcp?: (request: McpRequest) => readonly string[] | string;
  /** Differences where the configuration allows more; absent where there is nothing that must be allowed. */
  readonly configured?: (options: KindOptions) => Pick<AgentAdapter, "capabilities" | "validate">;
  /** Directories that stay writable in a sandbox: its sessions and settings. */
  readonly state?: readonly WritableState[];
  /** Names of directories that its CLI may leave behind, empty, wherever it may write, if it is stopped. */
  litter?(spec: WorkerSpec): readonly string[];
  /** All mistakes of a spec for this kind, one sentence each; empty when it is fine. */
  validate(spec: WorkerSpec): readonly string[];
  plan(context: PlanContext): LaunchPlan;
  /** The model that a spec asks for, where that is not its own field or extension key alone; undefined where it asks for none. */
  model?(spec: WorkerSpec): string | undefined;
  /** Raised when the state's shape changes; a stored state of another version starts anew. */
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
