/**
 * How files are opened under whose names somebody may have put something else (docs/security.md): no open waits (a FIFO has no writer),
 * only a regular file is accepted, and a read is bounded. No link is followed to a file of the runtime's own.
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
import { SMALL_FILE_MAX_BYTES } from "../base/limits.ts";

/** Errno of a name under which lies no regular file: a FIFO, a device, a socket, a link to a file of ours. */
export const IRREGULAR = "EFTYPE";

/** Under this name lies something that the runtime does not use. */
export class NotRegularError extends Error {
  readonly code = IRREGULAR;
  constructor(path: string) {
    super(`${path} is no regular file`);
  }
}

/** Every open here adds this to its flags. */
const GUARD = constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * The errno of an open that met a link (ELOOP), a socket or a FIFO without a reader (ENXIO), or a directory (EISDIR), or whose path
 * leads through what is no directory (ENOTDIR).
 */
const IS_NO_FILE: ReadonlySet<string | undefined> = new Set([
  "ELOOP",
  "EMLINK",
  "ENXIO",
  "EISDIR",
  "ENOTDIR",
]);

/** The caller closes it. Throws NotRegularError, and the system's own errors (ENOENT too). `flags` are of node:fs `constants`. */
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

/** Appends go to the end of what is there; a missing file is made. */
export const APPEND = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND;
export const REPLACE = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC;
export const READ = constants.O_RDONLY;

/**
 * Takes away what lies under the name of a file that can be made anew, and is no regular file. Somebody may have files in a directory: it is
 * moved to a name beside it.
 */
export const clearName = (path: string): void => {
  const found = statAt(path);
  if (found === undefined || found.isFile()) return;
  if (found.isDirectory()) renameSync(path, `${path}.moved.${Date.now()}`);
  else rmSync(path, { force: true });
};

/** Undefined where there is no regular file. Throws where a file that is there cannot be opened. */
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
 * The first `maxBytes` of a file; undefined where there is no regular one. Most looks find nothing: asking first is cheaper
 * than an exception.
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
 * A file that a person or a spec names: a link is followed, since whoever names it may mean what it points to. Undefined where it is over
 * `maxBytes`. Throws the system's own errors, EISDIR, and NotRegularError.
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

/** A secret's file, which is read at a start: one over its bound is read no further than that says so. */
export const readSecretFile =
  (maxBytes: number) =>
  async (path: string): Promise<string> => {
    const bytes = readNamed(path, maxBytes);
    if (bytes === undefined) throw failure("EFBIG", `${path} is over ${maxBytes} bytes`);
    return bytes.toString("utf8");
  };

const failure = (code: string, message: string): Error => Object.assign(new Error(message), { code });

/** A path leads through a file (ENOTDIR) or through a link to itself (ELOOP): nothing can lie at its end. */
const LEADS_NOWHERE: ReadonlySet<string | undefined> = new Set(["ENOENT", "ENOTDIR", "ELOOP"]);

/** The stat of what lies under a name, and no link is followed; undefined for nothing. */
export const statAt = (path: string): Stats | undefined => {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (cause) {
    if (LEADS_NOWHERE.has((cause as NodeJS.ErrnoException).code)) return undefined;
    throw cause;
  }
};

/** The stat of a regular file; undefined for anything else, and for nothing. */
export const statRegular = (path: string): Stats | undefined => {
  const stats = statAt(path);
  return stats?.isFile() === true ? stats : undefined;
};

export const sizeOfRegular = (path: string): number => statRegular(path)?.size ?? 0;
