/** The answers of schedules, without Effect, as in `replies.ts`. */
import type { MissedPolicy, OverlapPolicy, RunCause } from "../protocol/schedule-records.ts";
import type { WorkerSpec, WorkerStatus } from "../protocol/worker.ts";

export interface ScheduleRunView {
  /** The time of the schedule that it stands for; of a run that was asked for, when it was. */
  readonly due_at: string;
  readonly cause: RunCause;
  /** Null where it could not be started. */
  readonly worker_id: string | null;
  readonly worker: string | null;
  readonly status: WorkerStatus | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

export interface ScheduleView {
  readonly name: string;
  readonly schedule_id: string;
  readonly cron: string;
  readonly zone: string;
  readonly overlap: OverlapPolicy;
  readonly missed: MissedPolicy;
  readonly missed_max: number;
  readonly starting_deadline_ms: number | null;
  /** The tree whose file holds it; null where a command added it. */
  readonly tree: string | null;
  readonly by: string;
  readonly created_at: string;
  readonly paused: boolean;
  /** Null while it is paused, and where no time comes any more. */
  readonly next_at: string | null;
  /** The newest run. */
  readonly last: ScheduleRunView | null;
  /** Workers of it that have not ended. */
  readonly running: readonly string[];
  /** Runs whose time has come, and that wait for the end of the one before them. */
  readonly waiting: number;
  /** Runs that were started, and that could not be. */
  readonly runs: number;
  readonly failures: number;
}

/** A schedule in the tree. */
export interface ScheduleLine extends Pick<ScheduleView, "name" | "cron" | "zone" | "paused" | "next_at"> {
  /** How many of its workers have not ended. */
  readonly running: number;
}

export interface ScheduleInfo extends ScheduleView {
  readonly kind: string;
  /** Secrets masked. */
  readonly spec: WorkerSpec;
  /** The next times. */
  readonly next: readonly string[];
}

export interface SchedulesReply {
  readonly schedules: readonly ScheduleView[];
  /** There are more after these. */
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
  /** In UTC. */
  readonly times: readonly string[];
}
