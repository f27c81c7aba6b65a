/** A schedule, and the one fold that says which record makes it, starts a run of it and takes it away: for decisions and the projection. Pure. */
import type { LogRecord } from "./records.ts";
import {
  type LastRun,
  type Schedule,
  type ScheduleDue,
  type ScheduleSet,
  scheduleOf,
  type WaitingRun,
} from "./schedule-records.ts";

export type { LastRun, Schedule, WaitingRun };

const SCHEDULE_TYPES = [
  "schedule_set",
  "schedule_removed",
  "schedule_paused",
  "schedule_resumed",
  "schedule_due",
  "schedule_started",
  "schedule_failed",
  "schedule_skipped",
  "schedule_rewound",
  "schedule_summed",
] as const;
export type ScheduleRecord = Extract<LogRecord, { readonly type: (typeof SCHEDULE_TYPES)[number] }>;
export const isOfSchedule = (record: LogRecord): record is ScheduleRecord =>
  (SCHEDULE_TYPES as readonly string[]).includes(record.type);

/** The schedule after a record about it; undefined where it is gone. A record about an earlier schedule of that name changes nothing. */
export const foldSchedule = (
  schedule: Schedule | undefined,
  record: ScheduleRecord,
): Schedule | undefined => {
  if (record.type === "schedule_set") return setBy(schedule, scheduleOf(record.stream) ?? "", record.payload);
  if (record.type === "schedule_summed") return { ...record.payload.schedule, summed: record.version };
  if (schedule?.schedule_id !== record.payload.schedule_id) return schedule;
  switch (record.type) {
    case "schedule_removed":
      return undefined;
    case "schedule_paused":
      return { ...schedule, paused: true, waiting: [] };
    case "schedule_resumed":
      return { ...schedule, paused: false, decided_to: later(schedule.decided_to, record.payload.at) };
    case "schedule_due":
      return dueBy(schedule, record.payload);
    case "schedule_started": {
      const { run_id, worker_id, running } = record.payload;
      const run = begun(schedule, run_id);
      const workers = [...running.filter((id) => id !== worker_id), worker_id];
      return { ...run, workers, runs: schedule.runs + 1, last: lastOf(schedule, run_id, worker_id, null) };
    }
    case "schedule_failed": {
      const { run_id, error } = record.payload;
      const failures = schedule.failures + 1;
      return { ...begun(schedule, run_id), failures, last: lastOf(schedule, run_id, null, error) };
    }
    case "schedule_skipped":
      return { ...schedule, decided_to: later(schedule.decided_to, record.payload.through) };
    case "schedule_rewound":
      return { ...schedule, decided_to: record.payload.at };
  }
};

/** A schedule with other times counts from its change; otherwise nothing that is due meanwhile is lost. */
const setBy = (before: Schedule | undefined, name: string, { at, by, ...given }: ScheduleSet): Schedule => {
  if (before?.schedule_id !== given.schedule_id)
    return {
      ...given,
      name,
      by,
      created_at: at,
      paused: false,
      decided_to: at,
      waiting: [],
      workers: [],
      last: null,
      runs: 0,
      failures: 0,
    };
  const { cron, zone } = before.plan;
  const isSameTimes = cron === given.plan.cron && zone === given.plan.zone;
  return { ...before, ...given, decided_to: isSameTimes ? before.decided_to : later(before.decided_to, at) };
};

const dueBy = (schedule: Schedule, { run_id, due_at, cause }: ScheduleDue): Schedule => ({
  ...schedule,
  waiting: [...schedule.waiting, { run_id, due_at, cause }],
  decided_to: cause === "asked" ? schedule.decided_to : later(schedule.decided_to, due_at),
});

const begun = (schedule: Schedule, run_id: string): Schedule => ({
  ...schedule,
  waiting: schedule.waiting.filter((run) => run.run_id !== run_id),
});

const lastOf = (
  { waiting, last }: Schedule,
  run_id: string,
  worker_id: string | null,
  error: LastRun["error"],
): LastRun | null => {
  const run = waiting.find((one) => one.run_id === run_id);
  return run === undefined ? last : { ...run, worker_id, error };
};

/** Times of our own making are UTC with milliseconds, so their texts order as they do. */
const later = (one: string, other: string): string => (one > other ? one : other);
