/** Records and AgentEvents as programs see them: unions that `type` and `kind` tell apart. */
import type { AgentEventKind } from "../protocol/agent-event.ts";
import type { ErrorCode } from "../protocol/errors.ts";
import type { STRUCTURED_TOOLS } from "../protocol/facets.ts";
import type { LogRecord as AnyRecord } from "../protocol/records.ts";
import type { Json } from "./json.ts";

/** Metadata of one call of a tool; never its input or output. */
export interface ToolFacet {
  readonly backend_item_id: string | null;
  readonly thread_id: string | null;
  readonly turn_id: string | null;
  /** An open set: `tool_use`, `command_execution`, … */
  readonly kind: string;
  readonly phase: "start" | "complete" | "fail";
  readonly status: "running" | "completed" | "failed" | "unknown";
  readonly exit_code: number | null;
  /** Bytes of UTF-8; 0 if unknown. */
  readonly bytes: {
    readonly stdout: number;
    readonly stderr: number;
    readonly diff: number;
    readonly result: number;
  };
  readonly tool_name: string | null;
  readonly tool_use_id: string | null;
}

/** The data of a call, or of its result. */
export interface ToolData {
  readonly schema: typeof STRUCTURED_TOOLS;
  readonly tool: ToolFacet;
  /** The result was in a line over the limit, so whether it failed is unknown. */
  readonly truncated?: boolean;
  /** The agent ended before the call did. */
  readonly unended?: boolean;
  /** The call to which a sub-agent belongs. */
  readonly parent_tool_use_id?: string;
}

interface EventOf<K extends AgentEventKind> {
  readonly agent_kind: string;
  readonly kind: K;
  readonly channel?: string;
}

/** Text of the agent: its answer (channel `assistant`), its thoughts (`reasoning`), or output of a program (`stdout`, `stderr`). */
export interface TextOutputEvent extends EventOf<"TextOutput"> {
  readonly text: string;
  readonly data?: Json;
}
export interface ToolCallEvent extends EventOf<"ToolCall"> {
  readonly data: ToolData;
}
export interface ToolResultEvent extends EventOf<"ToolResult"> {
  readonly message?: string;
  readonly data: ToolData;
}
export interface StatusEvent extends EventOf<"Status"> {
  readonly message: string;
  readonly data?: Json;
}
/** `data.code` is a row of the error catalogue, for kinds that tell one. `retry_after_s` and `reset_at` say when a limit of the provider resets, if known. */
export interface ErrorEvent extends EventOf<"Error"> {
  readonly message: string;
  readonly data?: {
    readonly code: ErrorCode;
    readonly retry_after_s?: number;
    readonly reset_at?: string;
    readonly resets?: string;
  };
}
/** A line that the decoder does not know. */
export interface UnknownEvent extends EventOf<"Unknown"> {
  readonly message?: string;
  readonly data?: Json;
}

/** An event of any agent. Its fields are those that the conformance cases demand of every kind. */
export type AgentEvent =
  | TextOutputEvent
  | ToolCallEvent
  | ToolResultEvent
  | StatusEvent
  | ErrorEvent
  | UnknownEvent;
export type EventKind = AgentEvent["kind"];

type AnyType = AnyRecord["type"];

/** Questions, answers and pauses stand on the stream of a worker, or on that of a tree for the budget of a supervisor. */
type OfWorkerOrTree =
  | "worker_question"
  | "worker_answered"
  | "worker_question_withdrawn"
  | "worker_paused"
  | "worker_unpaused"
  | "worker_limit_reached";
type OfIncarnation =
  | "agent.event"
  | "session_started"
  | "turn_completed"
  | "turn_started"
  | "worker_cancelled"
  | "worker_completed"
  | "worker_exited"
  | "worker_failed"
  | "worker_heartbeat"
  | "worker_log_chunk"
  | "worker_spawned"
  | "worker_started";
type OfWorker =
  | OfIncarnation
  | Exclude<Extract<AnyType, `worker_${string}` | `approval_${string}`>, OfWorkerOrTree>;
type OfTree = Extract<AnyType, `tree_${string}`>;

/** The fields that each record of a type has. */
type SureFields<T extends AnyType> = (T extends OfWorker
  ? { readonly stream: `worker:${string}`; readonly worker_id: string }
  : T extends OfTree
    ? { readonly stream: `tree:${string}` }
    : unknown) &
  (T extends OfIncarnation ? { readonly incarnation: number } : unknown) &
  (T extends "agent.event" ? { readonly payload: AgentEvent } : unknown);

type FlatType<T> = { readonly [K in keyof T]: T[K] };
type RecordOf<T extends AnyType> = T extends AnyType
  ? FlatType<Omit<Extract<AnyRecord, { readonly type: T }>, keyof SureFields<T>> & SureFields<T>>
  : never;

/** A record of the log; `type` tells which. */
export type LogRecord = RecordOf<AnyType>;
export type RecordType = LogRecord["type"];
/** A record about one worker, with its `worker_id`; those of one run have its `incarnation`. */
export type WorkerRecord = Extract<LogRecord, { readonly type: OfWorker }>;
/** A tree was applied or removed. */
export type TreeRecord = Extract<LogRecord, { readonly type: OfTree }>;
/** A record of the runtime itself: its starts and stops, and what it found. */
export type DaemonRecord = Extract<
  LogRecord,
  { readonly type: "log_epoch_began" | "run_orphaned" | `daemon_${string}` }
>;
