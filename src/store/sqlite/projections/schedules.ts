/** The current schedules, one row each. */
import type { Database } from "better-sqlite3";
import type { LogRecord } from "../../../protocol/records.ts";
import { foldSchedule, isOfSchedule, type Schedule } from "../../../protocol/schedule.ts";
import { scheduleOf } from "../../../protocol/schedule-records.ts";
import type { Projection } from "./projection.ts";

export const SCHEDULES_SCHEMA = `
  CREATE TABLE p_schedules (
    name TEXT NOT NULL PRIMARY KEY, schedule_id TEXT NOT NULL, schedule TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
`;

const show = (text: string): Schedule => JSON.parse(text) as Schedule;

export const schedules = (db: Database): Projection => {
  const find = db.prepare<[string], string>("SELECT schedule FROM p_schedules WHERE name = ?").pluck();
  const put = db.prepare(
    "INSERT INTO p_schedules VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET schedule_id = excluded.schedule_id, schedule = excluded.schedule",
  );
  const remove = db.prepare("DELETE FROM p_schedules WHERE name = ?");
  const fold = (record: LogRecord): void => {
    if (!isOfSchedule(record)) return;
    const name = scheduleOf(record.stream) ?? "";
    const found = find.get(name);
    const before = found === undefined ? undefined : show(found);
    const after = foldSchedule(before, record);
    if (after === before) return;
    if (after === undefined) remove.run(name);
    else put.run(name, after.schedule_id, JSON.stringify(after));
  };
  return { fold, flush: () => {}, reset: () => {} };
};

export const scheduleRows = (db: Database) => {
  const one = db.prepare<[string], string>("SELECT schedule FROM p_schedules WHERE name = ?").pluck();
  const after = db
    .prepare<[string, number], string>(
      "SELECT schedule FROM p_schedules WHERE name > ? ORDER BY name LIMIT ?",
    )
    .pluck();
  return {
    one: (name: string): Schedule | undefined => {
      const found = one.get(name);
      return found === undefined ? undefined : show(found);
    },
    after: (name: string, limit: number): readonly Schedule[] => after.all(name, limit).map(show),
  };
};
