/** Parts of a reserve that are taken: whole entries of its own nonce, in order, and nothing after the first that is not. */
import { describe, expect, it } from "vitest";
import { entriesIn, entryOf } from "../../../src/store/sqlite/reserve.ts";

const NONCE = "0123456789abcdef0123456789abcdef";
const OTHER = "f".repeat(32);
const file = (...parts: readonly string[]): Uint8Array =>
  Buffer.from(`holdfast reserve ${NONCE}\n${parts.join("")}`);
const [one, two, three] = [{ n: 1, text: "é" }, { n: 2 }, { n: 3 }];

describe("the entries of a reserve", () => {
  it.each([
    ["a file that is none", Buffer.from("something else"), undefined],
    ["an empty file", Buffer.alloc(0), undefined],
    ["nothing yet, and noise after it", file("\u0000\u0007noise"), []],
    ["two", file(entryOf(NONCE, one), entryOf(NONCE, two)), [one, two]],
    ["one that is torn", file(entryOf(NONCE, one), entryOf(NONCE, two).slice(0, -3)), [one]],
    ["one of before the last clear", file(entryOf(NONCE, one), entryOf(OTHER, two)), [one]],
    [
      "none after one that was changed",
      file(entryOf(NONCE, one), entryOf(NONCE, two).replace("2}", "9}"), entryOf(NONCE, three)),
      [one],
    ],
  ])("%s", (_, bytes, expected) => {
    expect(entriesIn(bytes)?.entries).toEqual(expected);
  });

  it("end where the next one goes", () => {
    const whole = file(entryOf(NONCE, one));
    expect(entriesIn(Buffer.concat([whole, Buffer.from("left")]))?.end).toBe(whole.length);
  });
});
