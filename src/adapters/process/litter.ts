/**
 * Empty directories that an agent's CLI leaves where it works, if it is stopped in a command (agent-clis.md §6). They are removed at
 * the end of its run: none that was there before its start, that has something in it, or where another run of the same store that
 * may leave such a one still works.
 */
import { existsSync, lstatSync, rmdirSync } from "node:fs";
import type { RunId } from "../spawner.ts";
import { livingRuns } from "./living.ts";
import { readRunFile, runDirectory } from "./run-directory.ts";

export interface Litter {
  /** Absolute paths of directories that it may leave. */
  readonly paths: readonly string[];
  /** Those of them that were there before its start, and are somebody's. */
  readonly owned: readonly string[];
}

/** A directory that lies there already as the litter of a run that still works is nobody's. */
export const litterAt = (
  paths: readonly string[],
  others: Iterable<{ readonly litter?: Litter | undefined }>,
  made: readonly string[] = [],
): Litter => {
  const littered = new Set(
    [...others].flatMap(({ litter }) => litter?.paths.filter((path) => !litter.owned.includes(path)) ?? []),
  );
  return {
    paths,
    owned: paths.filter((path) => existsSync(path) && !littered.has(path) && !made.includes(path)),
  };
};

/** Never rejects: what cannot be looked at, or may not be removed, stays. */
export const removeLitter = async (
  { runsDir, storeId }: { readonly runsDir: string; readonly storeId: string },
  { worker_id, incarnation }: RunId,
  { paths, owned }: Litter,
): Promise<void> => {
  try {
    const left = paths.filter((path) => !owned.includes(path) && isDirectory(path));
    if (left.length === 0) return;
    const others = (await livingRuns(storeId)).filter(
      (run) => run.worker_id !== worker_id || run.incarnation !== incarnation,
    );
    const taken = others.flatMap((run) => readRunFile(runDirectory(runsDir, run))?.litter?.paths ?? []);
    for (const path of left) if (!taken.includes(path)) removeEmpty(path);
  } catch {
    // Out of descriptors.
  }
};

const isDirectory = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

const removeEmpty = (path: string): void => {
  try {
    rmdirSync(path);
  } catch {
    // There is something in it, or it is gone.
  }
};
