/** The memory of the decoder of an ACP agent between two lines: small, immutable, JSON. Every list has a bound. */
import type { Usage, WorkerError } from "../../../protocol/records.ts";
import type { RequestId } from "../../decoding/dialogue.ts";
import { NO_USAGE } from "../../decoding/usage.ts";

/** A session to go on in. */
export interface Resume {
  readonly id: string;
  /** By the spec; otherwise it is that of the incarnation before. */
  readonly asked: boolean;
}

/** The dialogue before the first prompt. */
export interface Handshake {
  readonly step: "initialize" | "new" | "load" | "mode" | "model";
  readonly cwd: string;
  readonly resume: Resume | null;
  /** To be chosen by the protocol; null where the program's own arguments say it, or nobody asked for one. */
  readonly model: string | null;
  /** Not everything is allowed: the agent is to ask, or to leave it. A state of an older version has none. */
  readonly guarded?: boolean;
  /** The request that chooses the model, once the mode is chosen. */
  readonly next?: string;
}

/** A tool call without its result. */
export interface OpenTool {
  readonly id: string;
  readonly name: string | null;
  /** ACP's ToolKind: `execute`, `read`, … */
  readonly kind: string;
  /** Bytes of what it has given so far. */
  readonly result: number;
  readonly stdout: number;
}

/** A request for permission that nobody has withdrawn. */
export interface AcpPermissionRequest {
  readonly id: RequestId;
  readonly tool: string | null;
}

export interface AcpState {
  readonly interactive: boolean;
  /** Null once the session is open, or could not be opened: then `refused` says why. */
  readonly handshake: Handshake | null;
  readonly refused: WorkerError | null;
  /** The name that the agent gives itself. */
  readonly agent: string | null;
  readonly session: string | null;
  /** The session facet goes out once a run. */
  readonly announced: boolean;
  /** The message that the agent has read and not answered: its turn is open. */
  readonly given: { readonly message_id: string; readonly acknowledged: boolean } | null;
  /** The last one that was answered. */
  readonly answered: string | null;
  readonly turns_started: number;
  readonly turns_ended: number;
  readonly tools: readonly OpenTool[];
  /** Ids of calls whose result was told: an agent may repeat it. */
  readonly done: readonly string[];
  readonly asks: readonly AcpPermissionRequest[];
  /** The last message of the turn, as far as it is kept, and the agent's id of it. */
  readonly said: {
    readonly id: string | null;
    readonly text: string;
    readonly state: "open" | "ended" | "full";
  };
  /** The text that an agent which tells its errors as text has said since it was in trouble, or perhaps is (`told-errors.ts`). */
  readonly trouble: string | null;
  /** The error of the last turn that ended, and why that one stopped. */
  readonly failed: WorkerError | null;
  readonly stop_reason: string | null;
  readonly usage: Usage;
  /** The usage of its session so far, by copilot's last answer (`turns.ts`). A state of an older version has none. */
  readonly session_usage?: Usage;
  /** Dollars of the session so far, and of those what was counted before the turn. */
  readonly cost: { readonly total: number | null; readonly counted: number };
  /** The last usage notice, so that it is not told twice. */
  readonly context_used: number;
  /** A line over the limit was skipped: perhaps the end of a turn. */
  readonly skipped: boolean;
}

/** Calls at one time. An older one's end is told with its call once more. */
export const TOOLS_MAX = 16;
/** Results whose repetition is known. */
export const DONE_MAX = 24;
/** Requests for permission at one time. An older one is answered all the same; it is only not withdrawn by us. */
export const ASKS_MAX = 8;
/** Length of a text that may be an error, in UTF-16 units. */
export const TROUBLE_MAX_UNITS = 512;

export const begin = (interactive: boolean, handshake: Handshake): AcpState => ({
  interactive,
  handshake,
  refused: null,
  agent: null,
  session: null,
  announced: false,
  given: null,
  answered: null,
  turns_started: 0,
  turns_ended: 0,
  tools: [],
  done: [],
  asks: [],
  said: { id: null, text: "", state: "ended" },
  trouble: null,
  failed: null,
  stop_reason: null,
  usage: NO_USAGE,
  cost: { total: null, counted: 0 },
  context_used: -1,
  skipped: false,
});
