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
