import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { makeCapture } from "../../../src/adapters/decoding/mcp-output.ts";
import { MCP_OUTPUT_MAX_BYTES } from "../../../src/base/limits.ts";

const SUFFIX = "…(truncated)";
const capture = (chunks: readonly (string | Uint8Array)[], max?: number) => {
  const captured = makeCapture(max);
  for (const chunk of chunks) captured.push(Buffer.from(chunk as string));
  return captured.end();
};

describe("the output of an MCP command", () => {
  it("is as it was up to 65,536 bytes, and no longer than that with its mark", () => {
    const exact = "a".repeat(MCP_OUTPUT_MAX_BYTES);
    expect(capture([exact])).toEqual({ text: exact, truncated: false });
    const cut = capture([exact, "b"]);
    expect(cut).toEqual({ text: `${exact.slice(0, -14)}${SUFFIX}`, truncated: true });
    expect(Buffer.byteLength(cut.text)).toBe(MCP_OUTPUT_MAX_BYTES);
    expect(capture([])).toEqual({ text: "", truncated: false });
  });

  it("is cut after it is decoded: bytes that are no UTF-8 become three each", () => {
    const grown = capture([Buffer.alloc(20, 0xff)], 20);
    expect(grown).toEqual({ text: `\ufffd\ufffd${SUFFIX}`, truncated: true });
    expect(capture([Buffer.from([0x61, 0xff])], 20)).toEqual({ text: "a\ufffd", truncated: false });
  });

  it("is never cut inside a character, wherever the chunks or the bound fall", () => {
    const text = "🦀é漢".repeat(10);
    const bytes = Buffer.from(text);
    const byByte = Array.from(bytes, (byte) => Buffer.from([byte]));
    expect(capture(byByte, bytes.length)).toEqual({ text, truncated: false });
    expect(capture(byByte, 20)).toEqual({ text: `🦀é${SUFFIX}`, truncated: true });
  });

  it("says that it was cut though what was kept would fit", () => {
    expect(capture(["ab", "c"], 2)).toEqual({ text: "", truncated: true });
    expect(capture(["abc", "d"], 3)).toEqual({ text: "…", truncated: true });
    expect(capture(["abc", ""], 2), "an empty chunk at its end").toEqual({ text: "", truncated: true });
    expect(capture(["x"], 0)).toEqual({ text: "", truncated: true });
  });

  it("keeps a byte order mark", () => expect(capture(["\ufeffa"]).text).toBe("\ufeffa"));

  it("is the same as when all of it is held: decoded, then cut, however it comes in", () => {
    const byte = fc.constantFrom(0x61, 0x0a, 0xc3, 0xa9, 0xf0, 0x9f, 0xa6, 0x80, 0xff, 0xed);
    fc.assert(
      fc.property(fc.array(fc.array(byte, { maxLength: 9 }), { maxLength: 9 }), fc.nat(50), (chunks, max) => {
        const all = Buffer.from(chunks.flat());
        const { text, truncated } = capture(
          chunks.map((chunk) => Buffer.from(chunk)),
          max,
        );
        const whole = new TextDecoder("utf-8", { ignoreBOM: true }).decode(all.subarray(0, max));
        const isCut = all.length > max || Buffer.byteLength(whole) > max;
        expect(truncated).toBe(isCut);
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(max);
        if (!isCut) expect(text).toBe(whole);
        else if (max > 14) {
          expect(text.endsWith(SUFFIX)).toBe(true);
          const kept = text.slice(0, -SUFFIX.length);
          expect(whole.startsWith(kept)).toBe(true);
          const next = [...whole.slice(kept.length)][0] ?? "";
          expect(Buffer.byteLength(kept + next)).toBeGreaterThan(max - 14);
        }
      }),
    );
  });
});
