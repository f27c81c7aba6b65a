/**
 * Access to a state directory: only its owner may read it (architecture §5). Used at a start and by the
 * doctor.
 */
import { chmodSync, lstatSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

export interface ExposedFile {
  readonly path: string;
  /** `open`: its mode lets others in, and can be corrected. `foreign`: it belongs to another user. */
  readonly how: "open" | "foreign";
  readonly mode: number;
}

/** Checks the directory and its direct entries. Files below `runs` are protected by that directory. */
export const exposedIn = (stateDir: string): readonly ExposedFile[] => {
  const uid = process.getuid?.();
  const names = readdirSync(stateDir).filter((name) =>
    /^(holdfast\.db|daemon\.|agent\.sock|notifications\.|cluster\.|runs$|cas$|archive)/.test(name),
  );
  return [stateDir, ...names.map((name) => join(stateDir, name))].flatMap((path): ExposedFile[] => {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined || stats.isSymbolicLink()) return [];
    const mode = stats.mode & 0o777;
    if (uid !== undefined && stats.uid !== uid) return [{ path, how: "foreign", mode }];
    return (mode & 0o077) === 0 ? [] : [{ path, how: "open", mode }];
  });
};

/**
 * Removes the access of others to our files, and returns those that were open. A file system without modes
 * does not change.
 */
export const closeToOthers = (stateDir: string): readonly ExposedFile[] => {
  const exposed = exposedIn(stateDir).filter(({ how }) => how === "open");
  for (const { path, mode } of exposed) chmodSync(path, mode & 0o700);
  return exposed;
};

/** Whether other users can reach the socket: neither its directory nor its own mode keeps them out. */
export const isOpenToOthers = (socket: string): boolean =>
  [dirname(socket), socket].every((path) => {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats !== undefined && (stats.mode & 0o077) !== 0;
  });
