/**
 * Ensures one daemon per state directory (promise R12): a SQLite file in BEGIN EXCLUSIVE for the daemon's
 * life, because Node has no flock. The kernel releases the lock however the process ends, so a stale lock
 * cannot exist.
 *
 * This process must never open the file a second time: POSIX drops all locks of a process on a file when any
 * of its descriptors on that file is closed. So `daemon.json` beside it names the holder. That file also
 * keeps a second daemon out while the lock file is deleted and its holder has not made it again.
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
  afterHolder,
  type DaemonFile,
  holderWords,
  isHolderAlive,
  readDaemonFile,
  removeDaemonFile,
  writeDaemonFile,
} from "./daemon-file.ts";

export interface StateLock {
  /**
   * Checks that the lock file is still the held one, and otherwise makes and holds a new one. True if that
   * was needed. Throws LOCK_HELD if another daemon has taken the state directory.
   */
  keep(): boolean;
  /** Removes `daemon.json` and releases the lock. */
  release(): void;
}

/**
 * Takes the state directory for `holder`, or fails with LOCK_HELD, which names the holder. Blocks at most
 * LOCK_WAIT_MS + LOCK_HOLDER_WAIT_MS.
 */
export const acquireLock = (stateDir: string, holder: DaemonFile): StateLock => {
  // Contenders that meet between SQLite's shared and exclusive locks refuse each other; the wait lets one of
  // them win.
  const lock = tryLock(stateDir, holder, LOCK_WAIT_MS);
  if (lock === undefined) throw heldError(stateDir, livingHolder(stateDir));
  return lock;
};

/** Undefined if another daemon has the state directory. */
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
        // The other process will lose because of daemon.json, or has already won.
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

/** The file is only information. If a full disk has no space for it, it is written later (`keeping.ts`). */
const tellHolder = (stateDir: string, holder: DaemonFile): void => {
  try {
    writeDaemonFile(stateDir, holder);
  } catch (cause) {
    if (!isFullDisk(cause)) throw cause;
  }
};

/** Undefined if another process holds it. */
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
  // A living daemon that is named in daemon.json repairs its lock itself.
  const spoilt = () => (otherHolder(stateDir) === undefined ? SPOILT : undefined);
  if (statAt(path)?.isDirectory() === true || irregularity(path) !== undefined) return spoilt();
  makePrivate(path);
  const db = new Database(path, { timeout });
  try {
    // A journal file would need disk space, and the disk may be full.
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
 * Replaces a lock file that was overwritten or is not a file. It never holds data. Only one process at a time
 * does this, and checks the file again first, because it may by now be the lock of a process that has
 * repaired it and not yet written its name.
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

/**
 * Without this, SQLite would create the file and its journal with the umask's mode. An existing file is never
 * opened here (see above).
 */
const makePrivate = (path: string): void => {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch {
    // It exists, or cannot be made; then SQLite reports why.
  }
};

const fileId = (path: string): string | undefined => {
  const stats = statAt(path);
  return stats && `${stats.dev}:${stats.ino}`;
};

const heldError = (stateDir: string, holder: DaemonFile | undefined): HoldfastError => {
  const who = holder === undefined ? "Another process" : holderWords(holder);
  const suggestion = holder && afterHolder(holder);
  return new HoldfastError("LOCK_HELD", `${who} owns the state directory ${stateDir}.`, {
    details: holder === undefined ? {} : { pid: holder.pid, version: holder.version },
    ...(suggestion !== undefined && { suggestion }),
  });
};

/**
 * The other living process that daemon.json names. A pid without an identity may have been recycled and
 * proves nothing.
 */
const otherHolder = (stateDir: string): DaemonFile | undefined => {
  const named = readDaemonFile(stateDir);
  const isOther = named?.identity !== undefined && named.pid !== process.pid && isHolderAlive(named);
  return isOther ? named : undefined;
};

/**
 * Waits for the winner's name: right after the lock is taken, the file may be missing or name a dead process.
 */
const livingHolder = (stateDir: string): DaemonFile | undefined => {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  for (let waited = 0; waited < LOCK_HOLDER_WAIT_MS; waited += 10) {
    const holder = readDaemonFile(stateDir);
    if (holder !== undefined && isHolderAlive(holder)) return holder;
    Atomics.wait(cell, 0, 0, 10);
  }
  return undefined;
};
