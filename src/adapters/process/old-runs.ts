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
      if (!(await isOld(dir, nowMs)) || isInUse(worker, incarnation)) continue;
      await rm(dir, { recursive: true, force: true });
      removed += 1;
    }
  }
  return removed;
};

/** The end of a run changes its file `exit`, which may be there from the beginning: then the directory stays as old as the start. */
const isOld = async (dir: string, nowMs: number): Promise<boolean> => {
  const made = await changedAt(dir);
  if (made === undefined || nowMs - made < RUNS_KEPT_MS) return false;
  const ended = await changedAt(join(dir, "exit"));
  return ended === undefined || nowMs - ended >= RUNS_KEPT_MS;
};

/** Undefined if it is not there. */
const changedAt = (path: string): Promise<number | undefined> =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined,
  );

const namesIn = (dir: string): Promise<string[]> => readdir(dir).catch(() => []);
