/**
 * Run and worker events of the runtime architecture (protocol-v1 notes 2.6, 2.7), which other programs store and fold. Each
 * event has a number in its stream. A `run` stream describes one run of an agent, an `agent` stream the life of one worker.
 */
import { canonicalDigest } from "../canonical-json.ts";
import type { RunStatus } from "./statuses.ts";

export const WORKER_EVENT_KINDS = [
  "worker_spawn_requested",
  "worker_spawned",
  "worker_started",
  "worker_heartbeat",
  "worker_state_changed",
  "worker_completed",
  "worker_failed",
  "worker_cancel_requested",
  "worker_cancelled",
  "worker_signal_sent",
  "worker_log_chunk",
] as const;
export type WorkerEventKind = (typeof WORKER_EVENT_KINDS)[number];

export const RUN_EVENT_TYPES = [
  "run.started",
  "run.completed",
  "run.failed",
  "tool.invoked",
  "tool.responded",
  "turn.recorded",
  "stage.failed",
  "artifact.failed",
] as const;
export type RunEventType = (typeof RUN_EVENT_TYPES)[number];

export interface StreamEvent {
  readonly id: string;
  readonly stream_id: string;
  readonly stream_type: "run" | "agent" | "turn";
  /** From 1, without a gap. */
  readonly stream_version: number;
  readonly sequence: number;
  readonly event_type: RunEventType | WorkerEventKind;
  readonly occurred_at: string;
  readonly correlation_id: string;
  readonly causation_id: string;
  readonly actor_id: string;
  readonly request_id: string;
  readonly command: string;
  readonly payload: object;
}

/** The payload of an event of an `agent` stream. */
export interface WorkerEvent {
  readonly event_id: string;
  readonly event_kind: WorkerEventKind;
  readonly observed_at: string;
  readonly worker_id: string;
  readonly backend_kind: string;
  readonly agent_id: string;
  /** The id of the event's run; absent for a worker that waits for its first start. */
  readonly run_id?: string;
  readonly session_id?: string;
  readonly parent_agent_id?: string;
  readonly parent_worker_id?: string;
  readonly request_id: string;
  readonly correlation_id: string;
  readonly causation_id: string;
  /** After the event. */
  readonly status: RunStatus;
  readonly role: string;
  readonly tag?: string;
  readonly pid?: number;
  /** From 1. A terminal status ends an attempt; a `worker_spawn_requested` begins the next one. */
  readonly attempt: number;
  readonly stop_reason?: string;
  /** Null if unknown; 0 always means that it was 0. */
  readonly exit_code?: number | null;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/**
 * Observation is at-least-once: two events with the same key are one event. The key is worker, kind, and the backend's own
 * number of the event or, without such a number, a digest of everything but its time and id.
 */
export const dedupeKey = (event: WorkerEvent): string => {
  const { event_id: _, observed_at: __, ...said } = event;
  const { backend_seq } = event.metadata;
  const mark =
    typeof backend_seq === "number" || typeof backend_seq === "string"
      ? String(backend_seq)
      : canonicalDigest(said);
  return `${event.worker_id}|${event.event_kind}|${mark}`;
};
