/** Records that a log holds while its disk is full (promise R24): it is said at once, durable as far as the reserve goes, and recorded once. */
import { readFileSync, statSync, writeFileSync } from "node:fs";
import SQLite, { type Database } from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { HELD_OUTPUT_MAX_BYTES, TEXT_MAX_BYTES, TRANSACTION_MAX_RECORDS } from "../../../src/base/limits.ts";
import type { RecordDraft } from "../../../src/protocol/records.ts";
import { openLog } from "../../../src/store/sqlite/log.ts";
import type { LogOptions } from "../../../src/store/sqlite/open-options.ts";
import type { Store } from "../../../src/store/upkeep.ts";
import { makeFaults } from "./failing-database.ts";
import { codeOf, draft, newFile, newLog, requested, text, V, W } from "./support.ts";

/** Fails as a full disk does: at the commit, and not before. */
const makeFullDisk = () => {
  let code: string | undefined;
  const database = (db: Database): Database => {
    const { transaction } = db;
    return Object.assign(db, {
      transaction: (body: (...args: unknown[]) => unknown) =>
        transaction.call(db, (...args: unknown[]) => {
          const isOutermost = code !== undefined && !isOpen;
          const result = body(...args);
          if (isOutermost) throw new SQLite.SqliteError("database or disk is full", code as string);
          return result;
        }),
      exec: (sql: string) => {
        if (/^BEGIN/.test(sql)) isOpen = true;
        if (/^ROLLBACK/.test(sql)) isOpen = false;
        return SQLite.prototype.exec.call(db, sql);
      },
    });
  };
  let isOpen = false;
  return {
    database,
    full: (how = "SQLITE_FULL") => {
      code = how;
    },
    free: () => {
      code = undefined;
    },
  };
};

const STOP: readonly RecordDraft[] = [
  draft("worker_cancel_requested", {
    by: "user",
    reason: "killed",
    tombstone: true,
    grace_ms: 0,
    signal: "SIGTERM",
  }),
  draft("worker_ended", { state: "cancelled", reason: "killed" }),
];
const holds = { holds: true };
const LEFT_OUT = draft("worker_log_chunk", {
  stream: "stdout",
  truncated: true,
  reason: "stopped",
  bytes: 1,
  limit_bytes: 1,
});
/** Tried at once, whatever the disk of this machine has. */
const ROOM: Partial<LogOptions> = { freeBytes: () => Number.MAX_SAFE_INTEGER };

const types = (log: Store): readonly string[] => log.read(0, 100).records.map(({ type }) => type);

describe("a stop on a full disk", () => {
  it.each(["SQLITE_FULL", "SQLITE_IOERR_WRITE"])(
    "is taken and every row says it, and it is a record when there is room (%s)",
    async (fault) => {
      const disk = makeFullDisk();
      const log = newLog({ database: disk.database, ...ROOM });
      log.append([requested()]);
      const heads: number[] = [];
      log.onCommit(({ head }) => heads.push(head));
      disk.full(fault);
      await log.commit(STOP, holds);
      expect(log.worker(W)).toMatchObject({ state: "cancelled", tombstone: true });
      expect(log.living()).toEqual([]);
      expect(log.held()).toBe(1);
      // Nobody reads it as a record before it is one.
      expect([log.head(), heads]).toEqual([1, []]);
      expect(types(log)).toEqual(["worker_spawn_requested"]);
      expect(codeOf(() => log.append([requested(V)]))).toBe(
        fault === "SQLITE_FULL" ? "DISK_FULL" : "STORE_FAILED",
      );
      expect(log.worker(W)).toMatchObject({ state: "cancelled" });
      expect(log.worker(V)).toBeUndefined();
      log.look();
      expect(log.trouble()).toBeDefined();
      disk.free();
      log.look();
      expect(log.trouble()).toBeUndefined();
      expect(log.held()).toBe(0);
      log.append([requested(V)]);
      const recorded = ["worker_spawn_requested", "worker_cancel_requested", "worker_ended"];
      expect(types(log)).toEqual([...recorded, "worker_spawn_requested"]);
      expect(heads).toEqual([3, 4]);
      expect(log.check()).toMatchObject({ ok: true });
    },
  );

  it("comes before all that is recorded after it", () => {
    const disk = makeFullDisk();
    const log = newLog({ database: disk.database, ...ROOM });
    log.append([requested()]);
    disk.full();
    log.append(STOP, holds);
    disk.free();
    log.append([requested(V)]);
    expect(types(log).slice(1, 3)).toEqual(STOP.map(({ type }) => type));
  });

  it("is held where nothing of the database answers, and said when it does", () => {
    const faults = makeFaults();
    const log = newLog({ database: faults.database, ...ROOM });
    log.append([requested()]);
    faults.failAlways("SQLITE_FULL");
    log.append(STOP, holds);
    faults.failAlways(undefined);
    log.look();
    expect(log.worker(W)).toMatchObject({ state: "cancelled" });
    expect(log.check()).toMatchObject({ ok: true, records: 3 });
  });

  it("goes before what agents print: of much of that only how much it was is held", () => {
    const disk = makeFullDisk();
    const log = newLog({ database: disk.database, ...ROOM });
    log.append([requested()]);
    disk.full();
    const lines = Array.from({ length: TRANSACTION_MAX_RECORDS }, () => text("x".repeat(TEXT_MAX_BYTES)));
    const printed = { ...holds, instead: LEFT_OUT };
    for (let bytes = 0; bytes <= HELD_OUTPUT_MAX_BYTES; bytes += lines.length * TEXT_MAX_BYTES)
      log.append(lines, printed);
    expect(log.append(lines, printed).map(({ type }) => type)).toEqual(["worker_log_chunk"]);
    expect(log.append(STOP, holds)).toHaveLength(STOP.length);
    expect(log.worker(W)).toMatchObject({ state: "cancelled" });
  });

  it("is refused where it does not say that it holds", () => {
    const disk = makeFullDisk();
    const log = newLog({ database: disk.database, ...ROOM });
    disk.full();
    expect(codeOf(() => log.append([requested()]))).toBe("DISK_FULL");
    expect(log.held()).toBe(0);
  });
});

describe("the reserve", () => {
  it("is made where there is room, with all its blocks, and not where there is little", () => {
    const little = newFile();
    newLog({ file: little, freeBytes: () => 1_000_000 }).look();
    expect(statSync(`${little}.reserve`, { throwIfNoEntry: false })).toBeUndefined();
    const file = newFile();
    newLog({ file, reserve_bytes: 65_536 }).look();
    const { size, blocks, mode } = statSync(`${file}.reserve`);
    expect([size, mode & 0o777]).toEqual([65_536, 0o600]);
    expect(blocks * 512).toBeGreaterThanOrEqual(size);
  });

  it("gives the next daemon the stops that this one could not record, each once", () => {
    const disk = makeFullDisk();
    const file = newFile();
    const options = { file, database: disk.database, reserve_bytes: 65_536, ...ROOM };
    const log = openLog(options);
    log.append([requested(), requested(V)]);
    log.look();
    disk.full();
    log.append(STOP, holds);
    log.append([draft("worker_ended", { state: "cancelled", reason: "killed" }, { worker: V })], holds);
    // Its spool has it, too.
    log.append([text("printed")], { ...holds, instead: LEFT_OUT });
    log.close();
    // Still full: the rows say it.
    const next = openLog(options);
    expect([next.worker(W)?.state, next.worker(V)?.state, next.held()]).toEqual([
      "cancelled",
      "cancelled",
      2,
    ]);
    next.close();
    disk.free();
    const last = openLog(options);
    expect(last.held()).toBe(0);
    expect(types(last).slice(2)).toEqual([...STOP.map(({ type }) => type), "worker_ended"]);
    expect(last.check()).toMatchObject({ ok: true });
    last.close();
    const again = openLog(options);
    expect(again.head()).toBe(5);
    again.close();
  });

  it("that was not cleared before a crash, or is of another log, adds nothing", () => {
    const disk = makeFullDisk();
    const file = newFile();
    const options = { file, database: disk.database, reserve_bytes: 65_536, ...ROOM };
    const log = openLog(options);
    log.append([requested()]);
    log.look();
    disk.full();
    log.append(STOP, holds);
    const kept = readFileSync(`${file}.reserve`);
    disk.free();
    log.close();
    writeFileSync(`${file}.reserve`, kept);
    const again = openLog(options);
    expect([again.head(), again.held(), again.check().ok]).toEqual([3, 0, true]);
    again.close();
    const other = newFile();
    writeFileSync(`${other}.reserve`, kept);
    expect(newLog({ ...options, file: other }).head()).toBe(0);
  });

  it("that is spent keeps nothing more, and everything is held all the same", () => {
    const disk = makeFullDisk();
    const file = newFile();
    const log = newLog({ file, database: disk.database, reserve_bytes: 1_024, ...ROOM });
    log.append([requested()]);
    log.look();
    disk.full();
    const before = readFileSync(`${file}.reserve`).length;
    for (let n = 0; n < 20; n += 1)
      log.append([draft("worker_signal_sent", { signal: "SIGTERM", pids: [n], reason: "stop" })], holds);
    log.append(STOP, holds);
    expect(readFileSync(`${file}.reserve`).length).toBe(before);
    expect(log.worker(W)).toMatchObject({ state: "cancelled" });
    disk.free();
    log.look();
    expect(log.head()).toBe(23);
    expect(log.check()).toMatchObject({ ok: true });
  });
});
