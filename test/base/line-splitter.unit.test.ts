import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { makeLineSplitter } from "../../src/base/line-splitter.ts";

const split = (maxBytes: number, chunks: readonly string[]): string[] => {
  const splitter = makeLineSplitter(maxBytes);
  return chunks.flatMap((chunk) =>
    splitter.push(Buffer.from(chunk)).map((line) => ("tooLong" in line ? "TOO LONG" : line.text.toString())),
  );
};

describe("lines of a socket", () => {
  test("are the same however the bytes are cut into chunks", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 20 })), fc.array(fc.nat(50)), (texts, cuts) => {
        const bytes = texts.map((text) => `${text.replaceAll("\n", "")}\n`).join("");
        const chunks: string[] = [];
        let at = 0;
        for (const cut of cuts) {
          chunks.push(bytes.slice(at, at + cut));
          at += cut;
        }
        chunks.push(bytes.slice(at));
        expect(split(12, chunks)).toEqual(split(12, [bytes]));
      }),
    );
  });

  test("over the bound are reported once, and what follows is read", () => {
    expect(split(4, ["aaaa\nbbb", "bbbb", "bbb\ncc\n"])).toEqual(["aaaa", "TOO LONG", "cc"]);
  });

  test("wait for their end, or for the end of all", () => {
    const splitter = makeLineSplitter(4);
    expect(splitter.push(Buffer.from("aa"))).toEqual([]);
    expect(splitter.end()).toEqual({ text: Buffer.from("aa") });
    expect(splitter.end()).toBeUndefined();
    splitter.push(Buffer.from("bbbbb"));
    expect(splitter.end()).toEqual({ tooLong: true });
  });
});
