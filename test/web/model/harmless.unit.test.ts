import { expect, it } from "vitest";
import { harmless } from "../../../src/web/model/harmless.ts";

const CONTROLS = [
  ...Array.from({ length: 0x20 }, (_, code) => String.fromCharCode(code)).filter(
    (char) => !"\t\n".includes(char),
  ),
  ..."\x7f\x85\x9f\u061c\u200e\u200f\u202a\u202e\u2066\u2069",
];

it.each(CONTROLS.map((char) => [JSON.stringify(char), char]))("%s does not come through", (_shown, char) => {
  const value = { list: [`a${char}b`], deep: { text: char } };
  const escaped = JSON.stringify(value).replace(
    /[^\x20-\x7e]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  for (const json of [JSON.stringify(value), escaped])
    expect(JSON.stringify(harmless(json))).not.toContain(JSON.stringify(char).slice(1, -1));
});

it("leaves other texts as they are", () => {
  const value = { text: "ä 漢 🙂\n\t<img>", number: 1, none: null };
  expect(harmless(JSON.stringify(value))).toEqual(value);
});
