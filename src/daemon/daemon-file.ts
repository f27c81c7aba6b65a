/**
 * `daemon.json`: who holds a state directory, for people, for the loser of a start and for a client that compares
 * versions. It informs; the lock decides. Written after the lock is won and removed before it is given back.
 */
import { rmSync } from "node:fs";
import {
  currentPlace,
  identityOf,
  isAlive as isProcessAlive,
  livenessOf,
  readStat,
} from "../adapters/process/identity.ts";
import { readRegular } from "../base/files/regular-file.ts";
import { replaceFile } from "../base/files/replace-file.ts";
import type { ProcessIdentity } from "../protocol/records.ts";
import { daemonFilePath } from "./paths.ts";

export interface DaemonFile {
  readonly pid: number;
  readonly version: string;
  readonly socket: string;
  /** RFC 3339, UTC. */
  readonly started_at: string;
  /** Its process, which no recycled pid is; missing where the machine has no /proc. */
  readonly identity?: ProcessIdentity | undefined;
  /** How it was started: Node and the daemon's program. */
  readonly command?: readonly string[];
}

/** undefined when there is none, or it is not readable as one. */
export const readDaemonFile = (stateDir: string): DaemonFile | undefined => {
  try {
    const value = JSON.parse(readRegular(daemonFilePath(stateDir))?.toString("utf8") ?? "") as DaemonFile;
    return Number.isSafeInteger(value.pid) && typeof value.version === "string" ? value : undefined;
  } catch {
    return undefined;
  }
};

/** By rename, so that a reader sees the old file or the new one, never half. */
export const writeDaemonFile = (stateDir: string, value: DaemonFile): void => {
  replaceFile(daemonFilePath(stateDir), `${JSON.stringify(value)}\n`);
};

export const removeDaemonFile = (stateDir: string): void => rmSync(daemonFilePath(stateDir), { force: true });

/** This very process. */
export const ownIdentity = (): ProcessIdentity | undefined => {
  try {
    return identityOf(process.pid, readStat(process.pid)!.start_time, currentPlace());
  } catch {
    return undefined;
  }
};

/** Whether the daemon that a file names still lives. */
export const isHolderAlive = ({ pid, identity }: DaemonFile): boolean =>
  identity === undefined ? isAlive(pid) : isProcessAlive(identity);

/** A program that embeds the runtime serves no socket: no client reaches it. */
export const isEmbedding = ({ socket }: DaemonFile): boolean => socket === "";

/** The next step where such a program holds the state directory. */
export const AFTER_EMBEDDING =
  "Use that program; or close it, and then: agent daemon start. Or choose another --state-dir or HOLDFAST_HOME.";

/** The holder of a state directory, in words. */
export const holderWords = (holder: DaemonFile): string =>
  isEmbedding(holder)
    ? `A program that embeds Holdfast, pid ${holder.pid} (version ${holder.version}),`
    : `The daemon with pid ${holder.pid} (version ${holder.version})`;

/** By SIGSTOP, or by a debugger: it answers nothing and loses nothing. */
export const isHolderStopped = ({ identity }: DaemonFile): boolean =>
  identity !== undefined && livenessOf(identity) === "stopped";

/** True also when the process is not ours to signal. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === "EPERM";
  }
};
