/** Files of a worker that are no part of the log, because they may hold secrets: its launch spec, a message as it is delivered. */
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { HoldfastError } from "../../protocol/errors.ts";
import { WorkerSpec } from "../../protocol/worker.ts";
import type { SpecFiles } from "../services.ts";

const messageFile = (messageId: string): string => `message-${messageId}`;

/** Written whole or not at all, and on the disk then. */
const writeWhole = async (dir: string, name: string, text: string): Promise<void> => {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const temporary = join(dir, `${name}.tmp`);
  try {
    await writeFile(temporary, text, { mode: 0o600, flush: true });
    await rename(temporary, join(dir, name));
  } catch (cause) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw cause;
  }
};

/** What fails here is the disk's or the directory's fault, and no defect. */
const writable = async (work: Promise<void>): Promise<void> => {
  try {
    await work;
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === "ENOSPC" || code === "EDQUOT")
      throw new HoldfastError("DISK_FULL", `The disk of the state directory is full: ${message}.`, { cause });
    if (code === "EACCES" || code === "EPERM" || code === "EROFS")
      throw new HoldfastError("PERMISSION_DENIED", `The state directory may not be written: ${message}.`, {
        cause,
      });
    if (code === "EMFILE" || code === "ENFILE")
      throw new HoldfastError("UNAVAILABLE", `Too many files are open: ${message}.`, { cause });
    throw cause;
  }
};

/** `runs/<worker>/spec.json` and `runs/<worker>/message-<id>`, 0600. */
export const specFiles = (dirOf: (workerId: string) => string): SpecFiles => ({
  save: (workerId, spec) => writable(writeWhole(dirOf(workerId), "spec.json", JSON.stringify(spec))),
  saveMessage: (workerId, messageId, text) =>
    writable(writeWhole(dirOf(workerId), messageFile(messageId), text)),
  loadMessage: (workerId, messageId) =>
    readFile(join(dirOf(workerId), messageFile(messageId)), "utf8").catch((cause: NodeJS.ErrnoException) => {
      if (cause.code === "ENOENT") return undefined;
      throw cause;
    }),
  dropMessage: (workerId, messageId) => rm(join(dirOf(workerId), messageFile(messageId)), { force: true }),
  load: async (workerId) => {
    try {
      return WorkerSpec.parse(JSON.parse(await readFile(join(dirOf(workerId), "spec.json"), "utf8")));
    } catch (cause) {
      throw new HoldfastError(
        "INVALID_STATE",
        `The launch spec of worker ${workerId} is not kept (any more).`,
        { cause, suggestion: "Spawn it anew." },
      );
    }
  },
});
