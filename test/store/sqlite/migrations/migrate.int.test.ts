import type { Database } from "better-sqlite3";
import SQLite from "better-sqlite3";
import { afterEach, beforeEach, expect, it } from "vitest";
import { migrate } from "../../../../src/store/sqlite/migrations/migrate.ts";
import { codeOf } from "../support.ts";

let db: Database;
beforeEach(() => {
  db = new SQLite(":memory:");
});
afterEach(() => void db.close());

it("an empty database is brought to the newest schema, once", () => {
  const newest = migrate(db);
  expect(newest).toBeGreaterThan(0);
  const schema = () => db.prepare("SELECT * FROM sqlite_schema ORDER BY name").all();
  const before = schema();
  expect(migrate(db)).toBe(newest);
  expect(schema()).toEqual(before);
  expect(db.pragma("user_version", { simple: true })).toBe(newest);
});

it("a newer schema is refused and not touched", () => {
  const newest = migrate(db);
  db.pragma(`user_version = ${newest + 1}`);
  expect(codeOf(() => migrate(db))).toBe("STORE_FAILED");
  expect(db.pragma("user_version", { simple: true })).toBe(newest + 1);
});

it("another program's database is refused and not touched", () => {
  db.exec("CREATE TABLE other (a)");
  expect(codeOf(() => migrate(db))).toBe("STORE_CORRUPT");
  expect(db.prepare("SELECT count(*) FROM sqlite_schema").pluck().get()).toBe(1);
});
