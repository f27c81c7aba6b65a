/**
 * `daemon.json`: the process that holds a state directory, for people, for a daemon that lost the race to
 * start, and for clients that compare versions. It is only information, because the lock decides. It is
 * written after the lock is taken and removed before it is released.
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
  /** The identity of the process, which a recycled pid does not match; absent on a machine without /proc. */
  readonly identity?: ProcessIdentity | undefined;
  /** The command of the process: Node and the daemon's program. */
  readonly command?: readonly string[];
  /** A program that embeds the runtime and serves its socket. */
  readonly program?: true;
}

/** Undefined if there is no readable file. */
export const readDaemonFile = (stateDir: string): DaemonFile | undefined => {
  try {
    const value = JSON.parse(readRegular(daemonFilePath(stateDir))?.toString("utf8") ?? "") as DaemonFile;
    return Number.isSafeInteger(value.pid) && typeof value.version === "string" ? value : undefined;
  } catch {
    return undefined;
  }
};

/** Replaces the file by a rename, so that a reader never sees half of it. */
export const writeDaemonFile = (stateDir: string, value: DaemonFile): void => {
  replaceFile(daemonFilePath(stateDir), `${JSON.stringify(value)}\n`);
};

export const removeDaemonFile = (stateDir: string): void => rmSync(daemonFilePath(stateDir), { force: true });

/** The identity of this process. */
export const ownIdentity = (): ProcessIdentity | undefined => {
  try {
    return identityOf(process.pid, readStat(process.pid)!.start_time, currentPlace());
  } catch {
    return undefined;
  }
};

/** Whether the daemon that the file names still lives. */
export const isHolderAlive = ({ pid, identity }: DaemonFile): boolean =>
  identity === undefined ? isAlive(pid) : isProcessAlive(identity);

/** A program that embeds the runtime has no socket, so clients cannot reach it. */
export const isEmbedding = ({ socket }: DaemonFile): boolean => socket === "";

/** The next step if such a program holds the state directory. */
export const AFTER_EMBEDDING =
  "Use that program; or close it, and then: agent daemon start. Or choose another --state-dir or HOLDFAST_HOME.";

/** The next step of the loser of a race for the state directory. Undefined: that of any daemon. */
export const afterHolder = (holder: DaemonFile): string | undefined =>
  isEmbedding(holder)
    ? AFTER_EMBEDDING
    : holder.program && "Use it, as the agent command does, by Runtime.connect or Runtime.openOrConnect.";

/** The holder of a state directory, for sentences. */
export const holderWords = (holder: DaemonFile): string =>
  isEmbedding(holder) || holder.program
    ? `A program that embeds Holdfast, pid ${holder.pid} (version ${holder.version}),`
    : `The daemon with pid ${holder.pid} (version ${holder.version})`;

/** Stopped by SIGSTOP or a debugger: it answers nothing, but loses nothing. */
export const isHolderStopped = ({ identity }: DaemonFile): boolean =>
  identity !== undefined && livenessOf(identity) === "stopped";

/** True also for a process that we may not signal. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === "EPERM";
  }
};
