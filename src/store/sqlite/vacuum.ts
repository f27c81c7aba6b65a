/**
 * Writes a database anew without its free pages, and so that later ones go back to the disk by themselves (`auto_vacuum`). For a
 * log of which no daemon runs: it takes as long as the log is, and SQLite does all of it or, on a full disk, nothing.
 */
import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import { HoldfastError } from "../../protocol/errors.ts";
import { openDatabase } from "./database.ts";
import { guarded } from "./failure.ts";

/** Answers the bytes that the disk has got back. Throws DISK_FULL, and has changed nothing then, where two copies do not fit. */
export const vacuumFile = guarded((file: string): number => {
  process.env.SQLITE_TMPDIR = dirname(file); // not on another, smaller disk
  const db = openDatabase(file);
  const number = (pragma: string): number => db.pragma(pragma, { simple: true }) as number;
  try {
    const [pages, free, size] = [number("page_count"), number("freelist_count"), number("page_size")];
    const needed = 2 * (pages - free) * size; // the copy, and the write-ahead log that brings it back
    const { bavail, bsize } = statfsSync(dirname(file));
    if (bavail * bsize < needed)
      throw new HoldfastError(
        "DISK_FULL",
        `To write ${file} anew needs ${needed} bytes of free disk, and there are ${bavail * bsize}: nothing was changed.`,
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
