/** A slice of what a run wrote, as it is; what has been released is told instead of read as the zeros that a hole holds. */
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { releasedBelow } from "../../adapters/process/release.ts";
import { HoldfastError } from "../../protocol/errors.ts";

export interface EncodedSlice {
  readonly base64: string;
  /** The offset at which the next slice begins. */
  readonly next: number;
  /** Bytes from the offset on that are in the log and no longer kept; the slice is empty then, and `next` is behind them. */
  readonly released?: number;
}

/** Undefined where there is no such file. */
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
    // After the read: a hole is noted before it is made.
    const released = releasedBelow(spool);
    if (released > offset) return { base64: "", next: released, released: released - offset };
    return { base64: buffer.subarray(0, bytesRead).toString("base64"), next: offset + bytesRead };
  } finally {
    await file.close();
  }
};

/** An open that waited would take a thread of the pool for ever. */
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
  new HoldfastError("INVALID_STATE", "The agent has replaced its output file by something else.");
