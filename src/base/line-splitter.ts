/**
 * Splits bytes from a socket into lines at 0x0A. Holds at most one line; a longer one is skipped up to its
 * end and reported once.
 */

export type SocketLine = { readonly text: Buffer } | { readonly tooLong: true };

export interface LineSplitter {
  push(chunk: Buffer): SocketLine[];
  /** The input has ended: returns the last line if it has no line end. */
  end(): SocketLine | undefined;
  /** A line has begun and not ended. */
  isInside(): boolean;
}

/** `maxBytes` bounds a line without its line end. */
export const makeLineSplitter = (maxBytes: number): LineSplitter => {
  let parts: Buffer[] = [];
  let held = 0;
  let skipping = false;

  const take = (piece: Buffer): void => {
    if (skipping) return;
    held += piece.length;
    if (held > maxBytes) {
      skipping = true;
      parts = [];
    } else if (piece.length > 0) parts.push(piece);
  };

  /** Returns the held line and begins the next one. */
  const whole = (): SocketLine => {
    const line: SocketLine = skipping
      ? { tooLong: true }
      : { text: parts.length === 1 ? parts[0]! : Buffer.concat(parts) };
    parts = [];
    held = 0;
    skipping = false;
    return line;
  };

  return {
    isInside: () => held > 0 || skipping,
    end: () => (held > 0 || skipping ? whole() : undefined),
    push(chunk) {
      const lines: SocketLine[] = [];
      let start = 0;
      for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
        take(chunk.subarray(start, end));
        lines.push(whole());
        start = end + 1;
      }
      take(chunk.subarray(start));
      return lines;
    },
  };
};
