/**
 * A small file beside the database that says what this log is known to hold durably. A database that is put back from a
 * backup cannot know that it was longer once; the witness does. It is replaced by rename, and never ahead of the log: where an
 * update of it is lost or cannot be written, it says less, and nothing wrong.
 */
import { statSync } from "node:fs";
import { readRegular } from "../../base/files/regular-file.ts";
import { replaceFile } from "../../base/files/replace-file.ts";

export interface Witness {
  readonly store_id: string;
  readonly epoch: string;
  /** When the database file was made, where the file system tells: a copy is another file. */
  readonly made: string | null;
  /** The newest lifecycle record that is known to be durable; retention never removes it. 0 and null before the first. */
  readonly seq: number;
  readonly id: string | null;
}

const pathOf = (file: string): string => `${file}.witness`;

/** Undefined where there is none that can be read. */
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

/** Before the database is made anew from a copy of all of it: that it is another file then, says nothing. */
export const forgetMade = (file: string): void => {
  const witness = readWitness(file);
  if (witness === undefined || witness.made === null) return;
  try {
    writeWitness(file, { ...witness, made: null });
  } catch {
    // A full disk: the next open may take the database for one that was copied, and nothing is lost by that.
  }
};

/** If a file system keeps no birth time, Node answers zero or the time of the last change. */
export const madeAt = (file: string): string | null => {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats === undefined || stats.birthtimeNs === 0n || stats.birthtimeNs === stats.ctimeNs
    ? null
    : String(stats.birthtimeNs);
};
