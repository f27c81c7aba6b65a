/**
 * Writes a database that was deleted while it was open back from the open connection, which still has all of it. A crash must
 * leave nothing or everything: the copy is written under one name and renamed when it is complete. The old -wal must be gone
 * before the copy gets the database's name, or SQLite would replay it over the copy.
 */
import { chmodSync, closeSync, existsSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import type { Database } from "better-sqlite3";
import { crashPoint } from "../../base/crash-point.ts";
import { statRegular } from "../../base/files/regular-file.ts";
import { syncPath } from "../../base/files/sync-path.ts";
import { WRITE_BACK_STEP_PAGES } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { forgetMade } from "./witness.ts";

const wholeCopyOf = (file: string): string => `${file}.written-back`;

/** Copies the content of the connection, a few pages per turn of the event loop. Nothing may be written by it meanwhile. */
export const copyWhole = async (db: Database, file: string): Promise<void> => {
  const partial = `${wholeCopyOf(file)}.tmp`;
  rmSync(partial, { force: true });
  closeSync(openSync(partial, "wx", 0o600));
  await db.backup(partial, { progress: () => WRITE_BACK_STEP_PAGES });
  chmodSync(partial, 0o600);
  syncPath(partial);
  renameSync(partial, wholeCopyOf(file));
  syncPath(dirname(file));
  crashPoint("write-back-whole");
};

/** Gives a complete copy the database's name if there is one and the name is free. Every open calls this first. */
export const putBack = (file: string): void => {
  const copy = wholeCopyOf(file);
  if (!existsSync(copy)) return;
  if (statRegular(copy) === undefined)
    throw new HoldfastError(
      "STORE_FAILED",
      `${copy} is not a regular file, so it is not a copy of the event log.`,
      {
        suggestion: "Move it away.",
      },
    );
  if (existsSync(file))
    throw new HoldfastError(
      "STORE_FAILED",
      `There are two event logs: ${file}, and ${copy}, which was written back after the first was deleted.`,
      { suggestion: "Move away the one that you do not want; neither is deleted or overwritten." },
    );
  for (const beside of [`${file}-wal`, `${file}-shm`]) rmSync(beside, { force: true });
  forgetMade(file);
  crashPoint("write-back-before-name");
  renameSync(copy, file);
  syncPath(dirname(file));
};

export const forgetCopy = (file: string): void => rmSync(wholeCopyOf(file), { force: true });
