/**
 * A small file beside the database that tells what the log is known to hold durably. A database restored from a backup
 * cannot know that it was longer once; the witness does. It is replaced by rename and is never ahead of the log: if an
 * update is lost or cannot be written, it knows less, but nothing wrong.
 */
import { statSync } from "node:fs";
import { readRegular } from "../../base/files/regular-file.ts";
import { replaceFile } from "../../base/files/replace-file.ts";

export interface Witness {
  readonly store_id: string;
  readonly epoch: string;
  /** When the database file was created, if the file system tells: a copy has another time. */
  readonly made: string | null;
  /** The newest lifecycle record known to be durable, which retention never removes. 0 and null before the first. */
  readonly seq: number;
  readonly id: string | null;
}

const pathOf = (file: string): string => `${file}.witness`;

/** Reads the witness; undefined if there is none or it cannot be read. */
export const readWitness = (file: string): Witness | undefined => {
  try {
    const found = JSON.parse(readRegular(pathOf(file))?.toString("utf8") ?? "") as Witness;
    const isWhole =
      typeof found.store_id === "string" &&
      typeof found.epoch === "string" &&
      Number.isSafeInteger(found.seq) &&
      (found.seq === 0 || typeof found.id === "string");
    return isWhole ? found : undefined;
  } catch {
    return undefined;
  }
};

export const writeWitness = (file: string, witness: Witness): void =>
  replaceFile(pathOf(file), `${JSON.stringify(witness)}\n`);

/**
 * Call this before the database is replaced by a complete copy of itself: the change of its creation time then means
 * nothing.
 */
export const forgetMade = (file: string): void => {
  const witness = readWitness(file);
  if (witness === undefined || witness.made === null) return;
  try {
    writeWitness(file, { ...witness, made: null });
  } catch {
    // A full disk: the next open may take the database for a copy, which loses nothing.
  }
};

/** The creation time of a file; null if the file system keeps none (Node gives zero or the time of the last change). */
export const madeAt = (file: string): string | null => {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats === undefined || stats.birthtimeNs === 0n || stats.birthtimeNs === stats.ctimeNs
    ? null
    : String(stats.birthtimeNs);
};
