/**
 * Keeps an open log on its file (promise R24). While something is wrong with the file, nothing is acknowledged. The content
 * of the open connection is the truth, and is put back if that overwrites nothing:
 *
 * - its -wal or -shm was deleted: the content of the open one is moved into the database, which is opened again;
 * - the database was deleted: it is written back from the open connection (`write-back.ts`);
 * - another file is in its place: only a person can say which of the two is wanted.
 *
 * It also empties a write-ahead log that grew while a reader in another process held it.
 */
import { existsSync, statSync } from "node:fs";
import { crashPoint } from "../../base/crash-point.ts";
import { STORE_BUSY_OPEN_MS, WAL_KEPT_BYTES, WAL_MAX_BYTES } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { AttachedLog } from "./attached.ts";
import { storeError } from "./failure.ts";
import type { LogOptions } from "./open-options.ts";
import type { Presence } from "./presence.ts";
import { copyWhole, forgetCopy, putBack } from "./write-back.ts";

const WAL = { kept_bytes: WAL_KEPT_BYTES, max_bytes: WAL_MAX_BYTES };

const closed = (): HoldfastError => new HoldfastError("STORE_FAILED", "The event log is closed.");

const failure = (sentence: string, suggestion: string): HoldfastError =>
  new HoldfastError("STORE_FAILED", sentence, { suggestion });

const problemOf = (file: string, presence: Presence): HoldfastError | undefined => {
  switch (presence) {
    case "there":
      return undefined;
    case "replaced":
      return failure(
        `Another file is at ${file}: the daemon still has the earlier one open, and records nothing.`,
        `Move the other file away, and the daemon writes its own back; or restart the daemon to go on with the other one.`,
      );
    case "deleted":
      return failure(
        `The event log ${file} was deleted; nothing is recorded until it is written back from the open file.`,
        "Wait a moment; if it stays so, free some space in the state directory and see `agent doctor`.",
      );
    case "wal_deleted":
      return failure(
        `The write-ahead log of ${file} was deleted; nothing is recorded until the database is opened again.`,
        "Wait a moment; if it stays so, close other programs that have holdfast.db open.",
      );
  }
};

/** Moves the write-ahead log into the database. True if all of it is there. */
const emptyWal = ({ db }: AttachedLog): boolean => {
  db.pragma("busy_timeout = 0"); // another process may hold it for hours
  try {
    const [outcome] = db.pragma("wal_checkpoint(TRUNCATE)") as { busy: number }[];
    return outcome?.busy === 0;
  } finally {
    db.pragma(`busy_timeout = ${STORE_BUSY_OPEN_MS}`);
  }
};

export class Keeper {
  private readonly file: string;
  private readonly wal: typeof WAL;
  private readonly attach: () => AttachedLog;
  private attached: AttachedLog | undefined;
  private over = false;
  private copying = false;
  /** The failure of the file, and that of the last write. */
  private misplaced: HoldfastError | undefined;
  private refused: HoldfastError | undefined;
  private lastRefused: HoldfastError | undefined;
  private walBytes = 0;

  constructor({ file, wal = WAL }: LogOptions, attach: () => AttachedLog) {
    this.file = file;
    this.wal = wal;
    this.attach = attach;
    this.attached = attach();
  }

  /** The connection of all reads and writes. Throws STORE_FAILED while the file cannot be opened again. */
  readonly at = (): AttachedLog => {
    if (this.attached === undefined) throw this.over ? closed() : (this.misplaced ?? closed());
    return this.attached;
  };

  /** The current failure; undefined if all is well. */
  readonly trouble = (): HoldfastError | undefined => this.misplaced ?? this.refused;

  /**
   * Throws the reason if nothing can be acknowledged now. Output alone also waits while the write-ahead log is too large.
   */
  allow(isOutput: boolean): void {
    if (this.over) throw closed();
    if (!isOutput && !this.copying && this.attached !== undefined) this.judge(this.attached);
    if (this.misplaced !== undefined) throw this.misplaced;
    if (isOutput && this.walBytes > this.wal.max_bytes)
      throw new HoldfastError(
        "LOCK_HELD",
        `Another process reads an old state of ${this.file}, and its write-ahead log has ${this.walBytes} bytes: output waits.`,
        { suggestion: "Close the program that has holdfast.db open; what waits is recorded then." },
      );
  }

  /** Called on the tick: checks the files and repairs what it can. */
  look(): void {
    try {
      if (this.over || this.copying) return;
      if (this.attached === undefined) this.reopen();
      else this.putRight(this.attached);
    } catch (cause) {
      this.refused = storeError(cause);
    }
  }

  /** True if the files at their paths are not the open ones. */
  isMisplaced(): boolean {
    return !this.copying && this.attached !== undefined && this.attached.presence() !== "there";
  }

  /** True if the log was opened on a full disk, by this connection alone. */
  isAlone(): boolean {
    return this.attached?.isAlone === true;
  }

  wrote(outcome: HoldfastError | undefined): void {
    this.refused = outcome;
  }

  reopen(): void {
    this.attached?.db.close();
    this.attached = undefined;
    crashPoint("reopen");
    try {
      if (!existsSync(this.file))
        throw failure(`The event log ${this.file} was deleted.`, "Bring it back from a backup.");
      this.attached = this.attach();
      this.misplaced = undefined;
    } catch (cause) {
      this.misplaced = storeError(cause); // the next look tries again
    }
  }

  close(): void {
    this.over = true;
    this.attached?.db.close();
  }

  private async writeBack(): Promise<void> {
    if (this.copying || this.attached === undefined) return;
    this.copying = true;
    try {
      await copyWhole(this.attached.db, this.file);
      // The open file was moved back to its place: it has everything that the copy has.
      if (this.attached.presence() === "there") forgetCopy(this.file);
      else if (!this.over) {
        putBack(this.file);
        this.reopen();
      }
    } catch (cause) {
      if (!this.over) this.misplaced = storeError(cause);
    } finally {
      this.copying = false;
    }
  }

  private judge({ presence }: AttachedLog): Presence {
    const found = presence();
    const problem = problemOf(this.file, found);
    // A failed write-back has set the reason, which stays until it succeeds.
    this.misplaced = found === "deleted" ? (this.misplaced ?? problem) : problem;
    return found;
  }

  private putRight(present: AttachedLog): void {
    switch (this.judge(present)) {
      case "deleted":
        void this.writeBack();
        return;
      case "wal_deleted":
        if (emptyWal(present)) this.reopen();
        return;
      case "there":
        this.walBytes = statSync(`${this.file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
        if (this.walBytes > this.wal.kept_bytes && emptyWal(present)) this.walBytes = 0;
        this.tryAgain(present);
    }
  }

  /** If nothing was written since the last call, tests whether the log can be written again. */
  private tryAgain({ db }: AttachedLog): void {
    const isStale = this.refused !== undefined && this.refused === this.lastRefused;
    this.lastRefused = this.refused;
    if (!isStale || this.refused?.code === "STORE_CORRUPT") return;
    db.exec("UPDATE meta SET value = value WHERE key = 'head'");
    this.refused = undefined;
  }
}
