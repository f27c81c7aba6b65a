/** A slice of what a run wrote, as it is; what has been released is told instead of read as the zeros that a hole holds. */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { HoldfastError } from "../../protocol/errors.ts";
import { releasedBelow } from "./release.ts";

export interface RawSlice {
  readonly base64: string;
  /** The offset at which the next slice begins. */
  readonly next: number;
  /** Bytes from the offset on that are in the log and no longer kept; the slice is empty then, and `next` is behind them. */
  readonly released?: number;
}

export const readRaw = async (spool: string, offset: number, maxBytes: number): Promise<RawSlice> => {
  // An open that waited would take a thread of the pool for ever.
  const file = await open(spool, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = await file.stat();
    if (!stats.isFile())
      throw new HoldfastError("INVALID_STATE", "The agent has replaced its output file by something else.");
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
