/** Reads a slice of a run's raw output. Released bytes are reported, instead of the zeros that a hole in the file gives. */
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { releasedBelow } from "../../adapters/process/release.ts";
import { HoldfastError } from "../../protocol/errors.ts";

export interface EncodedSlice {
  readonly base64: string;
  /** The offset of the next slice. */
  readonly next: number;
  /**
   * Bytes from the offset on that were released, because the log has them. The slice is empty then, and `next` is after
   * them.
   */
  readonly released?: number;
}

/** Reads a slice; undefined if the file does not exist. */
export const readRaw = async (
  spool: string,
  offset: number,
  maxBytes: number,
): Promise<EncodedSlice | undefined> => {
  const file = await openSpool(spool);
  if (file === undefined) return undefined;
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw replaced();
    const { size } = stats;
    const buffer = Buffer.alloc(Math.max(0, Math.min(maxBytes, size - offset)));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, offset);
    // Check after the read: a release is noted before the hole is made.
    const released = releasedBelow(spool);
    if (released > offset) return { base64: "", next: released, released: released - offset };
    return { base64: buffer.subarray(0, bytesRead).toString("base64"), next: offset + bytesRead };
  } finally {
    await file.close();
  }
};

/** Opens without waiting: an open that waits, as on a pipe, would occupy a thread of the pool for ever. */
const openSpool = async (spool: string): Promise<FileHandle | undefined> => {
  try {
    return await open(spool, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw code === "ELOOP" ? replaced() : cause;
  }
};

const replaced = (): HoldfastError =>
  new HoldfastError("INVALID_STATE", "The agent has replaced its output file with something else.");
