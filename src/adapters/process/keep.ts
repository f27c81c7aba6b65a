/**
 * Deletes the directories of old incarnations RUNS_KEPT_MS after their end. The launch spec stays, for a
 * restart by name.
 */
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { RUNS_KEPT_MS } from "../../base/limits.ts";

/**
 * Returns the number of removed directories. `isInUse` protects the current incarnation of a worker; it is
 * called only for old directories.
 */
export const removeOldRuns = async (
  runsDir: string,
  isInUse: (workerId: string, incarnation: number) => boolean,
  nowMs: number,
): Promise<number> => {
  let removed = 0;
  for (const worker of await namesIn(runsDir)) {
    for (const name of await namesIn(join(runsDir, worker))) {
      const incarnation = Number(name);
      if (!Number.isInteger(incarnation)) continue;
      const dir = join(runsDir, worker, name);
      const { mtimeMs } = await stat(dir).catch(() => ({ mtimeMs: nowMs }));
      // The rename of the exit file is the last change in a run directory, and updates its time.
      if (nowMs - mtimeMs < RUNS_KEPT_MS || isInUse(worker, incarnation)) continue;
      await rm(dir, { recursive: true, force: true });
      removed += 1;
    }
  }
  return removed;
};

const namesIn = (dir: string): Promise<string[]> => readdir(dir).catch(() => []);
