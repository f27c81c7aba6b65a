/** Temporary files that stay behind if their process is killed. They are never read again. */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/** Files of the test for space (`disk-room.ts`) and of a rebuilt log (`agent db rebuild`). */
const LEFT = /^(?:daemon\.room\.\d+|holdfast\.db\.folded)$/;

/**
 * Called under the lock. A process that is testing for space at this time loses only the name of its file,
 * not its result.
 */
export const removeLeftovers = (stateDir: string): void => {
  for (const entry of readdirSync(stateDir, { withFileTypes: true }))
    if (entry.isFile() && LEFT.test(entry.name)) rmSync(join(stateDir, entry.name), { force: true });
};
