/**
 * One schedule: which of its times have come, which of them run, and which run may begin. A time is decided about once, because its
 * record moves the schedule's `decided_to` behind it. Pure; `foldSchedule` says what the records of a decision change.
 */
import type { CronLine } from "../../base/cron.ts";
import {
  SCHEDULE_MISSED_MAX,
  SCHEDULE_ON_TIME_MS,
  SCHEDULE_REWIND_MIN_MS,
  SCHEDULE_RUNNING_MAX,
} from "../../base/limits.ts";
import type { RecordDraft } from "../../protocol/records.ts";
import type { Schedule, WaitingRun } from "../../protocol/schedule.ts";
import { type RunCause, type SkipReason, scheduleStream } from "../../protocol/schedule-records.ts";
import { type PassedTimes, passedTimes } from "./times.ts";

export interface ScheduleNow {
  /** The wall clock, in epoch milliseconds. */
  readonly wall_ms: number;
  /** Workers of the schedule that have not ended. */
  readonly running: readonly string[];
}

const isoOf = (at_ms: number): string => new Date(at_ms).toISOString();

/** The key under which the worker of a run is spawned: two spawns for one run are one worker. */
export const runKey = (schedule_id: string, run_id: string): string => `schedule:${schedule_id}:${run_id}`;

/** Decides about the times that have come. While the schedule is paused, none is looked at. */
export const decideDue = (schedule: Schedule, cron: CronLine, now: ScheduleNow): readonly RecordDraft[] => {
  const say = draftsOf(schedule, now);
  const from_ms = Date.parse(schedule.decided_to);
  if (schedule.paused) return [];
  if (from_ms - now.wall_ms > SCHEDULE_REWIND_MIN_MS) return [say.rewound(schedule.decided_to)];
  // One more than all that may run, so that what is not looked up follows one that is dropped.
  const passed = passedTimes(cron, { from_ms, to_ms: now.wall_ms }, SCHEDULE_MISSED_MAX + 2);
  if (passed === undefined) return [];
  const { late, missed, kept, onTime } = sorted(schedule, passed, now.wall_ms);
  const isBusy = now.running.length > 0 || schedule.waiting.length > 0;
  const room = SCHEDULE_MISSED_MAX - schedule.waiting.length;
  const tooMany = Math.max(0, kept.length - room);
  const runs = kept.slice(tooMany);
  const isRefused = onTime !== undefined && (overlaps(schedule, now, isBusy) || runs.length > room);
  return [
    ...say.skipped(late, "late", passed),
    ...say.skipped(missed, "missed", late.length === 0 ? passed : undefined),
    ...say.skipped(kept.slice(0, tooMany), "missed"),
    ...runs.map((at) => say.due(at, "missed")),
    ...(isRefused ? say.skipped([onTime], "overlap") : []),
    ...(onTime === undefined || isRefused ? [] : [say.due(onTime, "due")]),
  ];
};

/** Whether a run whose time has just come has no place beside those that there are. */
const overlaps = ({ plan }: Schedule, { running }: ScheduleNow, isBusy: boolean): boolean => {
  if (plan.overlap === "allow") return running.length >= SCHEDULE_RUNNING_MAX;
  return plan.overlap === "forbid" && isBusy;
};

/** The newest time is on time if it has only just come; all before it are missed, and those past the deadline are late. */
const sorted = ({ plan }: Schedule, { times }: PassedTimes, wall_ms: number) => {
  const deadline = plan.starting_deadline_ms ?? Number.POSITIVE_INFINITY;
  const newest = times.at(-1) as number;
  const isOnTime = wall_ms - newest <= Math.min(SCHEDULE_ON_TIME_MS, deadline);
  const before = isOnTime ? times.slice(0, -1) : times;
  const late = before.filter((at) => wall_ms - at > deadline);
  const inTime = before.slice(late.length);
  const count = { skip: 0, once: isOnTime ? 0 : 1, all: plan.missed_max }[plan.missed];
  const kept = count === 0 ? [] : inTime.slice(-count);
  return {
    late,
    missed: inTime.slice(0, inTime.length - kept.length),
    kept,
    onTime: isOnTime ? newest : undefined,
  };
};

/** A run that somebody asks for; undefined where the one before it goes on and its schedule forbids that. */
export const decideAsked = (
  schedule: Schedule,
  asked: { readonly run_id: string; readonly by: string },
  now: ScheduleNow,
): RecordDraft | undefined => {
  const isBusy = now.running.length > 0 || schedule.waiting.length > 0;
  if (overlaps(schedule, now, isBusy) || schedule.waiting.length >= SCHEDULE_MISSED_MAX) return undefined;
  return draftsOf(schedule, now).due(now.wall_ms, "asked", asked);
};

export interface RunStart {
  readonly run: WaitingRun;
  /** Workers that it replaces: they end first. */
  readonly replaces: readonly string[];
}

/** The next run that may begin now. */
export const nextStart = (
  { plan, waiting }: Schedule,
  { running }: Pick<ScheduleNow, "running">,
): RunStart | undefined => {
  const [run] = waiting;
  if (run === undefined) return undefined;
  if (plan.overlap === "replace") return { run, replaces: running };
  const room = plan.overlap === "forbid" ? 1 : SCHEDULE_RUNNING_MAX;
  return running.length < room ? { run, replaces: [] } : undefined;
};

const draftsOf = ({ name, schedule_id }: Schedule, { wall_ms }: ScheduleNow) => {
  const about = { stream: scheduleStream(name), correlation_id: schedule_id };
  const at = isoOf(wall_ms);
  return {
    due: (
      due_ms: number,
      cause: RunCause,
      { run_id, by }: { readonly run_id: string; readonly by: string } = {
        run_id: isoOf(due_ms),
        by: "daemon",
      },
    ): RecordDraft => ({
      ...about,
      type: "schedule_due",
      payload: { schedule_id, run_id, due_at: isoOf(due_ms), cause, by, at },
    }),
    /** `passed`: these are the oldest of them, behind those that were not looked up. */
    skipped: (times: readonly number[], reason: SkipReason, passed?: PassedTimes): readonly RecordDraft[] => {
      const [first] = times;
      if (first === undefined) return [];
      const { first: from = first, before = 0 } = passed ?? {};
      const payload = {
        schedule_id,
        from: isoOf(from),
        through: isoOf(times.at(-1) as number),
        count: before === null ? null : before + times.length,
        reason,
        at,
      };
      return [{ ...about, type: "schedule_skipped", payload }];
    },
    rewound: (from: string): RecordDraft => ({
      ...about,
      type: "schedule_rewound",
      payload: { schedule_id, from, at },
    }),
  };
};
