/**
 * Cuts bytes into lines. Pure. It cuts at byte 0x0A alone and decodes afterwards, so nothing else (U+2028, a chunk border
 * inside a character) ends a line. A line over the limit gives its beginning as soon as it is over, and
 * its length at its end.
 *
 * One number is carried from one window to the next: how much of an over-limit line was skipped. An unfinished line within
 * the limit is not consumed; the next window begins with it again. So the position in the input is always (offset of the
 * window, skipped bytes), wherever the input was cut.
 */
import { isAscii } from "node:buffer";
import type { Line } from "../../adapters/adapter.ts";
import { LINE_HEAD_MAX_BYTES } from "../../base/limits.ts";

const LF = 0x0a;
const CR = 0x0d;

/** The end of a line over the limit, after its beginning. */
export interface LongLineEnd {
  readonly kind: "end_of_long";
  /** Length of the whole line. */
  readonly bytes: number;
  readonly limit_bytes: number;
}

export type Piece = Line | LongLineEnd;

export interface FrameResult {
  readonly pieces: Piece[];
  /** Bytes of the window that need not be seen again. */
  readonly consumed: number;
  /** Bytes so far of the over-limit line that the consumed part ends in; 0 when it ends at a line start. */
  readonly skipped_bytes: number;
  /** Bytes after the consumed ones that are known to hold no LF. */
  readonly seen: number;
}

/** Bytes [start, end) of a whole line, without its LF; a CR at its end belongs to the line end. */
const lineOf = (bytes: Buffer, start: number, end: number, ascii: boolean): Line => {
  const crlf = end > start && bytes[end - 1] === CR;
  const stop = crlf ? end - 1 : end;
  const text = ascii ? bytes.toString("latin1", start, stop) : bytes.toString("utf8", start, stop);
  return { kind: "text", text, end: crlf ? "\r\n" : "\n" };
};

/** The last line of the input, without an LF. */
export const lastLine = (bytes: Buffer): Line => ({ kind: "text", text: bytes.toString("utf8"), end: "" });

/** The beginning of a line over the limit. `beginning`: at least `headBytes` of the line. */
export const beginningOf = (beginning: Buffer, limit_bytes: number): Line => ({
  kind: "truncated",
  limit_bytes,
  head: beginning.toString("utf8", 0, headBytes(limit_bytes)),
});

/**
 * Bytes of an over-limit line that are told. At most the limit, so that the result does not depend on where the input was
 * cut.
 */
export const headBytes = (limit_bytes: number): number => Math.min(LINE_HEAD_MAX_BYTES, limit_bytes);

export const endOfLong = (bytes: number, limit_bytes: number): LongLineEnd => ({
  kind: "end_of_long",
  bytes,
  limit_bytes,
});

/**
 * @param skipped bytes of the over-limit line in which the window begins; 0 when it begins at a line start
 * @param seen bytes at the window's start that are known to hold no LF
 * @param limit bytes of a line before its LF (a CR counts); a longer one is truncated
 * @param maxLines after so many the rest of the window is left for the next one
 */
export const frame = (
  window: Buffer,
  skipped: number,
  seen: number,
  limit: number,
  maxLines = Number.POSITIVE_INFINITY,
): FrameResult => {
  const pieces: Piece[] = [];
  const ascii = isAscii(window);
  let start = 0;
  let carried = skipped;
  const begin = (): void => {
    if (carried === 0) pieces.push(beginningOf(window.subarray(start), limit));
  };
  for (let lf = window.indexOf(LF, seen); lf !== -1; lf = window.indexOf(LF, start)) {
    const length = carried + lf - start;
    // An earlier reader with a lower limit may have begun to skip this line: skip it to its end.
    if (length > limit || carried > 0) {
      begin();
      pieces.push(endOfLong(length, limit));
    } else pieces.push(lineOf(window, start, lf, ascii));
    start = lf + 1;
    carried = 0;
    if (pieces.length >= maxLines) return { pieces, consumed: start, skipped_bytes: 0, seen: 0 };
  }
  const rest = carried + window.length - start;
  const skips = carried > 0 || rest > limit;
  if (skips) begin();
  const consumed = skips ? window.length : start;
  return { pieces, consumed, skipped_bytes: skips ? rest : 0, seen: window.length - consumed };
};
