/** Files of a worker that are kept out of the log because they may hold secrets: its launch spec, and messages in full. */
import { lstat, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { SpecFiles } from "../actors/ports.ts";
import { readRegular } from "../base/files/regular-file.ts";
import { SPEC_FILE_MAX_BYTES } from "../base/limits.ts";
import { isFullDisk, isShortOfDescriptors } from "../base/system-errors.ts";
import { HoldfastError } from "../protocol/errors.ts";
import { WorkerSpec } from "../protocol/worker.ts";

const messageFile = (messageId: string): string => `message-${messageId}`;

const HOW = { mode: 0o600, flush: true, flag: "wx" } as const;

type Write = (path: string, text: string, how: typeof HOW) => Promise<void>;

/** Replaces a file completely or not at all, and flushes it to the disk. */
const replaceWhole = async (write: Write, dir: string, name: string, text: string): Promise<void> => {
  const temporary = join(dir, `${name}.tmp`);
  try {
    // An agent may have put something in its place: remove that instead of writing to it.
    await rm(temporary, { recursive: true, force: true });
    await write(temporary, text, HOW);
    await rename(temporary, join(dir, name));
  } catch (cause) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw cause;
  }
};

/**
 * Writes a file into a directory, which it makes if there is none. No record names a directory that it made, so a torn file
 * in it after a crash is never read: the file needs no temporary name.
 */
const writeWhole = async (write: Write, dir: string, name: string, text: string): Promise<void> => {
  const isNew = (await mkdir(dir, { recursive: true, mode: 0o700 })) !== undefined;
  if (!isNew) return replaceWhole(write, dir, name, text);
  const path = join(dir, name);
  try {
    await write(path, text, HOW);
  } catch (cause) {
    await rm(path, { force: true }).catch(() => undefined);
    throw cause;
  }
};

/** Turns a failure of the disk or the directory into an error, because it is no defect. */
const writable = async (work: Promise<void>): Promise<void> => {
  try {
    await work;
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (isFullDisk(cause))
      throw new HoldfastError("DISK_FULL", `The disk of the state directory is full: ${message}.`, { cause });
    if (code === "EACCES" || code === "EPERM" || code === "EROFS")
      throw new HoldfastError("PERMISSION_DENIED", `The state directory is not writable: ${message}.`, {
        cause,
      });
    if (isShortOfDescriptors(cause))
      throw new HoldfastError("UNAVAILABLE", `Too many files are open: ${message}.`, { cause });
    throw cause;
  }
};

/** The size of all files below a directory, in bytes. Links are not followed. */
const sizeBelow = async (dir: string): Promise<number> => {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true }).catch(() => []);
  let sum = 0;
  for (const entry of entries)
    if (entry.isFile()) {
      const stats = await lstat(join(entry.parentPath, entry.name)).catch(() => undefined);
      sum += (stats?.blocks ?? 0) * BLOCK_BYTES;
    }
  return sum;
};

/** The unit of `blocks` in stat(2). A spool may have holes, so its length is not its size. */
const BLOCK_BYTES = 512;

/** The files `runs/<worker>/spec.json` and `runs/<worker>/message-<id>`, with mode 0600. */
export const specFiles = (dirOf: (workerId: string) => string, write: Write = writeFile): SpecFiles => ({
  save: (workerId, spec) => writable(writeWhole(write, dirOf(workerId), "spec.json", JSON.stringify(spec))),
  saveMessage: (workerId, messageId, text) =>
    writable(writeWhole(write, dirOf(workerId), messageFile(messageId), text)),
  saveScripts: async (dir, scripts) => {
    await writable(mkdir(dir, { recursive: true, mode: 0o700 }).then(() => undefined));
    for (const [name, text] of Object.entries(scripts)) await writable(replaceWhole(write, dir, name, text));
  },
  left: async (dir, name) => readRegular(join(dir, name))?.toString("utf8"),
  loadMessage: async (workerId, messageId) =>
    readRegular(join(dirOf(workerId), messageFile(messageId)), SPEC_FILE_MAX_BYTES)?.toString("utf8"),
  dropMessage: (workerId, messageId) => rm(join(dirOf(workerId), messageFile(messageId)), { force: true }),
  size: (workerId) => sizeBelow(dirOf(workerId)),
  remove: (workerId) => writable(rm(dirOf(workerId), { recursive: true, force: true })),
  load: async (workerId) => {
    try {
      const written = readRegular(join(dirOf(workerId), "spec.json"), SPEC_FILE_MAX_BYTES);
      return WorkerSpec.parse(JSON.parse(written?.toString("utf8") ?? ""));
    } catch (cause) {
      throw new HoldfastError(
        "INVALID_STATE",
        `The launch spec of worker ${workerId} is not kept (any more).`,
        { cause, suggestion: "Spawn it again." },
      );
    }
  },
});
