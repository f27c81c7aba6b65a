/**
 * Opens files safely although another process may have put something else under their names (docs/explanation/security.md).
 * No open blocks (a FIFO may have no writer), only a regular file is accepted, and every read is bounded. Links to the
 * runtime's own files are not followed.
 */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
} from "node:fs";
import { SMALL_FILE_MAX_BYTES } from "../limits.ts";

/** The errno for a name that holds no regular file: a FIFO, a device, a socket, a link to a file of ours. */
export const IRREGULAR = "EFTYPE";

/** The name holds something that the runtime does not use. */
export class NotRegularError extends Error {
  readonly code = IRREGULAR;
  constructor(path: string) {
    super(`${path} is no regular file`);
  }
}

/** Every open here adds this to its flags. */
const GUARD = constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * The errno of an open that met a link (ELOOP), a socket or a FIFO without a reader (ENXIO), a directory (EISDIR), or a path
 * through something that is not a directory (ENOTDIR).
 */
const IS_NO_FILE: ReadonlySet<string | undefined> = new Set([
  "ELOOP",
  "EMLINK",
  "ENXIO",
  "EISDIR",
  "ENOTDIR",
]);

/**
 * Opens a regular file; the caller closes it. Throws NotRegularError and the system's own errors (ENOENT too). `flags` are
 * `constants` of node:fs.
 */
export const openRegular = (path: string, flags: number, mode?: number): number => {
  let fd: number;
  try {
    fd = openSync(path, flags | GUARD, mode);
  } catch (cause) {
    if (IS_NO_FILE.has((cause as NodeJS.ErrnoException).code)) throw new NotRegularError(path);
    throw cause;
  }
  try {
    if (fstatSync(fd).isFile()) return fd;
    throw new NotRegularError(path);
  } catch (cause) {
    closeSync(fd);
    throw cause;
  }
};

/** Appends to the end of the file, or creates it. */
export const APPEND = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND;
export const REPLACE = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC;
export const READ = constants.O_RDONLY;

/**
 * Clears the name of a file that the runtime can write again, if something else than a regular file lies there. A directory
 * may hold a person's files, so it is renamed instead of removed.
 */
export const clearName = (path: string): void => {
  const found = statAt(path);
  if (found === undefined || found.isFile()) return;
  if (found.isDirectory()) renameSync(path, `${path}.moved.${Date.now()}`);
  else rmSync(path, { force: true });
};

/** Undefined if there is no regular file. Throws if the file exists but cannot be opened. */
export const openToRead = (path: string): number | undefined => {
  try {
    return openRegular(path, READ);
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === "ENOENT";
    if (isMissing || cause instanceof NotRegularError) return undefined;
    throw cause;
  }
};

/**
 * The first `maxBytes` of a file; undefined if there is no regular file. Most calls find nothing, so it asks first: an
 * exception costs more.
 */
export const readRegular = (path: string, maxBytes = SMALL_FILE_MAX_BYTES): Buffer | undefined => {
  const fd = existsSync(path) ? openToRead(path) : undefined;
  if (fd === undefined) return undefined;
  try {
    const bytes = Buffer.allocUnsafe(Math.min(maxBytes, fstatSync(fd).size));
    let length = 0;
    while (length < bytes.length) {
      const read = readSync(fd, bytes, length, bytes.length - length, length);
      if (read === 0) break;
      length += read;
    }
    return bytes.subarray(0, length);
  } finally {
    closeSync(fd);
  }
};

/**
 * Reads a file that a person or a spec names. A link is followed, because its target may be meant. Undefined if the file is
 * over `maxBytes`. Throws the system's own errors, EISDIR, and NotRegularError.
 */
export const readNamed = (path: string, maxBytes: number): Buffer | undefined => {
  const fd = openSync(path, READ | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(fd);
    if (stats.isDirectory()) throw failure("EISDIR", `${path} is a directory`);
    if (!stats.isFile()) throw new NotRegularError(path);
    if (stats.size > maxBytes) return undefined;
    const bytes = readFileSync(fd);
    return bytes.length > maxBytes ? undefined : bytes;
  } finally {
    closeSync(fd);
  }
};

/** Reads the file of a secret when an agent starts. It reads just enough to see that a file is over its bound. */
export const readSecretFile =
  (maxBytes: number) =>
  async (path: string): Promise<string> => {
    const bytes = readNamed(path, maxBytes);
    if (bytes === undefined) throw failure("EFBIG", `${path} is over ${maxBytes} bytes`);
    return bytes.toString("utf8");
  };

const failure = (code: string, message: string): Error => Object.assign(new Error(message), { code });

/** A path that leads through a file (ENOTDIR) or through a link to itself (ELOOP) names nothing. */
const LEADS_NOWHERE: ReadonlySet<string | undefined> = new Set(["ENOENT", "ENOTDIR", "ELOOP"]);

/** The stat of the entry with this name; a link is not followed. Undefined if there is none. */
export const statAt = (path: string): Stats | undefined => {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (cause) {
    if (LEADS_NOWHERE.has((cause as NodeJS.ErrnoException).code)) return undefined;
    throw cause;
  }
};

/** The stat of a regular file; undefined for anything else. */
export const statRegular = (path: string): Stats | undefined => {
  const stats = statAt(path);
  return stats?.isFile() === true ? stats : undefined;
};

export const sizeOfRegular = (path: string): number => statRegular(path)?.size ?? 0;
