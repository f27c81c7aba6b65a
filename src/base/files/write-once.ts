/** Writes a file that nobody writes twice: its name appears with the whole text, or not at all. */
import { linkSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { crashPoint } from "../crash-point.ts";
import { syncPath } from "./sync-path.ts";

/** False if the file is there. `draft`: an end of a name that no other writer has; a kill may leave `PATH.DRAFT` behind. */
export const writeOnce = (path: string, text: string, draft: string): boolean => {
  const next = `${path}.${draft}`;
  writeFileSync(next, text, { mode: 0o600, flag: "wx", flush: true });
  try {
    linkSync(next, path);
    syncPath(dirname(path));
    crashPoint("weblisk-step");
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
    return false;
  } finally {
    rmSync(next, { force: true });
  }
};
