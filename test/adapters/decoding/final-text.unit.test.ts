import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { keptAnswer, keptText, NO_ANSWER } from "../../../src/adapters/decoding/final-text.ts";
import { TRUNCATED_SUFFIX } from "../../../src/protocol/bounds.ts";

const KEPT_MAX_BYTES = 44 * 1024;
const jsonBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text));

/** Characters of every width in JSON: 1 to 4 bytes, escapes of 2 and 6, and half pairs. */
const unit = fc.constantFrom("a", "é", "漢", "🦀", "\n", "\u0001", '"', "\ud800", "\udc00", "\u007f");
const text = fc.string({ unit, maxLength: 60 });
const long = fc
  .tuple(text, fc.integer({ min: 1, max: 1_500 }), text)
  .map(([start, times, end]) => start.repeat(times) + end);

/** The text itself, or the longest beginning of it that has room before the suffix. */
const expectKept = (kept: string, whole: string, max: number): void => {
  expect(jsonBytes(kept)).toBeLessThanOrEqual(max);
  if (jsonBytes(whole) <= max) expect(kept).toBe(whole);
  else if (max - 2 < Buffer.byteLength(TRUNCATED_SUFFIX)) expect(["…", ""]).toContain(kept);
  else {
    expect(kept.endsWith(TRUNCATED_SUFFIX)).toBe(true);
    const beginning = kept.slice(0, -TRUNCATED_SUFFIX.length);
    expect(whole.startsWith(beginning)).toBe(true);
    const next = [...whole.slice(beginning.length)][0] ?? "";
    expect(jsonBytes(beginning + next + TRUNCATED_SUFFIX)).toBeGreaterThan(max);
  }
};

describe("keptText", () => {
  it("keeps as much of a text as its JSON has room for, and says that something is missing", () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 2, max: 120 }), (s, max) => expectKept(keptText(s, max), s, max)),
    );
    fc.assert(
      fc.property(long, (s) => expectKept(keptText(s), s, KEPT_MAX_BYTES)),
      { numRuns: 40 },
    );
  });
});

describe("keptAnswer", () => {
  it("keeps the pieces of an answer as if they were one text, up to the first that has no room", () => {
    fc.assert(
      fc.property(fc.array(long, { maxLength: 8 }), (pieces) => {
        const kept = pieces.reduce(keptAnswer, NO_ANSWER);
        const whole = pieces.join("");
        expect(jsonBytes(kept.text)).toBeLessThanOrEqual(KEPT_MAX_BYTES);
        expect(kept.cut).toBe(kept.text !== whole);
        expect(jsonBytes(kept.text)).toBeLessThanOrEqual(kept.json_bytes);
        if (kept.cut) {
          expect(kept.text.endsWith(TRUNCATED_SUFFIX)).toBe(true);
          expect(whole.startsWith(kept.text.slice(0, -TRUNCATED_SUFFIX.length))).toBe(true);
          // A pair that has no room stays unused, and what halves of pairs in two pieces were counted as.
          expect(jsonBytes(kept.text)).toBeGreaterThan(KEPT_MAX_BYTES - 128);
        }
      }),
      { numRuns: 60 },
    );
  });
});
