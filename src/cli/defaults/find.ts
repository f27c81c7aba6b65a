/** Finds the files of defaults: the user's in the state directory, and the repository's, upwards from a directory as git does. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { REPOSITORY_LEVELS_MAX } from "../../base/limits.ts";

const REPOSITORY_FILE = join(".holdfast", "config.yaml");

const upwards = function* (from: string): Generator<string> {
  let directory = from;
  for (let level = 0; level < REPOSITORY_LEVELS_MAX; level++) {
    yield directory;
    const above = dirname(directory);
    if (above === directory) return;
    directory = above;
  }
};

/** The top of the repository or worktree around a directory: the nearest one that holds `.git`. */
const repositoryAround = (from: string): string | undefined => {
  for (const directory of upwards(from)) if (existsSync(join(directory, ".git"))) return directory;
  return undefined;
};

/** The nearest file between a directory and the top of its repository; undefined without one, and outside a repository. */
export const findRepositoryFile = (from: string): string | undefined => {
  const top = repositoryAround(from);
  if (top === undefined) return undefined;
  for (const directory of upwards(from)) {
    const file = join(directory, REPOSITORY_FILE);
    if (existsSync(file)) return file;
    if (directory === top) break;
  }
  return undefined;
};

/** The repository's file, or the place where one would be written; undefined outside a repository. */
export const repositoryFilePlace = (from: string): string | undefined => {
  const top = repositoryAround(from);
  return top === undefined ? undefined : (findRepositoryFile(from) ?? join(top, REPOSITORY_FILE));
};
