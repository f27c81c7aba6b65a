/**
 * Keeps an open log on its file (promise R24). While something is wrong with the file nothing is acknowledged; what the
 * open connection has is the truth, and is put back where that overwrites nothing:
 *
 * - its -wal or -shm was deleted: what is in the open one is moved into the database, which is opened anew;
 * - the database was deleted: it is written back from the open connection (`write-back.ts`);
 * - another file is in its place: nobody but a person can say which of the two is wanted.
 *
 * It also empties a write-ahead log that has grown while a reader of another process held it.
 */
import { existsSync, statSync } from "node:fs";
import { crashPoint } from "../base/crash-point.ts";
import { STORE_BUSY_OPEN_MS, WAL_KEPT_BYTES, WAL_MAX_BYTES } from "../base/limits.ts";
import { HoldfastError } from "../protocol/errors.ts";
import type { Attached } from "./attached.ts";
import { storeError } from "./failure.ts";
import type { OpenOptions } from "./open-options.ts";
import { copyWhole, forgetCopy, putBack } from "./write-back.ts";

export interface Keeper {
  /** The connection of all reads and writes. Throws STORE_FAILED while the file cannot be opened again. */
  at(): Attached;
  /** Throws why nothing can be acknowledged now. `output` alone waits where the write-ahead log is too large. */
  allow(isOutput: boolean): void;
  /** Called on the tick: looks at the files, and puts back what it can. */
  look(): void;
  /** Whether the files are not those that are open. */
  isMisplaced(): boolean;
  /** It was opened on a full disk, by this connection alone. */
  isAlone(): boolean;
  reopen(): void;
  /** The failure that stands now. */
  trouble(): HoldfastError | undefined;
  wrote(outcome: HoldfastError | undefined): void;
  close(): void;
}

const WAL = { kept_bytes: WAL_KEPT_BYTES, max_bytes: WAL_MAX_BYTES };

const closed = (): HoldfastError => new HoldfastError("STORE_FAILED", "The event log is closed.");

export const makeKeeper = ({ file, wal = WAL }: OpenOptions, attach: () => Attached): Keeper => {
  let attached: Attached | undefined = attach();
  let over = false;
  let copying = false;
  /** Failures of the file, and of the last write. */
  let misplaced: HoldfastError | undefined;
  let refused: HoldfastError | undefined;
  let lastRefused: HoldfastError | undefined;
  let walBytes = 0;

  const failure = (sentence: string, suggestion: string): HoldfastError =>
    new HoldfastError("STORE_FAILED", sentence, { suggestion });

  const problemOf = (presence: ReturnType<Attached["presence"]>): HoldfastError | undefined => {
    switch (presence) {
      case "there":
        return undefined;
      case "replaced":
        return failure(
          `Another file is at ${file}: the daemon has the one open that was there before, and records nothing.`,
          `Move the other file away, and the daemon writes its own back; or restart the daemon to go on with the other one.`,
        );
      case "deleted":
        return failure(
          `The event log ${file} was deleted; nothing is recorded until it is written back from memory of the open file.`,
          "Wait a moment; if it stays so, free some space in the state directory and see `agent doctor`.",
        );
      case "wal_deleted":
        return failure(
          `The write-ahead log of ${file} was deleted; nothing is recorded until the database is opened anew.`,
          "Wait a moment; if it stays so, close other programs that have holdfast.db open.",
        );
    }
  };

  const openAgain = (): void => {
    attached?.db.close();
    attached = undefined;
    crashPoint("reopen");
    try {
      if (!existsSync(file))
        throw failure(`The event log ${file} was deleted.`, "Bring it back from a backup.");
      attached = attach();
      misplaced = undefined;
    } catch (cause) {
      misplaced = storeError(cause); // the next look tries again
    }
  };

  const writeBack = async (): Promise<void> => {
    if (copying || attached === undefined) return;
    copying = true;
    try {
      await copyWhole(attached.db, file);
      // Whoever moved it away has moved it back: it is the open one, and has all that the copy has.
      if (attached.presence() === "there") forgetCopy(file);
      else if (!over) {
        putBack(file);
        openAgain();
      }
    } catch (cause) {
      if (!over) misplaced = storeError(cause);
    } finally {
      copying = false;
    }
  };

  /** True when all of the write-ahead log is in the database. */
  const emptyWal = ({ db }: Attached): boolean => {
    db.pragma("busy_timeout = 0"); // who holds it may do so for hours
    try {
      const [outcome] = db.pragma("wal_checkpoint(TRUNCATE)") as { busy: number }[];
      return outcome?.busy === 0;
    } finally {
      db.pragma(`busy_timeout = ${STORE_BUSY_OPEN_MS}`);
    }
  };

  const judge = ({ presence }: Attached): ReturnType<Attached["presence"]> => {
    const found = presence();
    const problem = problemOf(found);
    // A write-back that failed has said why, and that stands for as long as it is needed.
    misplaced = found === "deleted" ? (misplaced ?? problem) : problem;
    return found;
  };

  const putRight = (present: Attached): void => {
    switch (judge(present)) {
      case "deleted":
        void writeBack();
        return;
      case "wal_deleted":
        if (emptyWal(present)) openAgain();
        return;
      case "there":
        walBytes = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
        if (walBytes > wal.kept_bytes && emptyWal(present)) walBytes = 0;
        tryAgain(present);
    }
  };

  /** If nobody has offered anything since the last look, the log asks itself whether it can be written again. */
  const tryAgain = ({ db }: Attached): void => {
    const isStale = refused !== undefined && refused === lastRefused;
    lastRefused = refused;
    if (!isStale || refused?.code === "STORE_CORRUPT") return;
    db.exec("UPDATE meta SET value = value WHERE key = 'head'");
    refused = undefined;
  };

  const look = (): void => {
    if (over || copying) return;
    if (attached === undefined) openAgain();
    else putRight(attached);
  };

  return {
    at: () => {
      if (attached === undefined) throw over ? closed() : (misplaced ?? closed());
      return attached;
    },
    allow: (isOutput) => {
      if (over) throw closed();
      if (!isOutput && !copying && attached !== undefined) judge(attached);
      if (misplaced !== undefined) throw misplaced;
      if (isOutput && walBytes > wal.max_bytes)
        throw new HoldfastError(
          "LOCK_HELD",
          `Another process reads an old state of ${file}, and its write-ahead log has ${walBytes} bytes: output waits.`,
          { suggestion: "Close the program that has holdfast.db open; what waits is recorded then." },
        );
    },
    look: () => {
      try {
        look();
      } catch (cause) {
        refused = storeError(cause);
      }
    },
    isMisplaced: () => !copying && attached !== undefined && attached.presence() !== "there",
    isAlone: () => attached?.isAlone === true,
    reopen: openAgain,
    trouble: () => misplaced ?? refused,
    wrote: (outcome) => {
      refused = outcome;
    },
    close: () => {
      over = true;
      attached?.db.close();
    },
  };
};
