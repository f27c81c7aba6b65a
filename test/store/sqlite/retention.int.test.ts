/** Retention: old output leaves the log for archives, gaps tell of it, and nothing else changes. */
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import SQLite from "better-sqlite3";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LogGap } from "../../../src/protocol/log-gap.ts";
import type { LogRecord, RecordDraft } from "../../../src/protocol/records.ts";
import { openLog } from "../../../src/store/sqlite/log.ts";
import { dumpProjections } from "../../../src/store/sqlite/projections/projection.ts";
import { collect } from "../../../src/store/sqlite/retention/collect.ts";
import { exportLines } from "../../../src/store/sqlite/retention/export.ts";
import { vacuumFile } from "../../../src/store/sqlite/vacuum.ts";
import type { Store } from "../../../src/store/upkeep.ts";
import { figure, full } from "../../support/figures.ts";
import { clock, draft, newFile, requested, text, V, W } from "./support.ts";

const EVERYTHING = Number.MAX_SAFE_INTEGER;

const begun = (worker: string): RecordDraft =>
  draft("worker_state_changed", { from: "pending", to: "starting", reason: "r", clock }, { worker });
const ended = (worker: string): RecordDraft =>
  draft("worker_ended", { state: "completed", reason: "over" }, { worker });
const turn = (worker: string, n: number): RecordDraft =>
  draft(
    "turn_completed",
    {
      turn: n,
      duration_ms: 1,
      usage: { input_tokens: 1, output_tokens: 1, cached_tokens: 0, reasoning_tokens: 0, cost_usd: 0.5 },
    },
    { worker },
  );

/** Two workers that print by turns; the first has ended, the second lives. */
const twoWorkers = (lines = 30) => {
  const file = newFile(true);
  const log = openLog({ file, now: () => 1_000 });
  log.append([requested(), begun(W), requested(V), begun(V)]);
  for (let i = 0; i < lines; i++) log.append([text(`w${i}`), text(`v${i}`, V)]);
  log.append([turn(W, 1), text("last words"), ended(W), turn(V, 1)]);
  return { file, log };
};

const linesOf = (log: Store, filter = {}): string[] => {
  const lines: string[] = [];
  for (let after = 0; after < log.head(); ) {
    const page = log.readLines(after, 7, filter);
    lines.push(...page.lines);
    after = page.scanned;
  }
  return lines;
};
const exported = (file: string): string[] => [
  ...exportLines(file, join(dirname(file), "archive"), 1, EVERYTHING),
];
const dumpOf = (file: string): string[] => {
  const db = new SQLite(file, { readonly: true });
  try {
    return [...dumpProjections(db)];
  } finally {
    db.close();
  }
};
/** As another process would read it: nothing from memory. */
const again = (file: string, log: Store): Store => {
  log.close();
  return openLog({ file });
};

describe("gc", () => {
  it("moves the output of what has ended to an archive, and leaves a gap at its place", async () => {
    const { file, log } = twoWorkers();
    const before = linesOf(log);
    const report = await log.gc({ before_ms: EVERYTHING });
    expect(report).toMatchObject({ records: 31, archives: ["records-5-66.ndjson.gz"] });
    const archive = join(dirname(file), "archive", report.archives[0]!);
    expect(statSync(archive).mode & 0o777).toBe(0o600);
    const after = again(file, log);
    const gaps = linesOf(after)
      .map((line) => JSON.parse(line))
      .filter(({ type }) => type === "log_gap");
    expect(gaps).toMatchObject([
      { seq: 5, version: 3, worker_id: W, payload: { from_seq: 5, to_seq: 63, to_version: 32, records: 30 } },
      {
        seq: 66,
        version: 34,
        payload: { from_seq: 66, to_seq: 66, records: 1, archive: report.archives[0] },
      },
    ]);
    expect(linesOf(after).filter((line) => !before.includes(line))).toHaveLength(2);
    expect(after.check()).toMatchObject({ ok: true, head: 68, findings: [] });
    expect(exported(file)).toEqual(before);
    after.append([text("more", V)]);
    expect(after.head()).toBe(69);
    after.close();
  });

  it("tells the gap to whoever asks for output, at its place, and to nobody else", async () => {
    const { file, log } = twoWorkers();
    await log.gc({ before_ms: EVERYTHING });
    const after = again(file, log);
    const types = (filter: object) => linesOf(after, filter).map((line) => JSON.parse(line).type);
    expect(types({ worker_ids: [W] })).toEqual([
      "worker_spawn_requested",
      "worker_state_changed",
      "log_gap",
      "turn_completed",
      "log_gap",
      "worker_ended",
    ]);
    expect(types({ worker_ids: [W], types: ["agent.event"] })).toEqual(["log_gap", "log_gap"]);
    expect(types({ kinds: ["TextOutput"], worker_ids: [W, V] })).toHaveLength(32);
    expect(types({ types: ["turn_completed"] })).toEqual(["turn_completed", "turn_completed"]);
    expect(types({ worker_ids: [V] })).not.toContain("log_gap");
    // A cursor inside the gap goes on behind it.
    expect(after.readLines(20, 2, { worker_ids: [W] }).seqs).toEqual([65, 66]);
    expect(after.readLines(20, 2).seqs).toEqual([22, 24]);
    expect(after.seqAt(1_000)).toBe(1);
    after.close();
  });

  it("keeps what is younger, what still runs, and, asked to, says only what it would do", async () => {
    const { log } = twoWorkers();
    expect(await log.gc({ before_ms: EVERYTHING, dry_run: true })).toMatchObject({
      records: 31,
      archives: [],
    });
    expect(await log.gc({ before_ms: 1_000 })).toMatchObject({ records: 0, archives: [] });
    expect(linesOf(log)).toHaveLength(68);
    expect(await log.gc({ before_ms: EVERYTHING, archive: false })).toMatchObject({
      records: 31,
      archives: [],
    });
    expect(await log.gc({ before_ms: EVERYTHING })).toMatchObject({ records: 0 });
    log.close();
  });

  it.each([
    "UPDATE p_workers SET state = 'completed'",
    "UPDATE p_workers SET incarnation = 9",
    "UPDATE p_workers SET state = 'completed', version = 999",
  ])("goes by the records, whatever a row says of who lives: %s", async (sql) => {
    const file = newFile(true);
    const log = openLog({ file });
    log.append([requested(), begun(W), text("one"), text("two"), turn(W, 1), text("the newest")]);
    const beside = new SQLite(file);
    beside.exec(sql);
    beside.close();
    expect(await log.gc({ before_ms: EVERYTHING })).toMatchObject({ records: 0, archives: [] });
    expect(log.standing(W)).toEqual({ incarnation: 1, state: "starting" });
    log.append([ended(W)]);
    expect(await log.gc({ before_ms: EVERYTHING })).toMatchObject({ records: 3 });
    expect(log.standing(W)).toEqual({ incarnation: 1, state: "completed" });
    expect(log.standing(V)).toBeUndefined();
    log.close();
  });

  it("gives the space back to the disk", async () => {
    const file = newFile(true);
    const log = openLog({ file });
    log.append([requested(), begun(W)]);
    for (let i = 0; i < 20; i++) log.append(Array.from({ length: 100 }, () => text("x".repeat(1_000))));
    log.append([ended(W)]);
    const report = await log.gc({ before_ms: EVERYTHING });
    expect(report.records).toBe(2_000);
    expect(report.freed_bytes).toBeGreaterThan(2_000_000);
    expect(report.reusable_bytes).toBe(0);
    log.close();
    expect(statSync(file).size).toBeLessThan(500_000);
  });

  it("of random histories leaves every projection, a rebuild, the check and an export as they were", async () => {
    const step = fc.record({
      worker: fc.constantFrom(W, V),
      what: fc.constantFrom("say", "say", "say", "turn", "end", "begin"),
    });
    let rounds = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(step, { maxLength: 30 }), { minLength: 1, maxLength: 2 }),
        async (batches) => {
          const file = newFile(true);
          let log = openLog({ file, now: () => 1_000 });
          log.append([requested(), requested(V)]);
          let said = 0;
          for (const batch of batches) {
            for (const { worker, what } of batch) {
              if (what === "say") log.append([text(String(said++), worker)]);
              if (what === "turn") log.append([turn(worker, said)]);
              if (what === "end") log.append([ended(worker)]);
              if (what === "begin") log.append([begun(worker)]);
            }
            const before = { dump: dumpOf(file), all: exported(file) };
            await log.gc({ before_ms: EVERYTHING });
            log = again(file, log);
            expect(dumpOf(file)).toEqual(before.dump);
            expect(exported(file)).toEqual(before.all);
            expect(log.check().findings).toEqual([]);
            await log.rebuildAside();
            expect(dumpOf(file)).toEqual(before.dump);
            expect(linesOf(log)).toHaveLength(log.check().records);
            rounds++;
          }
          log.close();
        },
      ),
      { numRuns: full ? 40 : 3 },
    );
    figure("R26", {
      rounds,
      failures: 0,
      note: "random logs: after gc, projections = fold, rebuild = incremental, export = the log as it was",
    });
  });
});

describe("a gc that is interrupted", () => {
  it("after the archive was written and before the log knew it: the next one writes it again, and no record is in two", async () => {
    const { file, log } = twoWorkers();
    const before = linesOf(log);
    const directory = join(dirname(file), "archive");
    collect({
      file,
      archives: directory,
      before_ms: EVERYTHING,
      after_seq: 0,
      max_chars: EVERYTHING,
      dry_run: false,
    });
    log.append([ended(V), turn(V, 2)]); // so that the next archive is another one
    const { archives } = await log.gc({ before_ms: EVERYTHING });
    expect(readdirSync(directory)).toEqual([...archives]);
    expect(exported(file).slice(0, before.length)).toEqual(before);
    log.close();
  });

  it("in the middle of the removal: the next one takes it up, and every gap is told once", async () => {
    const { file, log } = twoWorkers();
    const before = linesOf(log);
    await log.gc({ before_ms: EVERYTHING });
    const whole = linesOf(again(file, log)).length;
    const { file: other, log: torn } = twoWorkers();
    const directory = join(dirname(other), "archive");
    // Somebody's directory has the name of an archive that is being made.
    mkdirSync(join(directory, "records.tmp"), { recursive: true });
    const { archive } = collect({
      file: other,
      archives: directory,
      before_ms: EVERYTHING,
      after_seq: 0,
      max_chars: EVERYTHING,
      dry_run: false,
    });
    const db = new SQLite(other);
    db.prepare("INSERT INTO archives VALUES (?, ?, ?, ?, ?, ?, 0)").run(Object.values(archive!));
    db.close();
    // Nothing was removed yet: a reader has the records, and an export has each once.
    expect(exported(other)).toHaveLength(before.length);
    expect(await torn.gc({ before_ms: 0 })).toMatchObject({ records: 31 });
    const taken = again(other, torn);
    expect(linesOf(taken)).toHaveLength(whole);
    expect(taken.check().findings).toEqual([]);
    expect(exported(other)).toHaveLength(before.length);
    taken.close();
  });
});

describe("a bound in bytes", () => {
  /** Output of ended and living workers by turns, 2 KB a line; answers what the log takes. */
  const large = () => {
    const file = newFile(true);
    const log = openLog({ file, now: () => 1_000 });
    log.append([requested(), begun(W), requested(V), begun(V)]);
    const line = "x".repeat(2_000);
    for (let i = 0; i < 400; i++) {
      log.append([
        text(line),
        ...(i % 4 === 0 ? [text(line, V)] : []),
        ...(i % 40 === 0 ? [turn(W, i)] : []),
      ]);
    }
    log.append([ended(W)]);
    return { file, log };
  };
  const used = (file: string): number => {
    const db = new SQLite(file, { readonly: true });
    const of = (pragma: string) => db.pragma(pragma, { simple: true }) as number;
    const bytes = (of("page_count") - of("freelist_count")) * of("page_size");
    db.close();
    return bytes;
  };

  it("is kept by the oldest output of what has ended, with gaps; younger output and all else stays", async () => {
    const { file, log } = large();
    const before = { used: used(file), all: exported(file) };
    // The tables themselves take their room in any log.
    const empty = newFile();
    openLog({ file: empty }).close();
    const max_bytes = Math.round(used(empty) + (before.used - used(empty)) * 0.7);
    const would = await log.gc({ before_ms: 0, max_bytes, dry_run: true });
    const report = await log.gc({ before_ms: 0, max_bytes });
    expect(used(file)).toBeLessThanOrEqual(max_bytes);
    expect(used(file)).toBeGreaterThan(before.used * 0.25);
    expect(report.records).toBeGreaterThan(50);
    expect(report.records).toBeLessThan(350);
    expect(would.records).toBeGreaterThan(report.records / 2);
    const after = again(file, log);
    const left = linesOf(after).map((line): LogRecord => JSON.parse(line));
    expect(left.filter(({ type, worker_id }) => type === "agent.event" && worker_id === V)).toHaveLength(100);
    expect(left.filter(({ type }) => type === "turn_completed")).toHaveLength(10);
    const gaps = left.flatMap((record) => (record.type === "log_gap" ? [LogGap.parse(record.payload)] : []));
    expect(gaps.reduce((sum, { records }) => sum + records, 0)).toBe(report.records);
    const newest = Math.max(...gaps.map(({ to_seq }) => to_seq));
    expect(
      left.filter(({ type, worker_id, seq }) => type === "agent.event" && worker_id === W && seq < newest),
    ).toEqual([]);
    expect(exported(file)).toEqual(before.all);
    expect(after.check().findings).toEqual([]);
    expect(await after.gc({ before_ms: 0, max_bytes })).toMatchObject({ records: 0 });
    after.close();
  });

  it("that cannot be kept ends when all that may go is gone", async () => {
    const { file, log } = large();
    expect(await log.gc({ before_ms: 0, max_bytes: 1 })).toMatchObject({ records: 400 });
    expect(log.check().findings).toEqual([]);
    log.close();
    expect(existsSync(file)).toBe(true);
  });
});

it("of a database that an early version made the free pages go back by a vacuum alone, and later ones by themselves", async () => {
  const file = newFile(true);
  const early = new SQLite(file);
  early.exec("CREATE TABLE x (a); DROP TABLE x"); // a file that is there already keeps its auto_vacuum
  early.pragma("auto_vacuum = NONE");
  early.exec("VACUUM");
  early.close();
  const log = openLog({ file, now: () => 1_000 });
  log.append([requested(), begun(W)]);
  for (let i = 0; i < 200; i++) log.append([text("x".repeat(2_000))]);
  log.append([ended(W)]);
  const { epoch } = log;
  const report = await log.gc({ before_ms: EVERYTHING });
  expect(report).toMatchObject({ needs_vacuum: true, freed_bytes: 0 });
  expect(report.reusable_bytes).toBeGreaterThan(100_000);
  log.close();
  const before = exported(file);
  expect(vacuumFile(file)).toBeGreaterThan(100_000);
  expect(exported(file)).toEqual(before);
  const after = openLog({ file });
  expect(after.epoch).toBe(epoch);
  expect(await after.gc({ before_ms: 0 })).toMatchObject({ needs_vacuum: false, reusable_bytes: 0 });
  expect(after.check().findings).toEqual([]);
  after.close();
});

describe("damage", () => {
  it("of an archive is told by the export; of one that was moved away the gap is told instead", async () => {
    const { file, log } = twoWorkers();
    const { archives } = await log.gc({ before_ms: EVERYTHING });
    log.close();
    const path = join(dirname(file), "archive", archives[0]!);
    writeFileSync(path, "x");
    expect(() => exported(file)).toThrow(/is damaged/);
    rmSync(path);
    expect(exported(file).filter((line) => line.includes('"log_gap"'))).toHaveLength(2);
    expect(existsSync(file)).toBe(true);
  });

  it.each([
    ["a record beside the gaps that is gone", "DELETE FROM records WHERE seq = 10", /Record 10 is missing/],
    ["a gap that is gone", "DELETE FROM records WHERE seq = 5", /Record 5 is missing/],
    [
      "a record under the wings of a gap",
      "INSERT INTO removed VALUES (10, 10); DELETE FROM records WHERE seq = 10",
      /version|are not there/,
    ],
    [
      "a gap that was edited",
      "UPDATE records SET payload = replace(payload, '30', '29') WHERE seq = 5",
      /Record 5 does not match/,
    ],
  ])("%s is found", async (_, sql, finding) => {
    const { file, log } = twoWorkers();
    await log.gc({ before_ms: EVERYTHING });
    log.close();
    const db = new SQLite(file);
    db.exec(sql);
    db.close();
    const damaged = openLog({ file });
    expect(damaged.check().findings.join("\n")).toMatch(finding);
    damaged.close();
  });
});
