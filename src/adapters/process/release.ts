/**
 * Gives the disk under ingested output back while its run goes on: a hole is punched, and every offset stays (architecture §5,
 * Bounds). Node cannot do that, so the program `fallocate` of util-linux does: one at a time, whoever asks. A machine without
 * it, or a file system without holes, keeps what it has; the operator is told once.
 *
 * A release is noted beside the spool first: who reads a spool raw afterwards can tell a hole from what was written.
 */
import { execFile } from "node:child_process";
import { closeSync, constants, rmSync, writeSync } from "node:fs";
import { crashPoint } from "../../base/crash-point.ts";
import { openRegular, readRegular, statRegular } from "../../base/files/regular-file.ts";
import { RELEASE_MAX_MS, RELEASES_WAITING_MAX } from "../../base/limits.ts";
import { FILE_MODE } from "./run-directory.ts";

/** `uncertain`: it ended in the middle, and a part of the hole may be there. */
type PunchResult = "released" | "unsupported" | "refused" | "uncertain";

/** As fallocate, its C library, or a smaller fallocate says it. */
const UNSUPPORTED = /not supported|unrecognized|invalid option|unknown option|usage:/i;

/** Errors that the kernel may give with a part of the hole made. */
const MIDWAY = /input\/output error|interrupted/i;

/** By our own descriptor: under the spool's name the agent may have put a link to a file that is not its own. */
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

/** In place and always as long: on a full disk it needs no space, and no reader finds half a number. */
const note = (spool: string, below: number): void => {
  const fd = openRegular(noteOf(spool), constants.O_RDWR | constants.O_CREAT, FILE_MODE);
  try {
    writeSync(fd, `${String(below).padStart(20)}\n`, 0);
  } finally {
    closeSync(fd);
  }
};

/** No hole was made after `from`; where there is none at all, no note is left of one. */
const takeBack = (spool: string, from: number): void => {
  if (from === 0) rmSync(noteOf(spool), { force: true });
  else note(spool, from);
};

/** Below this a spool holds nothing any more. Asked after a read, it tells whether what was read can be believed. */
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

  /** True: `from` to `below` is released. False changes nothing: it may be asked for again. */
  release(spool: string, from: number, below: number): Promise<boolean> {
    if (this.isOff || this.waiting >= RELEASES_WAITING_MAX) return Promise.resolve(false);
    this.waiting += 1;
    const turn = this.last.then(() => this.releaseNow(spool, from, below)).catch(() => false);
    this.last = turn.finally(() => {
      this.waiting -= 1;
    });
    return turn;
  }

  /** Bytes of a spool that lie on the disk and will not go as it is read on: not ingested, or not to be released here. */
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
        "the disk space of output that is in the log already is not given back while an agent runs: `agent doctor` says why",
      );
    }
    return punched === "released";
  }
}
