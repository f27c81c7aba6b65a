/**
 * Reads the lines of one stream. It holds numbers, no bytes and no descriptor: an idle run costs nothing, and all readers
 * share one buffer. Its checkpoint is committed with the records made from the lines, and a reader made from a checkpoint reads the
 * same lines again (architecture §5, Exactly once).
 */
import type { OpenSource, Source } from "../../adapters/source.ts";
import { BATCH_MAX_LINES, LINE_MAX_BYTES, LONG_LINE_BYTES, SPOOL_READ_BYTES } from "../../base/limits.ts";
import { beginningOf, endOfLong, frame, headBytes, lastLine, type Piece } from "./framer.ts";

/** The position at which a reader continues: the part of `Checkpoint` that is not the decoder's. */
export interface SpoolPlace {
  /** Offset of the first byte that is not ingested: a line start, or inside a line over the limit. */
  readonly offset: number;
  /** Bytes counted so far of a line over the limit that is being skipped; 0 if none. */
  readonly skipped_bytes: number;
}

export interface SpoolBatch {
  readonly pieces: Piece[];
  readonly checkpoint: SpoolPlace;
  /** The source holds more than was read. */
  readonly more: boolean;
  /** The next line is over LONG_LINE_BYTES and was not read, because the caller did not ask for long lines. */
  readonly is_long_next?: true;
  /** The size of a source that is shorter than the reader's position (power loss). Reading continues there. */
  readonly shrunk_to?: number;
}

export interface LineReaderOptions extends SpoolPlace {
  readonly source: Source;
  /** The bound of a line; default LINE_MAX_BYTES. Set only by tests. */
  readonly limit_bytes?: number | undefined;
}

const shared = Buffer.allocUnsafeSlow(SPOOL_READ_BYTES);
/**
 * An unfinished line of up to this many bytes is read again with the rest. In a longer one, the search continues where it
 * stopped.
 */
const REREAD_MAX_BYTES = SPOOL_READ_BYTES / 2;

export class LineReader {
  private readonly source: Source;
  private readonly limit: number;
  private offset: number;
  private skipped_bytes: number;
  /** Bytes after `offset` that are known to hold no LF. */
  private seen = 0;

  constructor({ source, limit_bytes = LINE_MAX_BYTES, offset, skipped_bytes }: LineReaderOptions) {
    this.source = source;
    this.limit = limit_bytes;
    this.offset = offset;
    this.skipped_bytes = skipped_bytes;
  }

  /**
   * Reads at most `maxBytes` (and SPOOL_READ_BYTES) of new bytes and `maxLines` lines. A source that
   * cannot be opened for ever counts as empty. `long`: also read a line over LONG_LINE_BYTES.
   */
  read(maxBytes: number, maxLines = BATCH_MAX_LINES, long = true): SpoolBatch {
    // Most reads find nothing new, which one call can tell.
    if (this.source.size() === this.offset + this.seen) return this.batch([], false);
    const opened = this.source.open();
    try {
      const size = opened?.size ?? 0;
      // If it shrank, bytes without an LF are searched again, and the loss of ingested bytes is reported.
      if (size < this.offset + this.seen) this.seen = 0;
      if (size < this.offset) {
        this.offset = size;
        this.skipped_bytes = 0;
        return { ...this.batch([], false), shrunk_to: size };
      }
      if (opened === undefined || size === this.offset + this.seen) return this.batch([], false);
      const pieces = this.take(opened, Math.max(1, maxBytes), maxLines, long);
      if (pieces === undefined) return { ...this.batch([], true), is_long_next: true };
      return this.batch(pieces, this.offset + this.seen < size);
    } finally {
      opened?.close();
    }
  }

  /**
   * If more than `max` bytes are unread, continues at the first line that begins in the last `max` of them
   * (SPOOL_READ_BYTES at most). Returns the number of bytes left out.
   */
  skip(max: number): number {
    const opened = this.source.open();
    if (opened === undefined) return 0;
    try {
      const { size } = opened;
      if (size - this.offset <= max) return 0;
      // Leave at most `max` bytes unread, or the next call would leave out one more line.
      return this.goOnAfter(opened, Math.max(this.offset, size - Math.min(max, shared.length)));
    } finally {
      opened.close();
    }
  }

  /** Bytes that were released cannot be read: continues at the first line after them. Returns the number of bytes left out. */
  passReleased(): number {
    const below = this.source.releasedBelow();
    const opened = below > this.offset ? this.source.open() : undefined;
    if (opened === undefined) return 0;
    try {
      return this.goOnAfter(opened, Math.min(below, opened.size));
    } finally {
      opened.close();
    }
  }

  /** After the last read: the length of a last line within the limit that has no LF. */
  unended(): number {
    return this.seen;
  }

  /** Reads that last line, or the end of one over the limit. */
  finish(): Piece | undefined {
    const length = this.seen;
    const start = this.offset;
    const skipped = this.skipped_bytes;
    // Opened first: if no descriptor is free, nothing has changed, and the caller may try again.
    const opened = length === 0 || skipped > 0 ? undefined : this.source.open();
    this.offset += length;
    this.seen = 0;
    this.skipped_bytes = 0;
    if (skipped > 0) return endOfLong(skipped, this.limit);
    if (opened === undefined) return undefined;
    try {
      return lastLine(opened.read(start, Buffer.allocUnsafe(length)));
    } finally {
      opened.close();
    }
  }

  /** The current position, equal to the last batch's checkpoint. */
  place(): SpoolPlace {
    return { offset: this.offset, skipped_bytes: this.skipped_bytes };
  }

  private take(opened: OpenSource, maxBytes: number, maxLines: number, long: boolean): Piece[] | undefined {
    const isLong = this.seen > REREAD_MAX_BYTES;
    const from = isLong ? this.offset + this.seen : this.offset;
    const room = Math.min(shared.length, isLong ? maxBytes : this.seen + maxBytes, opened.size - from);
    const window = opened.read(from, shared.subarray(0, room));
    if (isLong) return this.searchOn(opened, window, long);
    const framed = frame(window, this.skipped_bytes, this.seen, this.limit, maxLines);
    this.offset += framed.consumed;
    this.skipped_bytes = framed.skipped_bytes;
    this.seen = framed.seen;
    return framed.pieces;
  }

  /**
   * Searches on for the end of a line longer than REREAD_MAX_BYTES, and reads it whole once the end is found. Undefined if
   * it is long and `long` is false.
   */
  private searchOn(opened: OpenSource, found: Buffer, long: boolean): Piece[] | undefined {
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
    if (!isOver) return frame(opened.read(start, Buffer.allocUnsafe(length + 1)), 0, length, limit).pieces;
    const beginning = beginningOf(opened.read(start, Buffer.allocUnsafe(headBytes(limit))), limit);
    return lf === -1 ? [beginning] : [beginning, endOfLong(length, limit)];
  }

  /**
   * Continues at the first line that begins after `from`, or after the searched part if none begins in it. Returns the
   * number of bytes left out.
   */
  private goOnAfter(opened: OpenSource, from: number): number {
    const window = opened.read(from, shared.subarray(0, Math.min(shared.length, opened.size - from)));
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
