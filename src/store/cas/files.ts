/** Writes files of artifacts so that a crash or a power loss leaves the whole file or none. */
import { randomBytes } from "node:crypto";
import { closeSync, fstatSync, readFile } from "node:fs";
import { link, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { NotRegularError, openRegular, READ } from "../../base/files/regular-file.ts";
import { CAS_OBJECT_MAX_BYTES } from "../../base/limits.ts";
import { isMissing } from "./failure.ts";

const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;

const syncDirectory = async (path: string): Promise<void> => {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/** Creates a directory and its missing ancestors durably: each new entry is synced in its parent. */
export const makeDirectory = async (path: string): Promise<void> => {
  const first = await mkdir(path, { recursive: true, mode: DIRECTORY_MODE });
  if (first === undefined) return;
  for (let made = path; ; made = dirname(made)) {
    await syncDirectory(dirname(made));
    if (made === first) return;
  }
};

/**
 * Writes a file completely and synced, or not at all. Replaces an existing one. `temporary` must be on the same file
 * system.
 */
export const writeWhole = async (
  path: string,
  bytes: Uint8Array,
  temporary: string,
  time: Date,
): Promise<void> => {
  await makeDirectory(temporary);
  await makeDirectory(dirname(path));
  const partial = join(temporary, `${process.pid}-${randomBytes(8).toString("hex")}`);
  const handle = await open(partial, "wx", FILE_MODE);
  try {
    try {
      await handle.writeFile(bytes);
      await handle.utimes(time, time);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(partial, path);
  } catch (cause) {
    await rm(partial, { force: true });
    throw cause;
  }
  await syncDirectory(dirname(path));
};

const readAll = promisify(readFile);

/**
 * Reads an object. Undefined for a file that no put can have made: not regular, or too large. Throws ENOENT if it is
 * missing.
 */
export const readObject = async (path: string): Promise<Buffer | undefined> => {
  let fd: number;
  try {
    fd = openRegular(path, READ);
  } catch (cause) {
    if (cause instanceof NotRegularError) return undefined;
    throw cause;
  }
  try {
    return fstatSync(fd).size > CAS_OBJECT_MAX_BYTES ? undefined : await readAll(fd);
  } finally {
    closeSync(fd);
  }
};

/** Removes a file durably. */
export const removeFile = async (path: string): Promise<void> => {
  await rm(path);
  await syncDirectory(dirname(path));
};

/** Moves a file back to its name, unless a new one is there. False if another process has taken it. */
export const putBack = async (from: string, path: string): Promise<boolean> => {
  try {
    await link(from, path);
  } catch (cause) {
    if (isMissing(cause)) return false;
    if ((cause as { code?: unknown }).code !== "EEXIST") throw cause;
  }
  await rm(from, { force: true });
  return true;
};
