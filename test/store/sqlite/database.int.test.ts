/** SQLite opens no file that it would wait for: neither the log nor what lies beside it. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openDatabase } from "../../../src/store/sqlite/database.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "holdfast-database-"));
  openDatabase(join(dir, "log")).exec("CREATE TABLE t (x)").close();
});
afterEach(() => rmSync(dir, { recursive: true }));

describe.each(["log", "log-wal", "log-shm", "log-journal"])("in the place of %s", (name) => {
  it.each<[string, (path: string) => void]>([
    ["a FIFO", (path) => execFileSync("mkfifo", [path])],
    ["a link to a device", (path) => symlinkSync("/dev/zero", path)],
  ])("%s is refused", (_, sin) => {
    rmSync(join(dir, name), { force: true });
    sin(join(dir, name));
    expect(() => openDatabase(join(dir, "log"))).toThrow(`${join(dir, name)} is not a regular file`);
  });
});

it("a link to the log is followed", () => {
  symlinkSync("log", join(dir, "link"));
  const db = openDatabase(join(dir, "link"), { readonly: true });
  expect(db.prepare("SELECT * FROM t").all()).toEqual([]);
  db.close();
});

describe("a statement is planned once", () => {
  /** Counts plans: better-sqlite3 makes a new function for rows after each. */
  const plansDuring = (work: () => void): number => {
    const { Function: original } = globalThis;
    let plans = 0;
    globalThis.Function = new Proxy(original, {
      apply: (target, self, source) => {
        plans += 1;
        return Reflect.apply(target, self, source);
      },
    });
    try {
      work();
    } finally {
      globalThis.Function = original;
    }
    return plans;
  };

  it.each([
    ["SELECT * FROM rows WHERE kind = ? LIMIT ?", ["a", 2]],
    ["SELECT * FROM rows WHERE kind=? AND n=? LIMIT?", ["a", 1, 2]],
    [
      "SELECT * FROM rows WHERE kind = @kind AND n >= @n ORDER BY n LIMIT @most",
      [{ kind: "a", n: 0, most: 2 }],
    ],
  ])("whatever is bound to it: %s", (sql, values) => {
    const db = openDatabase(join(dir, "log"));
    db.exec("CREATE TABLE rows (kind TEXT, n INT); CREATE INDEX kinds ON rows (kind, n)");
    db.exec("INSERT INTO rows VALUES ('a', 1)");
    const statement = db.prepare<unknown[], object>(sql);
    const run = (): void => void expect(statement.all(...values)).toEqual([{ kind: "a", n: 1 }]);
    expect(plansDuring(run)).toBe(1);
    expect(plansDuring(() => [1, 2, 3].forEach(run))).toBe(0);
    db.close();
  });
});
