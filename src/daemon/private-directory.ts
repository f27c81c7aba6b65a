/** Directories that only their owner may enter: the state directory, and the short one for sockets under /tmp. */
import { chmodSync, existsSync, lstatSync, mkdirSync, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import { HoldfastError } from "../protocol/errors.ts";

const denied = (path: string, why: string, cause?: unknown): HoldfastError =>
  new HoldfastError("PERMISSION_DENIED", `The directory ${path} ${why}.`, { cause });

/** undefined when `path` is a directory of our own; else what is wrong with it. */
const fault = (stats: Stats): string | undefined => {
  if (!stats.isDirectory()) return "is not a directory";
  if (process.getuid !== undefined && stats.uid !== process.getuid()) return "belongs to another user";
  return undefined;
};

/** As `mkdir -p`. Node's own never returns where a directory is refused with ENOENT and its parent is there, as below /proc. */
const makeDirectories = (path: string): void => {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "EEXIST") return;
    if (code !== "ENOENT" || existsSync(dirname(path))) throw cause;
    makeDirectories(dirname(path));
    makeDirectories(path);
  }
};

/** Create `path` with mode 0700, or take an own one and close it to others. Fails with PERMISSION_DENIED. */
export const ensurePrivateDirectory = (path: string): void => {
  try {
    makeDirectories(path);
    const stats = statSync(path);
    const why = fault(stats);
    if (why !== undefined) throw denied(path, why);
    if ((stats.mode & 0o077) !== 0) chmodSync(path, 0o700);
  } catch (cause) {
    if (cause instanceof HoldfastError) throw cause;
    throw denied(path, `cannot be used: ${(cause as Error).message}`, cause);
  }
};

/**
 * Refuse a directory that somebody else made, or a link: under /tmp anybody may take a name first, and what answers
 * behind it would be given prompts and variables. A missing directory is fine; nothing can listen there.
 */
export const refuseForeignDirectory = (path: string): void => {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  const why = stats === undefined ? undefined : fault(stats);
  if (why !== undefined) throw denied(path, why);
};
