/** Schedules as records tell them. A schedule has a stream by its name; its id tells it from an earlier one of that name. */
import type { WorkerSpec } from "./worker.ts";

/** Names as in a Kubernetes CronJob, for a run whose time comes while the one before it still runs. */
export const OVERLAPS = ["forbid", "allow", "replace"] as const;
export type OverlapPolicy = (typeof OVERLAPS)[number];

/** For times that passed while no daemon ran, or the machine slept: none runs, one runs for all of them, or each runs. */
export const MISSED = ["skip", "once", "all"] as const;
export type MissedPolicy = (typeof MISSED)[number];

/** When a schedule starts its workers. */
export interface SchedulePlan {
  readonly cron: string;
  /** A name of the IANA. */
  readonly zone: string;
  readonly overlap: OverlapPolicy;
  readonly missed: MissedPolicy;
  /** How many missed runs `all` makes up for, the newest ones. */
  readonly missed_max: number;
  /** A run that is later than this is not started any more; null: it is never too late. */
  readonly starting_deadline_ms: number | null;
}

/** The cause of a run: its time came, its time had passed while nobody could start it, or somebody asked for it. */
export type RunCause = "due" | "missed" | "asked";
/** Why times of a schedule had no run: they were missed, the run before went on, or the schedule was paused meanwhile. */
export type SkipReason = "missed" | "late" | "overlap" | "paused";

/** `at`, here and below, is the wall clock by which the daemon decided: RFC 3339. */
export interface ScheduleSet {
  readonly schedule_id: string;
  readonly plan: SchedulePlan;
  /** Secrets are masked; the spec to start is kept beside the log (0600). */
  readonly spec: WorkerSpec;
  /** The tree whose file holds it; null where a command added it. */
  readonly tree: string | null;
  readonly by: string;
  readonly at: string;
}

interface ScheduleChanged {
  readonly schedule_id: string;
  readonly by: string;
  readonly at: string;
}
type ScheduleRemoved = ScheduleChanged;
type SchedulePaused = ScheduleChanged;
type ScheduleResumed = ScheduleChanged;

export interface ScheduleDue {
  readonly schedule_id: string;
  /** Names the run: the key of its worker is made from it. */
  readonly run_id: string;
  readonly due_at: string;
  readonly cause: RunCause;
  readonly by: string;
  readonly at: string;
}

interface ScheduleStarted {
  readonly schedule_id: string;
  readonly run_id: string;
  readonly worker_id: string;
  /** Workers of the schedule that still ran then. */
  readonly running: readonly string[];
  readonly at: string;
}

interface ScheduleFailed {
  readonly schedule_id: string;
  readonly run_id: string;
  readonly error: { readonly code: string; readonly message: string };
  readonly at: string;
}

interface ScheduleSkipped {
  readonly schedule_id: string;
  /** The first and the last time without a run. */
  readonly from: string;
  readonly through: string;
  /** How many times those are; null where they are too many to be counted. */
  readonly count: number | null;
  readonly reason: SkipReason;
  readonly at: string;
}

interface ScheduleRewound {
  readonly schedule_id: string;
  /** The newest time that was decided about before the wall clock was set back. */
  readonly from: string;
  readonly at: string;
}

/** A run that is on record, and has no worker yet. */
export interface WaitingRun {
  readonly run_id: string;
  readonly due_at: string;
  readonly cause: RunCause;
}

export interface LastRun extends WaitingRun {
  readonly worker_id: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

export interface Schedule {
  readonly name: string;
  readonly schedule_id: string;
  readonly plan: SchedulePlan;
  readonly spec: WorkerSpec;
  readonly tree: string | null;
  readonly by: string;
  readonly created_at: string;
  readonly paused: boolean;
  /** Every time up to this one is decided about: RFC 3339. */
  readonly decided_to: string;
  /** Oldest first. */
  readonly waiting: readonly WaitingRun[];
  /** Workers that ran when the newest one was started, and that one. */
  readonly workers: readonly string[];
  readonly last: LastRun | null;
  /** Runs that were started. */
  readonly runs: number;
  /** Runs that could not be started. */
  readonly failures: number;
  /** The version of the newest record in its stream that sums up all before it. */
  readonly summed?: number;
}

interface ScheduleSummed {
  readonly schedule_id: string;
  readonly schedule: Schedule;
}

/** The payloads of a schedule's records, by their types: part of `RecordPayloads`. */
export interface ScheduleRecords {
  /** A schedule is there, or has changed: the stream names it. */
  schedule_set: ScheduleSet;
  /** The schedule is gone; workers that it started go on. */
  schedule_removed: ScheduleRemoved;
  schedule_paused: SchedulePaused;
  /** It goes on with the next time; those that passed meanwhile have no run. */
  schedule_resumed: ScheduleResumed;
  /** A run is to begin. It is recorded before its worker is there, so that a daemon that dies between the two starts one worker. */
  schedule_due: ScheduleDue;
  schedule_started: ScheduleStarted;
  /** The worker of a run could not be started. */
  schedule_failed: ScheduleFailed;
  /** These times have no run. */
  schedule_skipped: ScheduleSkipped;
  /** The wall clock was set back far: the schedule counts from its new time. */
  schedule_rewound: ScheduleRewound;
  /** All that the records before this one say: retention may move them, and the schedule goes on. */
  schedule_summed: ScheduleSummed;
}

const SCHEDULE_STREAM = "schedule:";
export const scheduleStream = (name: string): string => `${SCHEDULE_STREAM}${name}`;
/** The inverse of `scheduleStream`; undefined for a stream of something else. */
export const scheduleOf = (stream: string): string | undefined =>
  stream.startsWith(SCHEDULE_STREAM) ? stream.slice(SCHEDULE_STREAM.length) : undefined;
