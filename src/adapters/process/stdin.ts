/**
 * The input of an agent. A prompt is a plain file that ends. An open stdin is a file that grows: a pump
 * process of the run copies it into the agent's FIFO, so that it outlives the daemon (architecture §5,
 * stdin).
 */
import { appendFileSync, closeSync, existsSync, readSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  APPEND,
  NotRegularError,
  openRegular,
  READ,
  REPLACE,
  sizeOfRegular,
} from "../../base/files/regular-file.ts";
import { RUN_POLL_MS, STDIN_READ_MAX_BYTES } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { ProcessIdentity } from "../../protocol/records.ts";
import type { StdinPlan } from "../adapter.ts";
import { isAlive, readProc, signalProcess } from "./identity.ts";
import { FILE_MODE } from "./run-directory.ts";

const inputFile = (dir: string): string => join(dir, "stdin");
/** Exists once EOF was requested, so that the next daemon continues with it. */
const eofFile = (dir: string): string => join(dir, "stdin.eof");

/**
 * Makes the input file and returns the path that the launcher reads. With an open stdin the launcher reads
 * nothing itself.
 */
export const makeStdin = (dir: string, plan: StdinPlan): string => {
  if (plan.kind !== "empty") writeFileSync(inputFile(dir), plan.text, { mode: FILE_MODE, flag: "wx" });
  return plan.kind === "text" ? inputFile(dir) : "/dev/null";
};

export const isEofAsked = (dir: string): boolean => existsSync(eofFile(dir));

const assertOpen = (dir: string, kind: StdinPlan["kind"]): void => {
  if (kind !== "open" || isEofAsked(dir))
    throw new HoldfastError("STDIN_CLOSED", "The agent's stdin is not open.");
};

/** The length of the input file. */
export const stdinBytes = (dir: string): number => sizeOfRegular(inputFile(dir));

/** At most one message is in the file beyond the log. */
export const stdinFrom = (dir: string, offset: number): Uint8Array => {
  const fd = openRegular(inputFile(dir), READ);
  try {
    const unread = Math.max(0, sizeOfRegular(inputFile(dir)) - offset);
    const bytes = Buffer.alloc(Math.min(unread, STDIN_READ_MAX_BYTES));
    return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, offset));
  } finally {
    closeSync(fd);
  }
};

/** One append. After an error a part of the bytes may be in the file. */
export const appendStdin = (dir: string, kind: StdinPlan["kind"], bytes: string | Uint8Array): void => {
  assertOpen(dir, kind);
  const fd = openInput(dir);
  try {
    appendFileSync(fd, bytes);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    throw new HoldfastError(
      code === "ENOSPC" || code === "EDQUOT" ? "DISK_FULL" : "INTERNAL",
      "The message could not be written to the agent's stdin.",
      { cause },
    );
  } finally {
    closeSync(fd);
  }
};

export const askEof = (dir: string, kind: StdinPlan["kind"]): void => {
  if (kind === "open" && isEofAsked(dir)) return;
  assertOpen(dir, kind);
  if (existsSync(eofFile(dir))) return;
  closeSync(openRegular(eofFile(dir), REPLACE, FILE_MODE));
};

/** If the agent replaced the file, it gets no more input. */
const openInput = (dir: string): number => {
  try {
    return openRegular(inputFile(dir), APPEND, FILE_MODE);
  } catch (cause) {
    if (!(cause instanceof NotRegularError)) throw cause;
    throw new HoldfastError("STDIN_CLOSED", "The agent's stdin file was replaced by something else.", {
      cause,
    });
  }
};

/** Bytes that a process has written (proc_pid_io(5)); undefined if the kernel does not count them. */
const bytesWritten = (pid: number): number | undefined => {
  const count = /^wchar: (\d+)$/m.exec(readProc(`/proc/${pid}/io`).toString("latin1"))?.[1];
  return count === undefined ? undefined : Number(count);
};

/**
 * Ends the pump once it has written all of the input. The agent may read slowly (a FIFO holds 64 KB), so this
 * waits as long as pump and agent live.
 */
export const endPump = async (dir: string, pump: ProcessIdentity, agent: ProcessIdentity): Promise<void> => {
  // The same process wrote the file `pump` before it became the pump (launcher.ts).
  const before = sizeOfRegular(join(dir, "pump"));
  for (let wait = 1; isAlive(pump) && isAlive(agent); wait = Math.min(wait * 2, RUN_POLL_MS)) {
    const written = bytesWritten(pump.pid);
    if (written === undefined || written - before >= sizeOfRegular(inputFile(dir))) break;
    await sleep(wait);
  }
  signalProcess(pump, "SIGKILL");
};
