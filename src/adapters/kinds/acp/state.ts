/** The state of an ACP decoder between two lines: small, immutable, JSON. Every list is bounded. */
import type { McpServer } from "@agentclientprotocol/sdk";
import type { Usage, WorkerError } from "../../../protocol/records.ts";
import type { RequestId } from "../../decoding/dialogue.ts";
import { NO_USAGE } from "../../decoding/usage.ts";

/** A session to continue. */
export interface Resume {
  readonly id: string;
  /** The spec names it; otherwise it is the session of the previous incarnation. */
  readonly asked: boolean;
}

/** An MCP server: a program, or an address. */
export type AcpServer = Extract<McpServer, { readonly url: string } | { readonly command: string }>;

/** The dialogue before the first prompt. */
export interface Handshake {
  readonly step: "initialize" | "new" | "load" | "mode" | "model";
  readonly cwd: string;
  readonly resume: Resume | null;
  /** The model to select by the protocol; null if the program's arguments name it or none was requested. */
  readonly model: string | null;
  /** Not everything is allowed, so the agent must ask or abstain. Absent in a state of an older version. */
  readonly guarded?: boolean;
  /** The servers of the session, as the protocol has them. Absent in a state of an older version. */
  readonly servers?: readonly AcpServer[];
  /** The request that selects the model, sent once the mode is set. */
  readonly next?: string;
}

/** A tool call without its result. */
export interface OpenTool {
  readonly id: string;
  readonly name: string | null;
  /** ACP's ToolKind: `execute`, `read`, … */
  readonly kind: string;
  /** Bytes of its result so far. */
  readonly result: number;
  readonly stdout: number;
}

/** A permission request that is not withdrawn. */
export interface AcpPermissionRequest {
  readonly id: RequestId;
  readonly tool: string | null;
}

export interface AcpState {
  readonly interactive: boolean;
  /** Null once the session is open or could not be opened; then `refused` has the error. */
  readonly handshake: Handshake | null;
  readonly refused: WorkerError | null;
  /** The name by which the agent identifies itself. */
  readonly agent: string | null;
  readonly session: string | null;
  /** The session facet has been sent: once per run. */
  readonly announced: boolean;
  /** The message that the agent has read and not answered: its turn is open. */
  readonly given: { readonly message_id: string; readonly acknowledged: boolean } | null;
  /** The last answered message. */
  readonly answered: string | null;
  readonly turns_started: number;
  readonly turns_ended: number;
  readonly tools: readonly OpenTool[];
  /** Ids of calls whose result is recorded, because an agent may repeat it: those of this turn, and those before it. */
  readonly done: readonly string[];
  readonly done_before: readonly string[];
  readonly asks: readonly AcpPermissionRequest[];
  /** The last message of the turn, as far as it is kept, and the agent's id for it. */
  readonly said: {
    readonly id: string | null;
    readonly text: string;
    readonly state: "open" | "ended" | "full";
  };
  /**
   * For an agent that reports its errors as text: the text since it was, or may have been, in trouble
   * (`told-errors.ts`).
   */
  readonly trouble: string | null;
  /** The error of the last ended turn; `stop_reason` is its stop reason. */
  readonly failed: WorkerError | null;
  readonly stop_reason: string | null;
  readonly usage: Usage;
  /**
   * The usage of the session so far, by copilot's last answer (`turns.ts`). Absent in a state of an older
   * version.
   */
  readonly session_usage?: Usage;
  /**
   * The usage of the turn so far, for an agent that reports it with its messages. Absent before the first
   * one.
   */
  readonly turn_usage?: Usage;
  /** Dollars of the session so far, and the part of them that was counted before this turn. */
  readonly cost: { readonly total: number | null; readonly counted: number };
  /** The last usage notice, so that it is not recorded twice. */
  readonly context_used: number;
  /** A line over the limit was skipped, perhaps the end of a turn. */
  readonly skipped: boolean;
}

/** Open calls that are remembered. The end of an older one is recorded together with its call again. */
export const TOOLS_MAX = 16;
/** Results that are remembered, to recognise a repetition. */
export const DONE_MAX = 24;
/**
 * Open permission requests that are remembered. An older one can still be answered, but we do not withdraw
 * it.
 */
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
  done_before: [],
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
