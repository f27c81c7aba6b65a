/** The answers of schedules. */
import * as z from "zod";
import { MISSED, OVERLAPS } from "../schedule-records.ts";
import { WorkerSpec, WorkerStatus } from "../worker.ts";
import { id, type Reply, time } from "./reply.ts";

const ScheduleRunView = z.object({
  due_at: time.describe("the time of the schedule; of a run that was asked for, when it was"),
  cause: z.enum(["due", "missed", "asked"]),
  worker_id: id.nullable().describe("null where it could not be started"),
  worker: z.string().nullable(),
  status: WorkerStatus.nullable(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
});
export type ScheduleRunView = Reply<typeof ScheduleRunView>;

export const ScheduleView = z.object({
  name: z.string(),
  schedule_id: id,
  cron: z.string(),
  zone: z.string().describe("a name of the IANA"),
  overlap: z.enum(OVERLAPS),
  missed: z.enum(MISSED),
  missed_max: z.int().describe("how many missed runs `all` makes up for"),
  starting_deadline_ms: z.int().nullable().describe("a run that is later is not started; null: no bound"),
  tree: z.string().nullable().describe("the tree whose file holds it; null: added by a command"),
  by: z.string(),
  created_at: time,
  paused: z.boolean(),
  next_at: time.nullable().describe("null while it is paused, and where no time comes any more"),
  last: ScheduleRunView.nullable().describe("the newest run"),
  running: z.array(id).describe("workers of it that have not ended"),
  waiting: z.int().describe("runs that wait for the end of the one before them"),
  runs: z.int().describe("runs that were started"),
  failures: z.int().describe("runs that could not be started"),
});
export type ScheduleView = Reply<typeof ScheduleView>;

/** A schedule in the tree. */
export const ScheduleLine = z.object({
  name: z.string(),
  cron: z.string(),
  zone: z.string(),
  paused: z.boolean(),
  next_at: time.nullable(),
  running: z.int().describe("how many of its workers have not ended"),
});
export type ScheduleLine = Reply<typeof ScheduleLine>;

/** Secrets of the spec are masked. */
export const ScheduleInfo = ScheduleView.extend({
  kind: z.string(),
  spec: WorkerSpec,
  next: z.array(time).describe("the next times"),
});
export type ScheduleInfo = Reply<typeof ScheduleInfo>;

export interface SchedulesReply {
  readonly schedules: readonly ScheduleView[];
  /** The cursor of the next page; absent on the last one. */
  readonly cursor?: string;
}

export const ScheduleChange = z.object({
  name: z.string(),
  schedule_id: id,
  zone: z.string(),
  next_at: time.nullable(),
  effect: z.enum(["created", "updated", "deleted", "noop"]),
});
export type ScheduleChange = Reply<typeof ScheduleChange>;

export const ScheduleRunReply = z.object({
  name: z.string(),
  worker_id: id,
  worker: z.string().nullable(),
  effect: z.enum(["created", "noop"]),
});
export type ScheduleRunReply = Reply<typeof ScheduleRunReply>;

export const NextTimes = z.object({
  cron: z.string(),
  zone: z.string(),
  times: z.array(time).describe("in UTC"),
});
export type NextTimes = Reply<typeof NextTimes>;
