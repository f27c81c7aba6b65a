/**
 * The reader of one spool file. It holds numbers, not bytes and no descriptor: an idle run costs nothing, and one shared
 * buffer serves all. Its checkpoint is committed with the records made from the lines, and a reader made from a
 * checkpoint gives the same lines again (architecture §5, Exactly once).
 */
import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import {
  BATCH_MAX_LINES,
  LINE_HEAD_MAX_BYTES,
  LINE_MAX_BYTES,
  SPOOL_READ_BYTES,
} from "../../protocol/limits.ts";
import type { Line } from "../adapter.ts";
import { frame, lastLine, truncated } from "./framer.ts";

/** Where a reader goes on: the persisted part of `Checkpoint` that is not the decoder's. */
export interface SpoolPlace {
  /** First byte that is not ingested: a line start, or inside a line over the limit. */
  readonly offset: number;
  /** Bytes already counted of a line over the limit that is being skipped; 0 when none. */
  readonly skipped_bytes: number;
}

export interface SpoolBatch {
  readonly lines: Line[];
  readonly checkpoint: SpoolPlace;
  /** There was more in the file than was read. */
  readonly more: boolean;
  /** The file is shorter than the place where reading should go on (power loss): its size. Reading goes on there. */
  readonly shrunk_to?: number;
}

export interface LineReader {
  /** At most `maxBytes` (and SPOOL_READ_BYTES) of new bytes, and `maxLines`; a missing file is an empty one. */
  read(maxBytes: number, maxLines?: number): SpoolBatch;
  /** Where more than `max` bytes are unread: go on at the first line that begins in the last SPOOL_READ_BYTES. Answers how many were left out. */
  skip(max: number): number;
  /** What is below this is not there any more: go on at the first line after it. Answers how many bytes were left out. */
  pass(below: number): number;
  /** After the last read: the last line, where no LF ended it. */
  finish(): Line | undefined;
  /** Where it is now: what the last batch's checkpoint said. */
  place(): SpoolPlace;
  close(): void;
}

export interface LineReaderOptions extends SpoolPlace {
  readonly path: string;
  /** LINE_MAX_BYTES; a test hands in another. */
  readonly limit_bytes?: number;
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

/** With the beginning of an over-limit line, which is at `start`: it was counted when it was read first, and not kept. */
const withHead = (fd: number, line: Line, start: number): Line => {
  if (line.kind !== "truncated") return line;
  const head = readSpool(fd, start, Buffer.allocUnsafe(Math.min(LINE_HEAD_MAX_BYTES, line.bytes)));
  return { ...line, head: head.toString("utf8") };
};

/** Undefined when there is no such file. */
const openSpool = (path: string): number | undefined => {
  try {
    return openSync(path, "r");
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw cause;
  }
};

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

export const makeLineReader = (options: LineReaderOptions): LineReader => {
  const { path, limit_bytes: limit = LINE_MAX_BYTES } = options;
  let { offset, skipped_bytes } = options;
  /** Bytes after `offset` that are known to hold no LF. */
  let seen = 0;

  /** A line longer than REREAD_MAX_BYTES: search on for its end, and read it whole once that is found. */
  const searchOn = (fd: number, found: Buffer): Line[] => {
    const lf = found.indexOf(0x0a);
    const length = seen + (lf === -1 ? found.length : lf);
    if (lf === -1 && length <= limit) {
      seen = length;
      return [];
    }
    seen = 0;
    if (lf === -1) {
      offset += length;
      skipped_bytes = length;
      return [];
    }
    const start = offset;
    offset += length + 1;
    if (length > limit) return [withHead(fd, truncated(length, limit), start)];
    return frame(readSpool(fd, start, Buffer.allocUnsafe(length + 1)), 0, length, limit).lines;
  };

  /** The lines of a window that begins at `offset`. */
  const withHeads = (fd: number, lines: Line[], window: Buffer): Line[] => {
    if (lines.every(({ kind }) => kind === "text")) return lines;
    let start = offset - skipped_bytes;
    let next = 0;
    return lines.map((line) => {
      const whole = withHead(fd, line, start);
      next = window.indexOf(0x0a, next) + 1;
      start = offset + next;
      return whole;
    });
  };

  const take = (fd: number, size: number, maxBytes: number, maxLines: number): Line[] => {
    const isLong = seen > REREAD_MAX_BYTES;
    const from = isLong ? offset + seen : offset;
    const room = Math.min(shared.length, isLong ? maxBytes : seen + maxBytes, size - from);
    const window = readSpool(fd, from, shared.subarray(0, room));
    if (isLong) return searchOn(fd, window);
    const framed = frame(window, skipped_bytes, seen, limit, maxLines);
    const lines = withHeads(fd, framed.lines, window);
    offset += framed.consumed;
    skipped_bytes = framed.skipped_bytes;
    seen = framed.seen;
    return lines;
  };

  /** At the first line that begins after `from`; where none does soon, after what was looked at. Answers how many bytes are left out. */
  const goOnAfter = (fd: number, size: number, from: number): number => {
    const window = readSpool(fd, from, shared.subarray(0, Math.min(shared.length, size - from)));
    const lf = window.indexOf(0x0a);
    const before = offset;
    offset = from + (lf === -1 ? window.length : lf + 1);
    skipped_bytes = 0;
    seen = 0;
    return offset - before;
  };

  const batch = (lines: Line[], more: boolean): SpoolBatch => ({
    lines,
    checkpoint: { offset, skipped_bytes },
    more,
  });

  return {
    read: (maxBytes, maxLines = BATCH_MAX_LINES) => {
      // Most looks find nothing: one call says so.
      if (sizeOf(path) === offset + seen) return batch([], false);
      const fd = openSpool(path);
      try {
        const size = fd === undefined ? 0 : fstatSync(fd).size;
        // What was only looked at is looked at again; what was ingested and is gone is told.
        if (size < offset + seen) seen = 0;
        if (size < offset) {
          offset = size;
          skipped_bytes = 0;
          return { ...batch([], false), shrunk_to: size };
        }
        if (fd === undefined || size === offset + seen) return batch([], false);
        const lines = take(fd, size, Math.max(1, maxBytes), maxLines);
        return batch(lines, offset + seen < size);
      } finally {
        if (fd !== undefined) closeSync(fd);
      }
    },
    skip: (max) => {
      const fd = openSpool(path);
      if (fd === undefined) return 0;
      try {
        const { size } = fstatSync(fd);
        if (size - offset <= max) return 0;
        return goOnAfter(fd, size, Math.max(offset, size - shared.length));
      } finally {
        closeSync(fd);
      }
    },
    pass: (below) => {
      const fd = below > offset ? openSpool(path) : undefined;
      if (fd === undefined) return 0;
      try {
        const { size } = fstatSync(fd);
        return goOnAfter(fd, size, Math.min(below, size));
      } finally {
        closeSync(fd);
      }
    },
    finish: () => {
      const length = seen;
      const start = offset;
      offset += seen;
      seen = 0;
      if (skipped_bytes > 0) {
        const line = truncated(skipped_bytes, limit);
        skipped_bytes = 0;
        return line;
      }
      const fd = length === 0 ? undefined : openSpool(path);
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
  const fd = openSpool(path);
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
