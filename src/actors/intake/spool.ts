/**
 * The reader of one spool file. It holds numbers, not bytes and no descriptor: an idle run costs nothing, and one shared
 * buffer serves all. Its checkpoint is committed with the records made from the lines, and a reader made from a
 * checkpoint gives the same lines again (architecture §5, Exactly once).
 */
import { closeSync, fstatSync } from "node:fs";
import { readBytes } from "../../adapters/process/tail.ts";
import { openToRead, sizeOfRegular } from "../../base/files/regular-file.ts";
import { BATCH_MAX_LINES, LINE_MAX_BYTES, LONG_LINE_BYTES, SPOOL_READ_BYTES } from "../../base/limits.ts";
import { beginningOf, endOfLong, frame, headBytes, lastLine, type Piece } from "./framer.ts";

/** The place at which a reader goes on: the persisted part of `Checkpoint` that is not the decoder's. */
export interface SpoolPlace {
  /** First byte that is not ingested: a line start, or inside a line over the limit. */
  readonly offset: number;
  /** Bytes already counted of a line over the limit that is being skipped; 0 when none. */
  readonly skipped_bytes: number;
}

export interface SpoolBatch {
  readonly pieces: Piece[];
  readonly checkpoint: SpoolPlace;
  /** There was more in the file than was read. */
  readonly more: boolean;
  /** The next line is over LONG_LINE_BYTES, and was not asked for. */
  readonly is_long_next?: true;
  /** The file is shorter than the place where reading should go on (power loss): its size. Reading goes on there. */
  readonly shrunk_to?: number;
}

export interface LineReaderOptions extends SpoolPlace {
  readonly path: string;
  /** LINE_MAX_BYTES; a test hands in another. */
  readonly limit_bytes?: number | undefined;
}

const shared = Buffer.allocUnsafeSlow(SPOOL_READ_BYTES);
/** An unfinished line up to this is read again with what follows it; a longer one is searched on from where it was. */
const REREAD_MAX_BYTES = SPOOL_READ_BYTES / 2;

export class LineReader {
  private readonly path: string;
  private readonly limit: number;
  private offset: number;
  private skipped_bytes: number;
  /** Bytes after `offset` that are known to hold no LF. */
  private seen = 0;

  constructor({ path, limit_bytes = LINE_MAX_BYTES, offset, skipped_bytes }: LineReaderOptions) {
    this.path = path;
    this.limit = limit_bytes;
    this.offset = offset;
    this.skipped_bytes = skipped_bytes;
  }

  /**
   * At most `maxBytes` (and SPOOL_READ_BYTES) of new bytes, and `maxLines`; a missing file is an empty one, and so is what is no regular
   * file. `long`: also a long line.
   */
  read(maxBytes: number, maxLines = BATCH_MAX_LINES, long = true): SpoolBatch {
    // Most looks find nothing: one call says so.
    if (sizeOfRegular(this.path) === this.offset + this.seen) return this.batch([], false);
    const fd = openToRead(this.path);
    try {
      const size = fd === undefined ? 0 : fstatSync(fd).size;
      // Bytes that were only looked at are looked at again; bytes that were ingested and are gone are told.
      if (size < this.offset + this.seen) this.seen = 0;
      if (size < this.offset) {
        this.offset = size;
        this.skipped_bytes = 0;
        return { ...this.batch([], false), shrunk_to: size };
      }
      if (fd === undefined || size === this.offset + this.seen) return this.batch([], false);
      const pieces = this.take(fd, size, Math.max(1, maxBytes), maxLines, long);
      if (pieces === undefined) return { ...this.batch([], true), is_long_next: true };
      return this.batch(pieces, this.offset + this.seen < size);
    } finally {
      if (fd !== undefined) closeSync(fd);
    }
  }

  /** If more than `max` bytes are unread: go on at the first line that begins in the last of them, SPOOL_READ_BYTES at most. Answers how many were left out. */
  skip(max: number): number {
    const fd = openToRead(this.path);
    if (fd === undefined) return 0;
    try {
      const { size } = fstatSync(fd);
      if (size - this.offset <= max) return 0;
      // No more than may be unread, or the next look would leave out one line more.
      return this.goOnAfter(fd, size, Math.max(this.offset, size - Math.min(max, shared.length)));
    } finally {
      closeSync(fd);
    }
  }

  /** A byte below this is not there any more: go on at the first line after it. Answers how many bytes were left out. */
  pass(below: number): number {
    const fd = below > this.offset ? openToRead(this.path) : undefined;
    if (fd === undefined) return 0;
    try {
      const { size } = fstatSync(fd);
      return this.goOnAfter(fd, size, Math.min(below, size));
    } finally {
      closeSync(fd);
    }
  }

  /** After the last read: the bytes of the last line within the limit, where no LF ended it. */
  unended(): number {
    return this.seen;
  }

  /** That line, or the end of a longer one. */
  finish(): Piece | undefined {
    const length = this.seen;
    const start = this.offset;
    this.offset += length;
    this.seen = 0;
    if (this.skipped_bytes > 0) {
      const end = endOfLong(this.skipped_bytes, this.limit);
      this.skipped_bytes = 0;
      return end;
    }
    const fd = length === 0 ? undefined : openToRead(this.path);
    if (fd === undefined) return undefined;
    try {
      return lastLine(readBytes(fd, start, Buffer.allocUnsafe(length)));
    } finally {
      closeSync(fd);
    }
  }

  /** Its place now: what the last batch's checkpoint said. */
  place(): SpoolPlace {
    return { offset: this.offset, skipped_bytes: this.skipped_bytes };
  }

  private take(
    fd: number,
    size: number,
    maxBytes: number,
    maxLines: number,
    long: boolean,
  ): Piece[] | undefined {
    const isLong = this.seen > REREAD_MAX_BYTES;
    const from = isLong ? this.offset + this.seen : this.offset;
    const room = Math.min(shared.length, isLong ? maxBytes : this.seen + maxBytes, size - from);
    const window = readBytes(fd, from, shared.subarray(0, room));
    if (isLong) return this.searchOn(fd, window, long);
    const framed = frame(window, this.skipped_bytes, this.seen, this.limit, maxLines);
    this.offset += framed.consumed;
    this.skipped_bytes = framed.skipped_bytes;
    this.seen = framed.seen;
    return framed.pieces;
  }

  /** A line longer than REREAD_MAX_BYTES: search on for its end, and read it whole once that is found. Undefined where it is long, and not wanted. */
  private searchOn(fd: number, found: Buffer, long: boolean): Piece[] | undefined {
    const { limit } = this;
    const lf = found.indexOf(0x0a);
    const length = this.seen + (lf === -1 ? found.length : lf);
    const isOver = length > limit;
    if (!isOver && (lf === -1 || (length > LONG_LINE_BYTES && !long))) {
      this.seen = length;
      return lf === -1 ? [] : undefined;
    }
    const start = this.offset;
    this.seen = 0;
    this.offset += lf === -1 ? length : length + 1;
    this.skipped_bytes = lf === -1 ? length : 0;
    if (!isOver) return frame(readBytes(fd, start, Buffer.allocUnsafe(length + 1)), 0, length, limit).pieces;
    const beginning = beginningOf(readBytes(fd, start, Buffer.allocUnsafe(headBytes(limit))), limit);
    return lf === -1 ? [beginning] : [beginning, endOfLong(length, limit)];
  }

  /** At the first line that begins after `from`; where none does soon, after what was looked at. Answers how many bytes are left out. */
  private goOnAfter(fd: number, size: number, from: number): number {
    const window = readBytes(fd, from, shared.subarray(0, Math.min(shared.length, size - from)));
    const lf = window.indexOf(0x0a);
    const before = this.offset - this.skipped_bytes;
    this.offset = from + (lf === -1 ? window.length : lf + 1);
    this.skipped_bytes = 0;
    this.seen = 0;
    return this.offset - before;
  }

  private batch(pieces: Piece[], more: boolean): SpoolBatch {
    return { pieces, checkpoint: this.place(), more };
  }
}
