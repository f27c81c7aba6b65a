import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { endOfLong, frame, lastLine, type Piece } from "../../../src/actors/intake/framer.ts";
import type { Line } from "../../../src/adapters/adapter.ts";

const LIMIT = 8;
const text = (value: string, end: "\n" | "\r\n" | "" = "\n"): Line => ({ kind: "text", text: value, end });

/** A line over the limit: its beginning, and its length once it is over. */
const long = (head: string, bytes: number): Piece[] => [
  { kind: "truncated", limit_bytes: LIMIT, head },
  endOfLong(bytes, LIMIT),
];

/** Windows that end at each cut, carried as the reader carries them. */
const frameAll = (input: Buffer, cuts: readonly number[], limit = LIMIT): Piece[] => {
  const lines: Piece[] = [];
  let offset = 0;
  let skipped = 0;
  for (const cut of [...cuts, input.length]) {
    if (cut <= offset) continue;
    const framed = frame(input.subarray(offset, cut), skipped, 0, limit);
    lines.push(...framed.pieces);
    offset += framed.consumed;
    skipped = framed.skipped_bytes;
  }
  if (skipped > 0) lines.push(endOfLong(skipped, limit));
  else if (offset < input.length) lines.push(lastLine(input.subarray(offset)));
  return lines;
};

describe("a frame", () => {
  test("ends after so many lines, and the next one begins behind them", () => {
    const input = Buffer.from("a\n\nb\r\nc");
    const first = frame(input, 0, 0, LIMIT, 2);
    expect(first).toEqual({ pieces: [text("a"), text("")], consumed: 3, skipped_bytes: 0, seen: 0 });
    const second = frame(input.subarray(first.consumed), 0, first.seen, LIMIT, 2);
    expect(second).toEqual({ pieces: [text("b", "\r\n")], consumed: 3, skipped_bytes: 0, seen: 1 });
  });

  test.each<[string, string | Buffer, Piece[]]>([
    ["LF ends a line", "a\nb\n", [text("a"), text("b")]],
    ["CRLF is the end of a line, not part of it", "a\r\n\r\n", [text("a", "\r\n"), text("", "\r\n")]],
    ["a CR alone ends nothing", "a\rb\n", [text("a\rb")]],
    ["a last line needs no end, and keeps its CR", "a\nb\r", [text("a"), text("b\r", "")]],
    ["empty lines are lines", "\n\n", [text(""), text("")]],
    [
      "U+2028, U+2029, NEL, VT and FF end nothing",
      "\u2028\u2029\n\u0085\v\f\n",
      [text("\u2028\u2029"), text("\u0085\v\f")],
    ],
    ["NUL is a character", "a\0b\n", [text("a\0b")]],
    ["invalid UTF-8 becomes U+FFFD", Buffer.from([0xff, 0x61, 0xc3, 0x0a]), [text("\ufffda\ufffd")]],
    ["a line of the limit is whole", "12345678\n", [text("12345678")]],
    ["a CR counts", "12345678\r\n", long("12345678", 9)],
    [
      "a line over the limit is counted, the next is whole",
      "123456789\nab\n",
      [...long("12345678", 9), text("ab")],
    ],
    ["a line over the limit may be the last", "a\n123456789", [text("a"), ...long("12345678", 9)]],
  ])("%s", (_name, input, expected) => {
    expect(frameAll(Buffer.from(input), [])).toEqual(expected);
  });

  test("a character that a cut divides is whole", () => {
    const input = Buffer.from("ä€😀\n");
    for (let cut = 1; cut < input.length; cut += 1)
      expect(frameAll(input, [cut], 64)).toEqual([text("ä€😀")]);
  });

  test("cut anywhere, any number of times, the lines are the same", () => {
    const bytes = fc.array(fc.constantFrom(0x0a, 0x0d, 0x61, 0x00, 0xc3, 0xa4, 0xf0), { maxLength: 60 });
    fc.assert(
      fc.property(bytes, fc.array(fc.nat(60), { maxLength: 6 }), (given, cuts) => {
        const input = Buffer.from(given);
        const sorted = cuts.filter((cut) => cut < input.length).sort((a, b) => a - b);
        expect(frameAll(input, sorted)).toEqual(frameAll(input, []));
      }),
      { numRuns: 2_000 },
    );
  });
});
