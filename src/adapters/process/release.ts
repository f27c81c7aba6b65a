/**
 * Frees the disk space of ingested output while its run continues: a hole is punched, and every offset stays
 * (processes.md, Bounds). Node cannot do that, so the program `fallocate` of util-linux does it, one call
 * at a time. A machine without it, or a file system without holes, keeps the space; the operator is told
 * once.
 *
 * A release is noted beside the spool first, so that a later reader of the raw spool can tell a hole from
 * output.
 */
import { execFile } from "node:child_process";
import { closeSync, constants, rmSync, writeSync } from "node:fs";
import { crashPoint } from "../../base/crash-point.ts";
import { openRegular, readRegular, statRegular } from "../../base/files/regular-file.ts";
import { RELEASE_MAX_MS, RELEASES_WAITING_MAX } from "../../base/limits.ts";
import { FILE_MODE } from "./run-directory.ts";

/** `uncertain`: it ended midway, and a part of the hole may exist. */
type PunchResult = "released" | "unsupported" | "refused" | "uncertain";

/** Messages of fallocate, its C library, and smaller implementations. */
const UNSUPPORTED = /not supported|unrecognized|invalid option|unknown option|usage:/i;

/** Errors that the kernel may report after it made a part of the hole. */
const MIDWAY = /input\/output error|interrupted/i;

/** Through our own descriptor, because the agent may have replaced the spool by a link to another file. */
const punch = (path: string, from: number, length: number): Promise<PunchResult> => {
  const fd = openRegular(path, constants.O_RDWR);
  return punchOpen(fd, from, length).finally(() => closeSync(fd));
};

const punchOpen = (fd: number, from: number, length: number): Promise<PunchResult> =>
  new Promise((resolve) => {
    execFile(
      "fallocate",
      ["-p", "-o", String(from), "-l", String(length), `/proc/${process.pid}/fd/${fd}`],
      {
        cwd: "/",
        env: { PATH: process.env.PATH, LC_ALL: "C" },
        timeout: RELEASE_MAX_MS,
        killSignal: "SIGKILL",
      },
      (cause, _stdout, stderr) => {
        if (cause === null) resolve("released");
        else if (cause.code === "ENOENT" || UNSUPPORTED.test(stderr)) resolve("unsupported");
        else resolve(cause.signal != null || MIDWAY.test(stderr) ? "uncertain" : "refused");
      },
    );
  });

const noteOf = (spool: string): string => `${spool}.released`;

/**
 * Overwrites the note in place with a fixed length: a full disk needs no space for it, and no reader finds
 * half a number.
 */
const note = (spool: string, below: number): void => {
  const fd = openRegular(noteOf(spool), constants.O_RDWR | constants.O_CREAT, FILE_MODE);
  try {
    writeSync(fd, `${String(below).padStart(20)}\n`, 0);
  } finally {
    closeSync(fd);
  }
};

/** No hole was made after `from`. The note is removed if there is no hole at all. */
const takeBack = (spool: string, from: number): void => {
  if (from === 0) rmSync(noteOf(spool), { force: true });
  else note(spool, from);
};

/**
 * The offset below which a spool has no output any more. Call it after a read to learn whether the bytes are
 * real.
 */
export const releasedBelow = (spool: string): number => {
  try {
    return Number(readRegular(noteOf(spool))?.toString("latin1")) || 0;
  } catch {
    return 0;
  }
};

export class Releaser {
  private readonly report: (message: string) => void;
  private isOff = false;
  private waiting = 0;
  private last: Promise<unknown> = Promise.resolve();

  constructor(report: (message: string) => void) {
    this.report = report;
  }

  /** True if `from` to `below` was released. False changes nothing, and the caller may try again. */
  release(spool: string, from: number, below: number): Promise<boolean> {
    if (this.isOff || this.waiting >= RELEASES_WAITING_MAX) return Promise.resolve(false);
    this.waiting += 1;
    const turn = this.last.then(() => this.releaseNow(spool, from, below)).catch(() => false);
    this.last = turn.finally(() => {
      this.waiting -= 1;
    });
    return turn;
  }

  /** Bytes of a spool on the disk that will stay: not ingested, or not releasable here. */
  held(spool: string, ingested: number): number {
    const { size, blocks } = statRegular(spool) ?? { size: 0, blocks: 0 };
    const onDisk = Math.min(size, blocks * 512);
    return this.isOff ? onDisk : Math.min(onDisk, Math.max(0, size - ingested));
  }

  private async releaseNow(spool: string, from: number, below: number): Promise<boolean> {
    if (this.isOff) return false;
    note(spool, below);
    crashPoint("release-before-punch");
    const punched = await punch(spool, from, below - from);
    if (punched === "unsupported" || punched === "refused") takeBack(spool, from);
    if (punched === "unsupported") {
      this.isOff = true;
      this.report(
        "disk space of output that is already in the log cannot be freed while an agent runs: `agent doctor` says why",
      );
    }
    return punched === "released";
  }
}
