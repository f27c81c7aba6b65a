/** Raw output is kept for RUNS_KEPT_MS after its incarnation's end, then its directory goes; the launch spec stays for a restart by name. */
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { RUNS_KEPT_MS } from "../../base/limits.ts";

/** Removes what is old and answers how many directories went. `isInUse` protects the incarnation that a worker is in; it is asked about old ones alone. */
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
      // The last thing that happens in it is the exit file's rename, which touches the directory.
      if (nowMs - mtimeMs < RUNS_KEPT_MS || isInUse(worker, incarnation)) continue;
      await rm(dir, { recursive: true, force: true });
      removed += 1;
    }
  }
  return removed;
};

const namesIn = (dir: string): Promise<string[]> => readdir(dir).catch(() => []);
