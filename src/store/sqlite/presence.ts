/**
 * Checks whether the open files of a log are still those at their paths: people delete and replace files under a running
 * daemon. The open file stays the truth. SQLite itself does not check, and whoever opened the path again would see another
 * log.
 */
import { statSync } from "node:fs";

/** `wal_deleted`: the database is in its place, but its -wal or -shm is missing. */
export type Presence = "there" | "wal_deleted" | "deleted" | "replaced";

/** While a file is open, no other file gets its inode number. */
const identityOf = (path: string): string | undefined => {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats && `${stats.dev}:${stats.ino}`;
};

/** Call this right after the database was opened. The returned function tells how its files are found now. */
export const presenceOf = (file: string): (() => Presence) => {
  const beside = [`${file}-wal`, `${file}-shm`];
  const opened = identityOf(file);
  const openedBeside = beside.map(identityOf);
  return () => {
    const found = identityOf(file);
    if (found === undefined) return "deleted";
    if (found !== opened) return "replaced";
    return beside.every((path, at) => identityOf(path) === openedBeside[at]) ? "there" : "wal_deleted";
  };
};
