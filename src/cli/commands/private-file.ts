/** A new file that its owner alone may read, for what is shown to nobody else. */
import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { HoldfastError } from "../../protocol/errors.ts";
import { invalid } from "../parse.ts";

/** Whole and on the disk when it returns. `flag` named the file; a file that is there already is refused in the words of `command`. */
export const writePrivate = (
  path: string,
  content: Uint8Array,
  { flag, command }: { readonly flag: string; readonly command: string },
): void => {
  try {
    const file = openSync(path, "wx", 0o600);
    try {
      writeSync(file, content);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "EEXIST") throw invalid([`${flag} ${path} is there already`], command);
    throw new HoldfastError("PERMISSION_DENIED", `${path} cannot be written: ${code ?? String(cause)}.`, {
      cause,
      suggestion: `Name another file with ${flag}.`,
      phase: "validation",
    });
  }
};
