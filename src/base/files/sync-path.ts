/** Puts a file, or the names of a directory, on the disk: what was made, linked or renamed is there after a loss of power. */
import { closeSync, fsyncSync, openSync } from "node:fs";

/** Throws the system's error. */
export const syncPath = (path: string): void => {
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
};
