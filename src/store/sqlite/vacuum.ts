/**
 * Rewrites a database without its free pages, and so that later free pages go back to the disk (`auto_vacuum`). Only for a
 * log without a running daemon: it takes time in proportion to the log. SQLite does all of it or, on a full disk, nothing.
 */
import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import { HoldfastError } from "../../protocol/errors.ts";
import { openDatabase } from "./database.ts";
import { guarded } from "./failure.ts";

/**
 * Vacuums a file and returns the freed bytes. Throws DISK_FULL, without a change, if the disk has no room for two copies.
 */
export const vacuumFile = guarded((file: string): number => {
  process.env.SQLITE_TMPDIR = dirname(file); // not on another, smaller disk
  const db = openDatabase(file);
  const number = (pragma: string): number => db.pragma(pragma, { simple: true }) as number;
  try {
    const [pages, free, size] = [number("page_count"), number("freelist_count"), number("page_size")];
    const needed = 2 * (pages - free) * size; // the copy, and the write-ahead log that copies it back
    const { bavail, bsize } = statfsSync(dirname(file));
    if (bavail * bsize < needed)
      throw new HoldfastError(
        "DISK_FULL",
        `Rewriting ${file} needs ${needed} bytes of free disk space, but there are ${bavail * bsize}: nothing was changed.`,
        { suggestion: "Free some space; until then new records use the free pages." },
      );
    db.pragma("auto_vacuum = INCREMENTAL");
    db.exec("VACUUM");
    db.pragma("wal_checkpoint(TRUNCATE)");
    return (pages - number("page_count")) * size;
  } finally {
    db.close();
  }
});
