/** Reads a slice of a run's raw output. Released bytes are reported, instead of the zeros that a hole in the file gives. */
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { releasedBelow } from "../../adapters/process/release.ts";
import type { Source } from "../../adapters/source.ts";
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

/** A slice of output that is kept outside of files. */
export const sliceOf = (source: Source, offset: number, maxBytes: number): EncodedSlice => {
  const opened = source.open();
  try {
    const length = Math.max(0, Math.min(maxBytes, (opened?.size ?? 0) - offset));
    const bytes = opened?.read(offset, Buffer.alloc(length)) ?? Buffer.alloc(0);
    return encoded(bytes, offset, source.releasedBelow());
  } finally {
    opened?.close();
  }
};

/** Checked after the read: a release is noted before the bytes go. */
const encoded = (bytes: Buffer, offset: number, released: number): EncodedSlice =>
  released > offset
    ? { base64: "", next: released, released: released - offset }
    : { base64: bytes.toString("base64"), next: offset + bytes.length };

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
    return encoded(buffer.subarray(0, bytesRead), offset, releasedBelow(spool));
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
