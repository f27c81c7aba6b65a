/**
 * One daemon per state directory (promise R12): a SQLite file held in BEGIN EXCLUSIVE for life, because Node has no
 * flock. The kernel gives the lock back however the process ends, so there is no stale lock to judge.
 *
 * The file must never be opened a second time in this process: POSIX drops all locks of a process on a file when any
 * of its descriptors on it is closed. So `daemon.json` beside it tells who holds it. It is also what keeps a
 * second daemon out while somebody has deleted the lock file and its holder has not made it again yet.
 */
import { closeSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { crashPoint } from "../base/crash-point.ts";
import { clearName, statAt } from "../base/files/regular-file.ts";
import { LOCK_HOLDER_WAIT_MS, LOCK_WAIT_MS } from "../base/limits.ts";
import { isFullDisk } from "../base/system-errors.ts";
import { HoldfastError } from "../protocol/errors.ts";
import { BESIDE, irregularity } from "../store/sqlite/database.ts";
import {
  AFTER_EMBEDDING,
  type DaemonFile,
  holderWords,
  isEmbedding,
  isHolderAlive,
  readDaemonFile,
  removeDaemonFile,
  writeDaemonFile,
} from "./daemon-file.ts";

export interface StateLock {
  /**
   * Look whether the lock file is still the one that is held, and hold a new one where it is not. True when that was
   * needed. Throws LOCK_HELD when another daemon has won the state directory meanwhile.
   */
  keep(): boolean;
  /** Remove `daemon.json` and give the lock back. */
  release(): void;
}

/** Win the state directory for `holder`, or fail with LOCK_HELD, naming who has it. Blocks at most LOCK_WAIT_MS + LOCK_HOLDER_WAIT_MS. */
export const acquireLock = (stateDir: string, holder: DaemonFile): StateLock => {
  // Contenders that meet between SQLite's shared and exclusive lock refuse each other; the wait lets one of them win.
  const lock = tryLock(stateDir, holder, LOCK_WAIT_MS);
  if (lock === undefined) throw heldError(stateDir, livingHolder(stateDir));
  return lock;
};

/** undefined while another daemon has the state directory. */
export const tryLock = (stateDir: string, holder: DaemonFile, wait_ms: number): StateLock | undefined => {
  const path = join(stateDir, "daemon.lock");
  let db = take(path, stateDir, wait_ms);
  if (db === undefined) return undefined;
  if (otherHolder(stateDir) !== undefined) {
    db.close();
    return undefined;
  }
  crashPoint("lock-before-name");
  tellHolder(stateDir, holder);
  let held = fileId(path);
  let lost = false;
  return {
    keep: () => {
      if (fileId(path) === held) return false;
      const next = take(path, stateDir, 0);
      if (next === undefined) {
        // A contender that will lose to daemon.json, or one that has won already.
        const winner = otherHolder(stateDir);
        if (winner === undefined) return true;
        lost = true;
        throw heldError(stateDir, winner);
      }
      db?.close();
      db = next;
      held = fileId(path);
      return true;
    },
    release: () => {
      if (!lost) removeDaemonFile(stateDir);
      crashPoint("lock-before-release");
      db?.close();
      crashPoint("lock-released");
    },
  };
};

/** It informs, and the lock decides: where a full disk has no room for it, it is made when there is (`keeping.ts`). */
const tellHolder = (stateDir: string, holder: DaemonFile): void => {
  try {
    writeDaemonFile(stateDir, holder);
  } catch (cause) {
    if (!isFullDisk(cause)) throw cause;
  }
};

/** undefined when somebody else holds it. */
const take = (path: string, stateDir: string, timeout: number): Database.Database | undefined => {
  const taken = open(path, stateDir, timeout);
  return taken === SPOILT ? repaired(path, stateDir, timeout) : taken;
};

const SPOILT = "spoilt";

const open = (
  path: string,
  stateDir: string,
  timeout: number,
): Database.Database | undefined | typeof SPOILT => {
  // A living daemon that has its name there makes its lock anew itself.
  const spoilt = () => (otherHolder(stateDir) === undefined ? SPOILT : undefined);
  if (statAt(path)?.isDirectory() === true || irregularity(path) !== undefined) return spoilt();
  makePrivate(path);
  const db = new Database(path, { timeout });
  try {
    // A journal beside it would need a block of the disk, which may be full.
    db.pragma("journal_mode = MEMORY");
    db.exec("BEGIN EXCLUSIVE");
    return db;
  } catch (cause) {
    db.close();
    const code = String((cause as { code?: unknown }).code);
    if (code.startsWith("SQLITE_BUSY")) return undefined;
    if (code === "SQLITE_NOTADB") return spoilt();
    throw new HoldfastError(
      "STORE_FAILED",
      `The lock of ${stateDir} cannot be taken: ${(cause as Error).message}.`,
      { cause },
    );
  }
};

/**
 * Somebody wrote over it, or put something else there. Nothing is ever kept in it, so it is made anew: by one at a time, who looks once more, because the
 * file that is there by now may be the lock of who made it anew before, and has not written its name yet.
 */
const repaired = (path: string, stateDir: string, timeout: number): Database.Database | undefined => {
  const turn = open(`${path}-repair`, stateDir, LOCK_WAIT_MS);
  if (turn === SPOILT)
    throw new HoldfastError("STORE_FAILED", `${path} and ${path}-repair are damaged: remove them.`);
  try {
    const taken = turn && open(path, stateDir, timeout);
    if (taken !== SPOILT) return taken;
    clearName(path);
    for (const suffix of ["", ...BESIDE]) rmSync(`${path}${suffix}`, { recursive: true, force: true });
    const made = open(path, stateDir, timeout);
    return made === SPOILT ? undefined : made;
  } finally {
    turn?.close();
  }
};

/** SQLite would make it with the umask's mode, and its journal like it. A file that is there is never opened here (see above). */
const makePrivate = (path: string): void => {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch {
    // It is there, or cannot be made: SQLite says why.
  }
};

const fileId = (path: string): string | undefined => {
  const stats = statAt(path);
  return stats && `${stats.dev}:${stats.ino}`;
};

const heldError = (stateDir: string, holder: DaemonFile | undefined): HoldfastError => {
  const who = holder === undefined ? "Another process" : holderWords(holder);
  return new HoldfastError("LOCK_HELD", `${who} owns the state directory ${stateDir}.`, {
    details: holder === undefined ? {} : { pid: holder.pid, version: holder.version },
    ...(holder !== undefined && isEmbedding(holder) && { suggestion: AFTER_EMBEDDING }),
  });
};

/** Another process that daemon.json names, if it lives. A pid alone may have been recycled and proves nothing. */
const otherHolder = (stateDir: string): DaemonFile | undefined => {
  const named = readDaemonFile(stateDir);
  const isOther = named?.identity !== undefined && named.pid !== process.pid && isHolderAlive(named);
  return isOther ? named : undefined;
};

/** The winner writes its name right after the lock: for a moment the file may still name a dead one, or be missing. */
const livingHolder = (stateDir: string): DaemonFile | undefined => {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  for (let waited = 0; waited < LOCK_HOLDER_WAIT_MS; waited += 10) {
    const holder = readDaemonFile(stateDir);
    if (holder !== undefined && isHolderAlive(holder)) return holder;
    Atomics.wait(cell, 0, 0, 10);
  }
  return undefined;
};
