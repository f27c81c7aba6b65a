/** A rebuild beside a writer: what differs is put right, stream by stream, and what is recorded meanwhile is in it. */
import SQLite from "better-sqlite3";
import { expect, it } from "vitest";
import { MEND_SLICE_STREAMS, READ_PAGE_RECORDS } from "../../../src/base/limits.ts";
import { treeStream } from "../../../src/protocol/records.ts";
import { openLog } from "../../../src/store/sqlite/log.ts";
import { foldInto, mend } from "../../../src/store/sqlite/mend.ts";
import { clock, draft, newFile, newLog, requested, text } from "./support.ts";

const workerOf = (n: number): string => `01MEND${String(n).padStart(20, "0")}`;
const usage = { input_tokens: 1, output_tokens: 2, cached_tokens: 0, reasoning_tokens: 0, cost_usd: 0.5 };
const turn = (worker: string, n: number) =>
  draft("turn_completed", { turn: n, usage, duration_ms: 1 }, { worker });
const tree = (name: string) =>
  ({
    type: "tree_applied",
    stream: treeStream(name),
    payload: { tree: name, file: `/${name}.yaml`, root: {} as never, restart: {}, by: "user", clock },
  }) as const;

/** A closed log of more workers than one slice puts right, and a tree. */
const long = (): string => {
  const file = newFile();
  const log = openLog({ file });
  for (let n = 0; n < 3 * MEND_SLICE_STREAMS; n++)
    log.append([requested(workerOf(n)), turn(workerOf(n), 1), text("a", workerOf(n))]);
  log.append([tree("crew")]);
  log.close();
  return file;
};

it("rows that are wrong, missing, or of nobody are put right while others write", async () => {
  const file = long();
  const log = newLog({ file });
  const db = new SQLite(file);
  db.exec(`
    UPDATE p_workers SET restarts = 7, turns = 9;
    DELETE FROM p_turns WHERE worker_id < '${workerOf(20)}';
    DELETE FROM p_workers WHERE id = '${workerOf(5)}';
    INSERT INTO p_trees VALUES ('nobody', '/x', 1);
    UPDATE p_trees SET file = '/other' WHERE name = 'crew';
    INSERT INTO p_turns (worker_id, incarnation, turn, started_at) VALUES ('nobody', 1, 1, '');
  `);
  db.close();
  expect(log.check().ok).toBe(false);
  let isOver = false;
  const rebuilding = log.rebuildAside().finally(() => {
    isOver = true;
  });
  let said = 1;
  for (let n = 0; !isOver; n = (n + 1) % (3 * MEND_SLICE_STREAMS)) {
    log.append([turn(workerOf(n), ++said), text("b", workerOf(n))]);
    await new Promise(setImmediate);
  }
  expect((await rebuilding).records).toBeGreaterThan(900);
  expect(log.check()).toMatchObject({ ok: true, findings: [] });
  expect(log.trees()).toEqual([{ name: "crew", file: "/crew.yaml" }]);
  expect(log.worker(workerOf(5))).toMatchObject({ restarts: 0 });
});

it("records that come meanwhile are folded a page a turn, before a slice is put right", async () => {
  const file = long();
  const flooded = newLog({ file });
  const db = new SQLite(file);
  db.exec("UPDATE p_workers SET turns = 9");
  const into = `${file}.folded`;
  const folded = foldInto(file, into);
  const PAGES = 6;
  for (let n = 0; n < PAGES * READ_PAGE_RECORDS; n += 100)
    flooded.append(Array.from({ length: 100 }, (_, i) => turn(workerOf(n % MEND_SLICE_STREAMS), n + i + 2)));
  // Records that one turn of the event loop reads of the log.
  const read: number[] = [];
  db.function("seen", () => {
    read[read.length - 1]! += 1;
    return 1;
  });
  db.exec("CREATE TEMP VIEW records AS SELECT * FROM main.records WHERE seen() = 1");
  const lend = () => {
    read.push(0);
    return db;
  };
  await mend(lend, into, folded);
  db.close();
  expect(Math.max(...read)).toBeLessThanOrEqual(READ_PAGE_RECORDS);
  expect(read.reduce((sum, n) => sum + n)).toBeGreaterThanOrEqual(PAGES * READ_PAGE_RECORDS);
  expect(flooded.check()).toMatchObject({ ok: true, findings: [] });
});

it("a log whose tables are right is not written to", async () => {
  const file = long();
  const log = newLog({ file });
  const other = new SQLite(file, { readonly: true });
  // Counts what other connections have committed.
  const version = () => other.pragma("data_version", { simple: true });
  const before = version();
  await log.rebuildAside();
  expect(version()).toBe(before);
  log.append([text("a")]);
  expect(version()).not.toBe(before);
  other.close();
});
