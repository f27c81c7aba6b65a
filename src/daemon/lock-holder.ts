/**
 * The holder of the lock of a state directory, as the kernel says: for a client that finds no daemon by its socket nor by `daemon.json`.
 * Loaded by the light client: no SQLite. If the kernel does not tell (not Linux, another pid namespace) nobody is known.
 */
import { readdirSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { statAt } from "../base/files/regular-file.ts";
import { HoldfastError } from "../protocol/errors.ts";
import { textAt } from "./machine-files.ts";
import { daemonLogPath } from "./paths.ts";

/** The processes in /proc/locks that lock a file of this inode to write it. Device numbers there are not those of stat(2) everywhere. */
export const writersOf = (locks: string, inode: number): readonly number[] => {
  const lines = locks.matchAll(/^\d+: POSIX +\w+ +WRITE (\d+) [0-9a-f]+:[0-9a-f]+:(\d+) /gm);
  return [...new Set([...lines].filter(([, , of]) => Number(of) === inode).map(([, pid]) => Number(pid)))];
};

const hasOpen = (pid: number, { dev, ino }: Stats): boolean => {
  const directory = `/proc/${pid}/fd`;
  try {
    return readdirSync(directory).some((fd) => {
      const open = statSync(join(directory, fd), { throwIfNoEntry: false });
      return open?.dev === dev && open.ino === ino;
    });
  } catch {
    return false;
  }
};

/** The pid of the process that holds the state directory. */
export const lockHolder = (stateDir: string): number | undefined => {
  const lock = statAt(join(stateDir, "daemon.lock"));
  return lock && writersOf(textAt("/proc/locks") ?? "", lock.ino).find((pid) => hasOpen(pid, lock));
};

/** SUPERVISOR_DOWN, where somebody holds the state directory and answers nobody: a daemon that starts, or one that hangs. */
export const silentHolder = (stateDir: string): HoldfastError | undefined => {
  const held_by = lockHolder(stateDir);
  return held_by === undefined
    ? undefined
    : new HoldfastError(
        "SUPERVISOR_DOWN",
        `Process ${held_by} holds the state directory ${stateDir}, and no daemon answers there.`,
        {
          suggestion: `It may be starting: ${daemonLogPath(stateDir)} says what it does. If it stays so: kill -9 ${held_by} && agent daemon start, which takes the agents over.`,
          details: { held_by },
        },
      );
};
