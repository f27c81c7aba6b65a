/** Projection rows that somebody has edited (promise R25): the doctor tells them, and the next open makes them anew. */
import { copyFileSync } from "node:fs";
import SQLite from "better-sqlite3";
import { expect, it } from "vitest";
import { BOOT_LOOK } from "../../../src/base/limits.ts";
import { editedStreams } from "../../../src/store/sqlite/edited.ts";
import { openLog } from "../../../src/store/sqlite/log.ts";
import { editedInFile } from "../../../src/store/sqlite/offline.ts";
import { clock, draft, newFile, requested, text, V, W } from "./support.ts";

const original = (): string => {
  const file = newFile();
  const log = openLog({ file });
  for (const worker of [W, V]) {
    log.append([requested(worker), draft("worker_started", { clock }, { worker }), text("one", worker)]);
    log.append([draft("turn_started", { turn: 1 }, { worker }), text("two", worker)]);
  }
  log.close();
  return file;
};

const edited = (sql: string): string => {
  const file = newFile();
  copyFileSync(original(), file);
  const db = new SQLite(file);
  db.exec(sql);
  db.close();
  return file;
};

const EDITS = [
  "UPDATE p_workers SET restarts = 99, cost_usd = 12345, state = 'completed'",
  `DELETE FROM p_workers WHERE id = '${W}'`,
  "UPDATE p_turns SET started_at = '2020-01-01T00:00:00.000Z'",
  `INSERT INTO p_labels VALUES ('${V}', 'team', 'red')`,
];

it("rows that are as the records say are told by nobody", () => {
  const said: string[] = [];
  const file = edited("");
  expect(editedInFile(file)).toEqual([]);
  openLog({ file, report: (sentence) => said.push(sentence) }).close();
  expect(said).toEqual([]);
});

it.each(EDITS)("is found beside a daemon, and made anew when the log is opened: %s", (sql) => {
  const file = edited(sql);
  expect(editedInFile(file).length).toBeGreaterThan(0);
  const said: string[] = [];
  const log = openLog({ file, report: (sentence) => said.push(sentence) });
  expect(said).toEqual([expect.stringMatching(/^The projected rows of worker:.* rebuilt from the log\.$/)]);
  expect(log.check()).toMatchObject({ ok: true });
  expect(log.workers()).toMatchObject([
    { id: W, restarts: 0 },
    { id: V, restarts: 0 },
  ]);
  expect(log.worker(W)?.state).not.toBe("completed");
  log.close();
  expect(editedInFile(file)).toEqual([]);
});

/** More workers than a look folds, and more records of one. */
const many = (): { readonly file: string; readonly first: string; readonly long: string } => {
  const file = newFile();
  const log = openLog({ file });
  const idOf = (n: number) => W.slice(0, -3) + String(n).padStart(3, "0");
  const workers = Array.from({ length: BOOT_LOOK.streams + 2 }, (_, n) => idOf(n));
  const long = workers.at(-1) as string;
  for (const worker of workers) {
    log.append([requested(worker), draft("worker_started", { clock }, { worker })]);
    if (worker !== workers[0] && worker !== long)
      log.append([draft("worker_ended", { state: "completed", reason: "done" }, { worker })]);
  }
  log.append(
    Array.from({ length: BOOT_LOOK.stream_records }, () =>
      draft("worker_started", { clock }, { worker: long }),
    ),
  );
  log.close();
  return { file, first: workers[0] as string, long };
};

it.each<[string, (found: ReturnType<typeof many>) => string]>([
  ["a deleted row of an old worker", ({ first }) => `DELETE FROM p_workers WHERE id = '${first}'`],
  [
    "an old worker that is called ended",
    ({ first }) => `UPDATE p_workers SET state = 'completed' WHERE id = '${first}'`,
  ],
  ["a deleted row of a worker with many records", ({ long }) => `DELETE FROM p_workers WHERE id = '${long}'`],
  ["an ended worker that is called living", () => "UPDATE p_workers SET state = 'running'"],
])("who lives is compared for every worker, however old and however long its story: %s", (_, sql) => {
  const found = many();
  const db = new SQLite(found.file);
  db.exec(sql(found));
  db.close();
  expect(editedInFile(found.file).length).toBeGreaterThan(0);
  const said: string[] = [];
  const log = openLog({ file: found.file, report: (sentence) => said.push(sentence) });
  expect(said).toEqual([expect.stringMatching(/rebuilt from the log\.$/)]);
  expect(log.living().map(({ id }) => id)).toEqual([found.first, found.long]);
  log.close();
});

it("no more is folded than its limits allow", () => {
  const db = new SQLite(edited("UPDATE p_workers SET restarts = 99"));
  const limits = { streams: 10, records: 100, stream_records: 10 };
  expect(editedStreams(db, limits)).toHaveLength(2);
  expect(editedStreams(db, { ...limits, records: 1 })).toHaveLength(1);
  expect(editedStreams(db, { ...limits, stream_records: 2 })).toEqual([]);
  expect(editedStreams(db, { ...limits, streams: 0 })).toEqual([]);
  db.close();
});

it("a log with a damaged record is opened as before, and its rows stay", () => {
  const file = edited(
    `${EDITS[0]} WHERE id = '${W}'; UPDATE records SET payload = payload || ' ' WHERE stream = 'worker:${V}' AND type = 'turn_started'`,
  );
  const said: string[] = [];
  const log = openLog({ file, report: (sentence) => said.push(sentence) });
  expect(said).toEqual([expect.stringMatching(/^The projections were not rebuilt: /)]);
  expect(log.worker(W)?.restarts).toBe(99);
  log.close();
});
