/** Schedules as answers show them. */
import { type CronLine, readCron } from "../../base/cron.ts";
import { SCHEDULE_NEXT_DEFAULT } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { ScheduleInfo, ScheduleLine, ScheduleView } from "../../protocol/replies/schedules.ts";
import type { Schedule, WaitingRun } from "../../protocol/schedule.ts";
import { statusOf } from "../../protocol/worker-status.ts";
import type { WorkerRow } from "../../store/views.ts";

const isoOf = (at_ms: number): string => new Date(at_ms).toISOString();

/** The next times after an instant, at most `limit`. */
const nextTimes = (cron: CronLine, after_ms: number, limit: number): readonly string[] => {
  const times: string[] = [];
  for (let at = cron.next(after_ms); at !== undefined && times.length < limit; at = cron.next(at))
    times.push(isoOf(at));
  return times;
};

export const nextTimesOf = (
  text: string,
  zone: string,
  after_ms: number,
  limit: number,
): readonly string[] => {
  const read = readCron(text, zone);
  if (read.ok) return nextTimes(read.value, after_ms, limit);
  throw new HoldfastError("INVALID_REQUEST", `cron "${text}" ${read.problem}.`, { phase: "validation" });
};

/**
 * The name of a run's worker. It has the time of the run, or for a run by request its id, because one second may have
 * several.
 */
export const workerNameOf = (name: string, { run_id, due_at, cause }: WaitingRun): string =>
  cause === "asked"
    ? `${name}-${run_id.slice(-10).toLowerCase()}`
    : `${name}-${due_at.slice(0, 19).replace(/[-:]/g, "")}Z`;

export const viewOfSchedule = (
  schedule: Schedule,
  now: {
    readonly next_ms: number | undefined;
    readonly running: readonly string[];
    /** The worker of the newest run. */
    readonly last: WorkerRow | undefined;
  },
): ScheduleView => {
  const { name, schedule_id, plan, tree, by, created_at, paused, waiting, last, runs, failures } = schedule;
  return {
    name,
    schedule_id,
    ...plan,
    tree,
    by,
    created_at,
    paused,
    next_at: now.next_ms === undefined ? null : isoOf(now.next_ms),
    last: last && {
      due_at: last.due_at,
      cause: last.cause,
      worker_id: last.worker_id,
      worker: now.last?.name ?? null,
      status: now.last === undefined ? null : statusOf(now.last.state),
      error: last.error,
    },
    running: now.running,
    waiting: waiting.length,
    runs,
    failures,
  };
};

export const lineOf = ({ name, cron, zone, paused, next_at, running }: ScheduleView): ScheduleLine => ({
  name,
  cron,
  zone,
  paused,
  next_at,
  running: running.length,
});

export const infoOf = (
  view: ScheduleView,
  { spec, decided_to, paused }: Schedule,
  cron: CronLine,
  wall_ms: number,
): ScheduleInfo => ({
  ...view,
  kind: spec.kind,
  spec,
  next: nextTimes(cron, paused ? wall_ms : Date.parse(decided_to), SCHEDULE_NEXT_DEFAULT),
});
