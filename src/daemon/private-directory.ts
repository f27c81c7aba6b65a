/**
 * Directories that only their owner may enter: the state directory, and the short one for sockets below /tmp.
 */
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import { HoldfastError } from "../protocol/errors.ts";

const denied = (path: string, why: string, cause?: unknown): HoldfastError =>
  new HoldfastError("PERMISSION_DENIED", `The directory ${path} ${why}.`, { cause });

/** Undefined if `path` is a directory of our own, else what is wrong with it. */
const fault = (stats: Stats): string | undefined => {
  if (!stats.isDirectory()) return "is not a directory";
  if (process.getuid !== undefined && stats.uid !== process.getuid()) return "belongs to another user";
  return undefined;
};

/**
 * Like `mkdir -p`. Node's own version never returns if the directory is refused with ENOENT although its
 * parent exists, as below /proc.
 */
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

/**
 * Names of files that Holdfast keeps in a state directory or a directory of sockets. A `config.yaml` may
 * exist before all others.
 */
const OURS =
  /^(holdfast\.(?!ya?ml$).*|daemon\.[a-z0-9.-]+|\.doctor-\d+|agent\.sock|[0-9a-f]{16}\.sock|runs|cas|worktrees|\.weblisk|archive.*|config\.yaml)$/;

/** Whether Holdfast made the directory or it is only for Holdfast: no other files are in it. */
const isOurs = (path: string): boolean => {
  const names = readdirSync(path);
  return names.includes("holdfast.db") || names.every((name) => OURS.test(name));
};

const open = (path: string, mode: number): HoldfastError =>
  new HoldfastError(
    "PERMISSION_DENIED",
    `The directory ${path} lets others in (mode ${(mode & 0o777).toString(8)}) and holds files that are not Holdfast's.`,
    {
      suggestion: `Name a directory of its own as state directory; or close this one yourself: chmod 700 ${path}`,
    },
  );

/**
 * Creates `path` with mode 0700, or accepts an existing directory of our own. If others may enter it, it is
 * closed to them only if it is Holdfast's: closing somebody's working directory would lock out the programs
 * that read it. Fails with PERMISSION_DENIED.
 */
export const ensurePrivateDirectory = (path: string): void => {
  try {
    makeDirectories(path);
    const stats = statSync(path);
    const why = fault(stats);
    if (why !== undefined) throw denied(path, why);
    if ((stats.mode & 0o077) === 0) return;
    if (!isOurs(path)) throw open(path, stats.mode);
    chmodSync(path, 0o700);
  } catch (cause) {
    if (cause instanceof HoldfastError) throw cause;
    throw denied(path, `cannot be used: ${(cause as Error).message}`, cause);
  }
};

/**
 * Refuses a directory of another user, and a link. Below /tmp anybody may take a name first, and a program
 * that answers there would receive prompts and variables. A missing directory is fine, because nothing can
 * listen there.
 */
export const refuseForeignDirectory = (path: string): void => {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  const why = stats === undefined ? undefined : fault(stats);
  if (why !== undefined) throw denied(path, why);
};
