/** Files that are there for a moment, and stay where their process was killed in it. Nobody reads them again. */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/** The room that was tried (`room.ts`), and the log folded anew (`agent db rebuild`). */
const LEFT = /^(?:daemon\.room\.\d+|holdfast\.db\.folded)$/;

/** Under the lock: of who only tries the room meanwhile a name is removed, and no room. */
export const removeLeftovers = (stateDir: string): void => {
  for (const entry of readdirSync(stateDir, { withFileTypes: true }))
    if (entry.isFile() && LEFT.test(entry.name)) rmSync(join(stateDir, entry.name), { force: true });
};
