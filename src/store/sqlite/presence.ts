/**
 * Whether the files that a log has open are still those at their paths: people delete and replace files under a running
 * daemon. The open file stays the truth, and SQLite itself does not look; whoever opened the path anew would see another log.
 */
import { statSync } from "node:fs";

/** `wal_deleted`: the database is in its place, and its -wal or -shm is not. */
export type Presence = "there" | "wal_deleted" | "deleted" | "replaced";

/** While a file is open its inode number is nobody else's. */
const identityOf = (path: string): string | undefined => {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats && `${stats.dev}:${stats.ino}`;
};

/** Called right after the database was opened; answers how its files are found now. */
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
