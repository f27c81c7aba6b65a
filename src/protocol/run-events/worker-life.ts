/**
 * Exports one worker of our log as the worker events of the contract, with attempt and status. We number incarnations, and a
 * worker can have any number of them; the contract has attempts, each with one terminal status. An attempt begins when a
 * start is due (a spawn was requested, or a restart is scheduled), so that a worker that is killed while it waits has an
 * attempt that can be cancelled.
 */
import type { LogRecord } from "../records.ts";
import { statusOf } from "../worker-status.ts";
import type { WorkerEventKind } from "./events.ts";
import { isTerminal, type RunStatus } from "./statuses.ts";

/** An event without the members that all events of a worker share. */
export interface LifeEvent {
  readonly kind: WorkerEventKind;
  readonly status: RunStatus;
  readonly attempt: number;
  readonly pid?: number;
  readonly stop_reason?: string;
  readonly exit_code?: number | null;
  readonly metadata: Readonly<Record<string, unknown>>;
}

type LifeDetails = Omit<LifeEvent, "kind" | "status" | "attempt">;
const NOTHING: LifeDetails = { metadata: {} };

export class WorkerLife {
  private status: RunStatus = "unknown";
  private attempt = 0;
  private exit: { readonly exit_code: number | null; readonly signal: string | null } | undefined;

  /** The events for a record, in order; none if the contract has no event for it. */
  take(record: LogRecord): readonly LifeEvent[] {
    switch (record.type) {
      case "worker_spawn_requested":
        return this.owed("spawn");
      case "worker_restart_scheduled": {
        const { reason, delay_ms } = record.payload;
        // An attempt that already waits continues.
        return this.status === "pending" ? [] : this.owed(reason, { delay_ms });
      }
      case "worker_state_changed": {
        const { to, reason } = record.payload;
        const status = statusOf(to);
        if (status === "pending") return this.status === "pending" ? [] : this.owed(reason);
        return this.move("worker_state_changed", status, { stop_reason: reason, metadata: {} });
      }
      case "worker_spawned": {
        const { pid, pgid } = record.payload;
        if (pid === undefined) return [this.tell("worker_spawned", NOTHING)];
        return [this.tell("worker_spawned", { pid, metadata: { process_group_id: pgid } })];
      }
      case "worker_started":
        return this.status === "starting"
          ? this.move("worker_started", "running", NOTHING)
          : [this.tell("worker_started", NOTHING)];
      case "worker_heartbeat":
        return [this.tell("worker_heartbeat", { metadata: { ...record.payload } })];
      case "worker_cancel_requested": {
        const { reason, by, signal, grace_ms } = record.payload;
        return [
          this.tell("worker_cancel_requested", { stop_reason: reason, metadata: { by, signal, grace_ms } }),
        ];
      }
      case "worker_signal_sent": {
        const { signal, pids, reason } = record.payload;
        return [this.tell("worker_signal_sent", { stop_reason: reason, metadata: { signal, pids } })];
      }
      case "worker_log_chunk":
        return [this.tell("worker_log_chunk", { metadata: { ...record.payload, chunk: "" } })];
      case "agent.event": {
        const { kind, channel = "stdout", text } = record.payload;
        if (kind !== "TextOutput" || text === undefined) return [];
        return [this.tell("worker_log_chunk", { metadata: { stream: channel, chunk: text } })];
      }
      case "worker_exited":
        this.exit = record.payload;
        return [];
      case "worker_completed":
        return [
          // The daemon died before it recorded the start; a worker that completed must have run.
          ...(this.status === "starting"
            ? this.move("worker_started", "running", { metadata: { inferred: true } })
            : []),
          ...this.move("worker_completed", "completed", this.ending("completed")),
        ];
      case "worker_failed":
        return this.move("worker_failed", "failed", this.ending(record.payload.error.message));
      case "worker_cancelled":
        return this.move("worker_cancelled", "cancelled", this.ending(record.payload.error.message));
      case "worker_ended": {
        const { state, reason } = record.payload;
        const status = statusOf(state);
        // The end was exported with the exit; it is exported again only if the terminal status differs.
        if (status === this.status) return [];
        return this.move(END_KINDS[status] ?? "worker_failed", status, this.ending(reason));
      }
      default:
        return [];
    }
  }

  /** A heartbeat: the process was checked. The log has no record of it. */
  beat(): LifeEvent {
    return this.tell("worker_heartbeat", NOTHING);
  }

  private tell(kind: WorkerEventKind, said: LifeDetails): LifeEvent {
    return { kind, status: this.status, attempt: this.attempt, ...said };
  }

  /** A start is due: opens an attempt. */
  private owed(reason: string, more: Readonly<Record<string, unknown>> = {}): readonly LifeEvent[] {
    this.attempt += 1;
    this.status = "pending";
    this.exit = undefined;
    return [this.tell("worker_spawn_requested", { metadata: { reason, ...more } })];
  }

  private move(kind: WorkerEventKind, to: RunStatus, said: LifeDetails): readonly LifeEvent[] {
    // A run that has ended stays ended: later records belong to the next attempt.
    const again = isTerminal(this.status) && to !== this.status ? this.owed("again") : [];
    this.status = to;
    return [...again, this.tell(kind, said)];
  }

  private ending(stop_reason: string): LifeDetails {
    const { exit_code = null, signal = null } = this.exit ?? {};
    return { stop_reason, exit_code, metadata: signal === null ? {} : { signal } };
  }
}

const END_KINDS: Readonly<Partial<Record<RunStatus, WorkerEventKind>>> = {
  completed: "worker_completed",
  failed: "worker_failed",
  cancelled: "worker_cancelled",
};
