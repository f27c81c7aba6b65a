/** Read models of the streams, folded event by event (protocol-v1 notes 2.6, 2.7). */
import { dedupeKey, type StreamEvent, type WorkerEvent } from "./events.ts";
import { isTerminal, type RunStatus } from "./statuses.ts";

export interface RunState {
  readonly run_id: string;
  readonly status: "running" | "completed" | "failed";
  readonly last_event_id: string;
  readonly last_stream_version: number;
  readonly command: string;
  readonly request_id: string;
  readonly actor_id: string;
  readonly updated_at: string;
}

const statusAfter = (status: RunState["status"], type: StreamEvent["event_type"]): RunState["status"] => {
  // A worker that has ended keeps its status.
  if (status !== "running") return status;
  return type === "run.completed" ? "completed" : type === "run.failed" ? "failed" : "running";
};

/** An event that is not newer than the state is ignored, because a stream may be read twice. */
export const projectRun = (state: RunState | undefined, event: StreamEvent): RunState =>
  state !== undefined && event.stream_version <= state.last_stream_version
    ? state
    : {
        run_id: event.stream_id,
        status: statusAfter(state?.status ?? "running", event.event_type),
        last_event_id: event.id,
        last_stream_version: event.stream_version,
        command: event.command,
        request_id: event.request_id,
        actor_id: event.actor_id,
        updated_at: event.occurred_at,
      };

export interface WorkerProjection {
  readonly worker_id: string;
  readonly status: RunStatus;
  readonly attempt: number;
  readonly exit_code: number | null;
  readonly stop_reason: string | null;
  readonly heartbeat_at: string | null;
  readonly updated_at: string;
}

/** Workers by their id, from events that may be observed more than once. */
export class WorkerProjections {
  private readonly seen = new Set<string>();
  private readonly workers = new Map<string, WorkerProjection>();

  take(event: WorkerEvent): void {
    const key = dedupeKey(event);
    if (this.seen.has(key)) return;
    this.seen.add(key);
    this.workers.set(event.worker_id, projectWorker(this.workers.get(event.worker_id), event));
  }

  worker(worker_id: string): WorkerProjection | undefined {
    return this.workers.get(worker_id);
  }
}

/** Only a newer attempt revives an ended worker; a log chunk or a heartbeat does not. */
const projectWorker = (state: WorkerProjection | undefined, event: WorkerEvent): WorkerProjection => {
  const { worker_id, observed_at, event_kind } = event;
  const isNewer = event.attempt > (state?.attempt ?? 0);
  const moves =
    event_kind !== "worker_log_chunk" &&
    event_kind !== "worker_heartbeat" &&
    (isNewer || (event.attempt === state?.attempt && !isTerminal(state.status)));
  return {
    worker_id,
    status: moves ? event.status : (state?.status ?? "unknown"),
    attempt: moves ? event.attempt : (state?.attempt ?? 0),
    exit_code: moves && isTerminal(event.status) ? (event.exit_code ?? null) : (state?.exit_code ?? null),
    stop_reason: moves ? (event.stop_reason ?? state?.stop_reason ?? null) : (state?.stop_reason ?? null),
    heartbeat_at: event_kind === "worker_heartbeat" ? observed_at : (state?.heartbeat_at ?? null),
    updated_at: observed_at,
  };
};
