/** The real place of a directory. */
import { realpathSync } from "node:fs";

/** The path without links; undefined if nothing is there. */
export const realPath = (dir: string): string | undefined => {
  try {
    return realpathSync(dir);
  } catch {
    return undefined;
  }
};
