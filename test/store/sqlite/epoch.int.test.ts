/** The witness beside a database, and what a log that was put back from a backup makes of it. */
import { copyFileSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import SQLite from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { openLog } from "../../../src/store/sqlite/log.ts";
import { checkFile, lookAtFile } from "../../../src/store/sqlite/offline.ts";
import { putBack } from "../../../src/store/sqlite/write-back.ts";
import type { Store } from "../../../src/store/upkeep.ts";
import { newFile, newLog, requested, text, V } from "./support.ts";

const witnessOf = (file: string) => JSON.parse(readFileSync(`${file}.witness`, "utf8"));

/** A closed log of three records, of which there is a copy, and four after that. */
const restorable = () => {
  const file = newFile();
  const first = openLog({ file });
  first.append([requested(), text("a"), text("b")]);
  first.close();
  copyFileSync(file, `${file}.backup`);
  const second = openLog({ file });
  second.append([text("c"), text("d"), text("e"), requested(V)]);
  second.close();
  return { file, epoch: second.epoch };
};

/** In place, as `cp` does it: the file is the same one. */
const restore = (file: string): void => {
  for (const beside of ["-wal", "-shm"]) rmSync(`${file}${beside}`, { force: true });
  writeFileSync(file, readFileSync(`${file}.backup`));
};

const begun = (log: Store) => log.former.map(({ why, up_to, lost }) => ({ why, up_to, lost }));

describe("the witness", () => {
  it("is private, and names the newest lifecycle record that is durable, on the tick and at the end", () => {
    const file = newFile();
    const log = openLog({ file });
    const [record] = log.append([requested()]);
    expect(witnessOf(file)).toMatchObject({ seq: 0, id: null });
    log.look();
    expect(witnessOf(file)).toMatchObject({
      epoch: log.epoch,
      store_id: log.store_id,
      seq: 1,
      id: record?.id,
    });
    expect(statSync(`${file}.witness`).mode & 0o777).toBe(0o600);
    log.append([text("only output: a power loss may take it")]);
    log.close();
    expect(witnessOf(file)).toMatchObject({ seq: 1 });
  });

  it("is written only where there is something new, and not by who only inspects", () => {
    const file = newFile();
    const log = openLog({ file });
    log.append([requested()]);
    log.look();
    rmSync(`${file}.witness`);
    log.look();
    log.close();
    openLog({ file, inspect: true }).close();
    expect(existsSync(`${file}.witness`)).toBe(false);
  });

  it("that is damaged or gone says nothing, and is made anew", () => {
    const { file, epoch } = restorable();
    writeFileSync(`${file}.witness`, "half of i");
    expect(newLog({ file })).toMatchObject({ epoch, former: [] });
    expect(witnessOf(file)).toMatchObject({ epoch });
  });
});

describe("an older copy that is put back", () => {
  it("begins a new epoch, once, and says what is gone", () => {
    const { file, epoch } = restorable();
    restore(file);
    expect(lookAtFile(file).notes).toEqual([
      "An older copy of the event log was put back: 4 records after 3, at least, are gone. The next daemon begins a new epoch.",
    ]);
    const log = openLog({ file });
    expect(begun(log)).toEqual([{ why: "older", up_to: 3, lost: 4 }]);
    expect(log.epoch).not.toBe(epoch);
    const again = log.epoch;
    log.close();
    const next = newLog({ file });
    expect(next.epoch).toBe(again);
    expect(begun(next)).toHaveLength(1);
    expect(checkFile(file)).toMatchObject({ ok: true, notes: [expect.stringMatching(/4 records after 3/)] });
  });

  it("is told, too, where the daemon died before the witness knew of the new epoch", () => {
    const { file } = restorable();
    const before = readFileSync(`${file}.witness`);
    restore(file);
    const log = openLog({ file });
    log.close();
    writeFileSync(`${file}.witness`, before);
    const next = openLog({ file });
    next.close();
    const last = newLog({ file });
    expect([next.epoch, last.epoch]).toEqual([log.epoch, log.epoch]);
  });

  it("is another log where the database was made anew", () => {
    const { file } = restorable();
    rmSync(file);
    expect(begun(newLog({ file }))).toEqual([{ why: "other", up_to: 0, lost: 7 }]);
  });

  it("that has all is told apart: nothing is lost, and cursors stay good", () => {
    const { file, epoch } = restorable();
    copyFileSync(file, `${file}.whole`);
    rmSync(file);
    copyFileSync(`${file}.whole`, file);
    const log = newLog({ file });
    // If the file system tells no birth time, it passes for the same file, which does no harm either.
    if (log.epoch !== epoch) expect(begun(log)).toEqual([{ why: "copied", up_to: 7, lost: 0 }]);
  });
});

it("a database that was deleted while it was open, and written back, is the same log", async () => {
  const { file, epoch } = restorable();
  const log = openLog({ file });
  for (const beside of ["", "-wal", "-shm"]) rmSync(`${file}${beside}`, { force: true });
  for (log.look(); log.trouble() !== undefined; log.look()) await new Promise(setImmediate);
  log.append([requested(V)]);
  log.close();
  expect(newLog({ file })).toMatchObject({ epoch, former: [] });
});

it.each([
  ["before the copy has the database's name", () => undefined],
  ["before the witness knows the new file", putBack],
])("a database that is written back is the same log, where the daemon dies %s", (_, goesOn) => {
  const { file, epoch } = restorable();
  copyFileSync(file, `${file}.written-back`);
  for (const beside of ["", "-wal", "-shm"]) rmSync(`${file}${beside}`, { force: true });
  goesOn(file);
  const log = newLog({ file });
  expect(log).toMatchObject({ epoch, former: [] });
  expect(log.head()).toBe(7);
});

it("a log that is put back while the daemon cannot open its own is not taken for it", () => {
  const { file } = restorable();
  let opens = 0;
  const log = newLog({
    file,
    database: (db) => {
      if (++opens !== 2) return db;
      db.close();
      throw new SQLite.SqliteError("injected", "SQLITE_CANTOPEN");
    },
  });
  for (const beside of ["-wal", "-shm"]) rmSync(`${file}${beside}`);
  log.look();
  restore(file);
  log.look();
  expect(opens).toBe(3);
  expect(log.trouble()).toMatchObject({
    code: "STORE_FAILED",
    message: expect.stringContaining(
      "The daemon had another log open. An older copy of the event log was put back",
    ),
  });
  expect(() => log.append([requested(V)])).toThrow("The daemon had another log open.");
});
