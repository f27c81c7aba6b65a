import SQLite from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { openLog } from "../../../src/store/sqlite/log.ts";
import { checkFile } from "../../../src/store/sqlite/offline.ts";
import { clock, codeOf, draft, newFile, newLog, requested, text, V, W } from "./support.ts";

/** A log of six records of two workers, in which `sql` has done its damage. */
const damaged = (sql: string) => {
  const file = newFile();
  const log = openLog({ file });
  log.append([
    requested(),
    text("one"),
    requested(V),
    text("two", V),
    draft("turn_started", { turn: 1 }),
    text("three"),
  ]);
  log.close();
  const db = new SQLite(file).unsafeMode(); // lets a statement damage the schema
  db.exec(sql);
  db.close();
  return newLog({ file, inspect: true });
};

describe("check", () => {
  it("finds nothing in a sound log", () => {
    expect(damaged("").check()).toEqual({ ok: true, records: 6, head: 6, findings: [], notes: [] });
    expect(newLog().check()).toEqual({ ok: true, records: 0, head: 0, findings: [], notes: [] });
  });

  it.each([
    [
      "a flipped letter of a payload",
      "UPDATE records SET payload = replace(payload, 'two', 'twp') WHERE seq = 4",
      /Record 4 does not match its checksum/,
    ],
    [
      "a changed time",
      "UPDATE records SET recorded_at = recorded_at + 1 WHERE seq = 2",
      /Record 2 does not match its checksum/,
    ],
    [
      "a payload that is no JSON",
      "UPDATE records SET payload = '' WHERE seq = 2",
      /Record 2 does not match its checksum/,
    ],
    ["a deleted record", "DELETE FROM records WHERE seq = 4", /Record 4 is missing/],
    ["deleted records", "DELETE FROM records WHERE seq IN (2, 3)", /Records 2 to 3 are missing/],
    ["a deleted first record", "DELETE FROM records WHERE seq = 1", /Record 1 is missing/],
    ["a deleted tail", "DELETE FROM records WHERE seq > 4", /ends at record 4, but it was written up to 6/],
    [
      "a version out of step",
      "UPDATE records SET version = 9 WHERE seq = 6",
      /Record 6 is version 9 of stream worker:.*, but 4 was expected/,
    ],
    [
      "an edited projection",
      "UPDATE p_workers SET restarts = 7 WHERE supervisor = 'root'",
      /holds a row that the log does not give/,
    ],
    ["a lost row of a projection", "DELETE FROM p_turns", /lacks a row that the log gives: p_turns/],
    [
      "a row too many in a projection",
      "INSERT INTO p_turns (worker_id, incarnation, turn, started_at, ended_at, usage, error) VALUES ('x', 1, 1, 't', NULL, NULL, NULL)",
      /holds a row that the log does not give: p_turns/,
    ],
    [
      "an index that lost its rows",
      "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'p_workers_name') WHERE name = 'records_id'",
      /SQLite finds/,
    ],
  ])("finds %s", (_, sql, finding) => {
    const report = damaged(sql).check();
    expect(report.ok).toBe(false);
    expect(report.findings.join("\n")).toMatch(finding);
  });

  it("compares no projections that another version has folded, and says so", () => {
    const file = newFile();
    const log = openLog({ file });
    log.append([requested(), text("one")]);
    log.close();
    const db = new SQLite(file);
    db.exec("UPDATE meta SET value = 0 WHERE key = 'projection_version'; UPDATE p_workers SET restarts = 7");
    db.close();
    const report = checkFile(file);
    expect(report).toMatchObject({ ok: true, records: 2, findings: [] });
    expect(report.notes).toEqual([expect.stringContaining("are of another version")]);
  });

  it("lists so many findings at most, and says how many more there are", () => {
    const file = newFile();
    const log = openLog({ file });
    log.append(Array.from({ length: 150 }, (_, i) => text(String(i))));
    log.close();
    const db = new SQLite(file);
    db.exec("UPDATE records SET checksum = checksum + 1");
    db.close();
    const { findings } = newLog({ file, inspect: true }).check();
    expect(findings).toHaveLength(101);
    expect(findings.at(-1)).toBe("51 more findings are not listed.");
  });
});

describe("rebuild", () => {
  it("mends a damaged projection from the log, and the log goes on", () => {
    const log = damaged("UPDATE p_workers SET restarts = 7, state = 'failed'; DELETE FROM p_turns");
    expect(log.check().ok).toBe(false);
    expect(log.rebuild()).toEqual({ records: 6 });
    log.append([draft("worker_started", { clock }), text("four")]);
    expect(log.worker(W)).toMatchObject({ restarts: 0, state: "pending", last_seq: 8 });
    expect(log.turns(W, 10)).toMatchObject([{ turn: 1, ended_at: null }]);
    expect(log.check()).toMatchObject({ ok: true, head: 8 });
  });

  it("of a damaged log fails and leaves the projections as they were", () => {
    const log = damaged("UPDATE records SET payload = replace(payload, 'two', 'twp') WHERE seq = 4");
    const before = log.workers();
    expect(codeOf(() => log.rebuild())).toBe("STORE_CORRUPT");
    expect(log.workers()).toEqual(before);
    expect(log.append([text("more")])[0]!.seq).toBe(7);
  });
});
