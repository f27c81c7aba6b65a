/** Schedules and their times, for tests of decisions. */
import { type CronLine, readCron } from "../../../src/base/cron.ts";
import type { LogRecord, RecordDraft } from "../../../src/protocol/records.ts";
import { foldSchedule, type Schedule, type ScheduleRecord } from "../../../src/protocol/schedule.ts";
import { type SchedulePlan, scheduleStream } from "../../../src/protocol/schedule-records.ts";
import { WorkerSpec } from "../../../src/protocol/worker.ts";

export const at = (text: string): number => Date.parse(text);
const NAME = "nightly";
export const ID = "01JZ8Q4D7EXAMPLE0000000001";

export const line = (text: string, zone = "UTC"): CronLine => {
  const read = readCron(text, zone);
  if (!read.ok) throw new Error(read.problem);
  return read.value;
};

export const plan = (over: Partial<SchedulePlan> = {}): SchedulePlan => ({
  cron: "0 3 * * *",
  zone: "UTC",
  overlap: "forbid",
  missed: "once",
  missed_max: 10,
  starting_deadline_ms: null,
  ...over,
});

const spec = WorkerSpec.parse({ kind: "command", argv: ["backup"], cwd: "/", restart: "temporary" });

/** Only what the fold of schedules reads. */
export const recorded = (draft: RecordDraft): ScheduleRecord =>
  ({ ...draft, seq: 1, id: "", version: 1, recorded_at: "" }) as unknown as LogRecord as ScheduleRecord;

export const set = (when: string, over: Partial<SchedulePlan> = {}, schedule_id = ID): ScheduleRecord =>
  recorded({
    type: "schedule_set",
    stream: scheduleStream(NAME),
    payload: {
      schedule_id,
      plan: plan(over),
      spec,
      tree: null,
      by: "user",
      at: new Date(at(when)).toISOString(),
    },
  });

export const schedule = (over: Partial<SchedulePlan> = {}, since = "2026-01-01T00:00:00Z"): Schedule =>
  foldSchedule(undefined, set(since, over)) as Schedule;

export const folded = (before: Schedule, drafts: readonly RecordDraft[]): Schedule =>
  drafts.reduce((state, draft) => foldSchedule(state, recorded(draft)) as Schedule, before);

/** `due 2026-01-01T03:00`, `skipped 2 missed …`. */
export const told = (drafts: readonly RecordDraft[]): readonly string[] =>
  drafts.map((draft) => {
    const short = (time: string): string => time.slice(5, 16);
    switch (draft.type) {
      case "schedule_due":
        return `${draft.payload.cause} ${short(draft.payload.due_at)}`;
      case "schedule_skipped": {
        const { count, reason, from, through } = draft.payload;
        return `skipped ${count} ${reason} ${short(from)}..${short(through)}`;
      }
      default:
        return draft.type;
    }
  });
