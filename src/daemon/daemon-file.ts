/**
 * `daemon.json`: who holds a state directory, for people, for the loser of a start and for a client that compares
 * versions. It informs; the lock decides. Written after the lock is won and removed before it is given back.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { daemonFilePath } from "./paths.ts";

export interface DaemonFile {
  readonly pid: number;
  readonly version: string;
  readonly socket: string;
  /** RFC 3339, UTC. */
  readonly started_at: string;
}

/** undefined when there is none, or it is not readable as one. */
export const readDaemonFile = (stateDir: string): DaemonFile | undefined => {
  try {
    const value = JSON.parse(readFileSync(daemonFilePath(stateDir), "utf8")) as DaemonFile;
    return Number.isSafeInteger(value.pid) && typeof value.version === "string" ? value : undefined;
  } catch {
    return undefined;
  }
};

/** By rename, so that a reader sees the old file or the new one, never half. */
export const writeDaemonFile = (stateDir: string, value: DaemonFile): void => {
  const path = daemonFilePath(stateDir);
  writeFileSync(`${path}.new`, `${JSON.stringify(value)}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
};

export const removeDaemonFile = (stateDir: string): void => rmSync(daemonFilePath(stateDir), { force: true });

/** True also when the process is not ours to signal. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === "EPERM";
  }
};
