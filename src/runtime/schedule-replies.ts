/** The answers of schedules, without Effect, as in `replies.ts`. */
import type { RunCause, SchedulePlan } from "../protocol/schedule-records.ts";
import type { WorkerSpec, WorkerStatus } from "../protocol/worker.ts";

export interface ScheduleRunView {
  /** The scheduled time of the run; for a run by request, the time of the request. */
  readonly due_at: string;
  readonly cause: RunCause;
  /** The worker's id; null if it could not be started. */
  readonly worker_id: string | null;
  readonly worker: string | null;
  readonly status: WorkerStatus | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

export interface ScheduleView extends SchedulePlan {
  readonly name: string;
  readonly schedule_id: string;
  /** The tree whose file has it; null if a command added it. */
  readonly tree: string | null;
  readonly by: string;
  readonly created_at: string;
  readonly paused: boolean;
  /** The next time; null while it is paused, and if no time follows. */
  readonly next_at: string | null;
  /** The newest run. */
  readonly last: ScheduleRunView | null;
  /** Its workers that have not ended. */
  readonly running: readonly string[];
  /** The number of due runs that wait for the end of the run before them. */
  readonly waiting: number;
  /** The numbers of started runs and of runs that could not be started. */
  readonly runs: number;
  readonly failures: number;
}

/** A schedule in the tree. */
export interface ScheduleLine extends Pick<ScheduleView, "name" | "cron" | "zone" | "paused" | "next_at"> {
  /** The number of its workers that have not ended. */
  readonly running: number;
}

export interface ScheduleInfo extends ScheduleView {
  readonly kind: string;
  /** The spec, with secrets masked. */
  readonly spec: WorkerSpec;
  /** The next times. */
  readonly next: readonly string[];
}

export interface SchedulesReply {
  readonly schedules: readonly ScheduleView[];
  /** The cursor of the next page; absent on the last one. */
  readonly cursor?: string;
}

export interface ScheduleChange {
  readonly name: string;
  readonly schedule_id: string;
  readonly zone: string;
  readonly next_at: string | null;
  readonly effect: "created" | "updated" | "deleted" | "noop";
}

export interface ScheduleRunReply {
  readonly name: string;
  readonly worker_id: string;
  readonly worker: string | null;
  readonly effect: "created" | "noop";
}

export interface NextTimes {
  readonly cron: string;
  readonly zone: string;
  /** Times in UTC. */
  readonly times: readonly string[];
}
