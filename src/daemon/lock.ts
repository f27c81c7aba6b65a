/**
 * One daemon per state directory (promise R12): a SQLite file held in BEGIN EXCLUSIVE for life, because Node has no
 * flock. The kernel gives the lock back however the process ends, so there is no stale lock to judge.
 *
 * The file must never be opened a second time in this process: POSIX drops all locks of a process on a file when any
 * of its descriptors on it is closed. Who holds it is therefore told by `daemon.json` beside it.
 */
import { join } from "node:path";
import Database from "better-sqlite3";
import { HoldfastError } from "../protocol/errors.ts";
import { LOCK_HOLDER_WAIT_MS, LOCK_WAIT_MS } from "../protocol/limits.ts";
import {
  type DaemonFile,
  isAlive,
  readDaemonFile,
  removeDaemonFile,
  writeDaemonFile,
} from "./daemon-file.ts";

export interface StateLock {
  /** Remove `daemon.json` and give the lock back. */
  release(): void;
}

/** Win the state directory for `holder`, or fail with LOCK_HELD, naming who has it. Blocks at most LOCK_WAIT_MS + LOCK_HOLDER_WAIT_MS. */
export const acquireLock = (stateDir: string, holder: DaemonFile): StateLock => {
  // Contenders that meet between SQLite's shared and exclusive lock refuse each other; the wait lets one of them win.
  const db = new Database(join(stateDir, "daemon.lock"), { timeout: LOCK_WAIT_MS });
  try {
    db.exec("BEGIN EXCLUSIVE");
  } catch (cause) {
    db.close();
    if (!String((cause as { code?: unknown }).code).startsWith("SQLITE_BUSY")) {
      throw new HoldfastError(
        "STORE_FAILED",
        `The lock of ${stateDir} cannot be taken: ${(cause as Error).message}.`,
        { cause },
      );
    }
    throw heldError(stateDir);
  }
  writeDaemonFile(stateDir, holder);
  return {
    release: () => {
      removeDaemonFile(stateDir);
      db.close();
    },
  };
};

const heldError = (stateDir: string): HoldfastError => {
  const holder = livingHolder(stateDir);
  const who =
    holder === undefined ? "Another daemon" : `The daemon with pid ${holder.pid} (version ${holder.version})`;
  return new HoldfastError("LOCK_HELD", `${who} owns the state directory ${stateDir}.`, {
    details: holder === undefined ? {} : { pid: holder.pid, version: holder.version },
  });
};

/** The winner writes its name right after the lock: for a moment the file may still name a dead one, or be missing. */
const livingHolder = (stateDir: string): DaemonFile | undefined => {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  for (let waited = 0; waited < LOCK_HOLDER_WAIT_MS; waited += 10) {
    const holder = readDaemonFile(stateDir);
    if (holder !== undefined && isAlive(holder.pid)) return holder;
    Atomics.wait(cell, 0, 0, 10);
  }
  return undefined;
};
