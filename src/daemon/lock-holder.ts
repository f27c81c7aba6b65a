/**
 * Asks the kernel for the holder of a state directory's lock, if a client finds no daemon by its socket or by
 * `daemon.json`. The light client loads this file, so it must not load SQLite. On systems other than Linux,
 * and from another pid namespace, the holder is unknown.
 */
import { readdirSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { statAt } from "../base/files/regular-file.ts";
import { HoldfastError } from "../protocol/errors.ts";
import { textAt } from "./machine-files.ts";
import { daemonLogPath } from "./paths.ts";

/**
 * The processes in /proc/locks with a write lock on a file with this inode. Device numbers are ignored,
 * because on some systems they differ from those of stat(2).
 */
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

/**
 * SUPERVISOR_DOWN if a process holds the state directory but does not answer: a daemon that starts or hangs.
 */
export const silentHolder = (stateDir: string): HoldfastError | undefined => {
  const held_by = lockHolder(stateDir);
  return held_by === undefined
    ? undefined
    : new HoldfastError(
        "SUPERVISOR_DOWN",
        `Process ${held_by} holds the state directory ${stateDir}, and no daemon answers there.`,
        {
          suggestion: `It may be starting: ${daemonLogPath(stateDir)} shows its progress. If this persists: kill -9 ${held_by} && agent daemon start, which takes the agents over.`,
          details: { held_by },
        },
      );
};
