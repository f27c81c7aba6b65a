/**
 * The reader of one spool file. It holds numbers, not bytes and no descriptor: an idle run costs nothing, and one shared
 * buffer serves all. Its checkpoint is committed with the records made from the lines, and a reader made from a
 * checkpoint gives the same lines again (architecture §5, Exactly once).
 */
import { closeSync, fstatSync, readSync } from "node:fs";
import { BATCH_MAX_LINES, LINE_MAX_BYTES, LONG_LINE_BYTES, SPOOL_READ_BYTES } from "../../base/limits.ts";
import { openToRead, sizeOfRegular } from "../../store/regular-file.ts";
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

export interface LineReader {
  /**
   * At most `maxBytes` (and SPOOL_READ_BYTES) of new bytes, and `maxLines`; a missing file is an empty one, and so is what is no regular
   * file. `long`: also a long line.
   */
  read(maxBytes: number, maxLines?: number, long?: boolean): SpoolBatch;
  /** If more than `max` bytes are unread: go on at the first line that begins in the last of them, SPOOL_READ_BYTES at most. Answers how many were left out. */
  skip(max: number): number;
  /** A byte below this is not there any more: go on at the first line after it. Answers how many bytes were left out. */
  pass(below: number): number;
  /** After the last read: the bytes of the last line within the limit, where no LF ended it. */
  unended(): number;
  /** That line, or the end of a longer one. */
  finish(): Piece | undefined;
  /** Its place now: what the last batch's checkpoint said. */
  place(): SpoolPlace;
  close(): void;
}

export interface LineReaderOptions extends SpoolPlace {
  readonly path: string;
  /** LINE_MAX_BYTES; a test hands in another. */
  readonly limit_bytes?: number | undefined;
}

const shared = Buffer.allocUnsafeSlow(SPOOL_READ_BYTES);
/** An unfinished line up to this is read again with what follows it; a longer one is searched on from where it was. */
const REREAD_MAX_BYTES = SPOOL_READ_BYTES / 2;

/** Bytes [from, from + into.length) as far as the file has them. */
const readSpool = (fd: number, from: number, into: Buffer): Buffer => {
  let length = 0;
  while (length < into.length) {
    const read = readSync(fd, into, length, into.length - length, from + length);
    if (read === 0) break;
    length += read;
  }
  return length === into.length ? into : into.subarray(0, length);
};

export const makeLineReader = (options: LineReaderOptions): LineReader => {
  const { path, limit_bytes: limit = LINE_MAX_BYTES } = options;
  let { offset, skipped_bytes } = options;
  /** Bytes after `offset` that are known to hold no LF. */
  let seen = 0;

  /** A line longer than REREAD_MAX_BYTES: search on for its end, and read it whole once that is found. Undefined where it is long, and not wanted. */
  const searchOn = (fd: number, found: Buffer, long: boolean): Piece[] | undefined => {
    const lf = found.indexOf(0x0a);
    const length = seen + (lf === -1 ? found.length : lf);
    const isOver = length > limit;
    if (!isOver && (lf === -1 || (length > LONG_LINE_BYTES && !long))) {
      seen = length;
      return lf === -1 ? [] : undefined;
    }
    const start = offset;
    seen = 0;
    offset += lf === -1 ? length : length + 1;
    skipped_bytes = lf === -1 ? length : 0;
    if (!isOver) return frame(readSpool(fd, start, Buffer.allocUnsafe(length + 1)), 0, length, limit).pieces;
    const beginning = beginningOf(readSpool(fd, start, Buffer.allocUnsafe(headBytes(limit))), limit);
    return lf === -1 ? [beginning] : [beginning, endOfLong(length, limit)];
  };

  const take = (
    fd: number,
    size: number,
    maxBytes: number,
    maxLines: number,
    long: boolean,
  ): Piece[] | undefined => {
    const isLong = seen > REREAD_MAX_BYTES;
    const from = isLong ? offset + seen : offset;
    const room = Math.min(shared.length, isLong ? maxBytes : seen + maxBytes, size - from);
    const window = readSpool(fd, from, shared.subarray(0, room));
    if (isLong) return searchOn(fd, window, long);
    const framed = frame(window, skipped_bytes, seen, limit, maxLines);
    offset += framed.consumed;
    skipped_bytes = framed.skipped_bytes;
    seen = framed.seen;
    return framed.pieces;
  };

  /** At the first line that begins after `from`; where none does soon, after what was looked at. Answers how many bytes are left out. */
  const goOnAfter = (fd: number, size: number, from: number): number => {
    const window = readSpool(fd, from, shared.subarray(0, Math.min(shared.length, size - from)));
    const lf = window.indexOf(0x0a);
    const before = offset - skipped_bytes;
    offset = from + (lf === -1 ? window.length : lf + 1);
    skipped_bytes = 0;
    seen = 0;
    return offset - before;
  };

  const batch = (pieces: Piece[], more: boolean): SpoolBatch => ({
    pieces,
    checkpoint: { offset, skipped_bytes },
    more,
  });

  return {
    read: (maxBytes, maxLines = BATCH_MAX_LINES, long = true) => {
      // Most looks find nothing: one call says so.
      if (sizeOfRegular(path) === offset + seen) return batch([], false);
      const fd = openToRead(path);
      try {
        const size = fd === undefined ? 0 : fstatSync(fd).size;
        // Bytes that were only looked at are looked at again; bytes that were ingested and are gone are told.
        if (size < offset + seen) seen = 0;
        if (size < offset) {
          offset = size;
          skipped_bytes = 0;
          return { ...batch([], false), shrunk_to: size };
        }
        if (fd === undefined || size === offset + seen) return batch([], false);
        const pieces = take(fd, size, Math.max(1, maxBytes), maxLines, long);
        if (pieces === undefined) return { ...batch([], true), is_long_next: true };
        return batch(pieces, offset + seen < size);
      } finally {
        if (fd !== undefined) closeSync(fd);
      }
    },
    skip: (max) => {
      const fd = openToRead(path);
      if (fd === undefined) return 0;
      try {
        const { size } = fstatSync(fd);
        if (size - offset <= max) return 0;
        // No more than may be unread, or the next look would leave out one line more.
        return goOnAfter(fd, size, Math.max(offset, size - Math.min(max, shared.length)));
      } finally {
        closeSync(fd);
      }
    },
    pass: (below) => {
      const fd = below > offset ? openToRead(path) : undefined;
      if (fd === undefined) return 0;
      try {
        const { size } = fstatSync(fd);
        return goOnAfter(fd, size, Math.min(below, size));
      } finally {
        closeSync(fd);
      }
    },
    unended: () => seen,
    finish: () => {
      const length = seen;
      const start = offset;
      offset += seen;
      seen = 0;
      if (skipped_bytes > 0) {
        const end = endOfLong(skipped_bytes, limit);
        skipped_bytes = 0;
        return end;
      }
      const fd = length === 0 ? undefined : openToRead(path);
      if (fd === undefined) return undefined;
      try {
        return lastLine(readSpool(fd, start, Buffer.allocUnsafe(length)));
      } finally {
        closeSync(fd);
      }
    },
    place: () => ({ offset, skipped_bytes }),
    close: () => undefined,
  };
};

/** The last `bytes` of a file, decoded leniently: a character that the cut divides is left out. */
export const readTail = (path: string, bytes: number): string => {
  const fd = openToRead(path);
  if (fd === undefined) return "";
  try {
    const { size } = fstatSync(fd);
    const from = Math.max(0, size - bytes);
    const tail = readSpool(fd, from, Buffer.allocUnsafe(Math.min(bytes, size)));
    let start = 0;
    while (from > 0 && start < 3 && ((tail[start] ?? 0) & 0xc0) === 0x80) start += 1;
    return tail.toString("utf8", start);
  } finally {
    closeSync(fd);
  }
};
