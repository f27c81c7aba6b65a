/**
 * Removes empty directories that an agent's CLI leaves in its working directory when it is stopped during a
 * command. They are removed at the end of the run, except directories that existed before
 * its start, that are not empty, or that another living run of the store may leave.
 */
import { existsSync, lstatSync, rmdirSync } from "node:fs";
import type { RunId } from "../spawner.ts";
import { livingRuns } from "./living.ts";
import { readRunFile, runDirectory } from "./run-directory.ts";

export interface Litter {
  /** Absolute paths of directories that the CLI may leave. */
  readonly paths: readonly string[];
  /** The paths that existed before the start and belong to somebody. */
  readonly owned: readonly string[];
}

/** A directory that already exists as litter of another living run does not count as owned. */
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

/** Never rejects: a path that cannot be read or removed stays. */
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
    // No descriptors left.
  }
};

const isDirectory = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

const removeEmpty = (path: string): void => {
  try {
    rmdirSync(path);
  } catch {
    // Not empty, or gone.
  }
};
