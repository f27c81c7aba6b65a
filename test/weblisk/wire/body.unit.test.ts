import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { WEBLISK_BODY_MAX_BYTES, WEBLISK_VALUES_MAX } from "../../../src/base/limits.ts";
import { readBody, wireJson } from "../../../src/weblisk/wire/body.ts";

const bytes = (text: string) => Buffer.from(text);
const reasonOf = (input: Uint8Array): string | undefined => {
  try {
    readBody(input);
    return undefined;
  } catch (cause) {
    const { code, facts } = cause as { code: string; facts: { reason: string } };
    return `${code} ${facts.reason}`;
  }
};
const nested = (levels: number) => `{"a":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;
const sized = (size: number) => bytes(`{"a":"${"x".repeat(size - 8)}"}`);

describe("a body", () => {
  it("is read whole, known members and others", () =>
    expect(readBody(bytes('{"a":1,"later":{"b":[null]}}')).value).toEqual({ a: 1, later: { b: [null] } }));

  test.each([
    ["of 64 levels is read", bytes(nested(64)), undefined],
    ["of 65 levels is refused", bytes(nested(65)), "INVALID_REQUEST too_deep"],
    ["of 100,000 levels is refused", bytes(nested(100_000)), "INVALID_REQUEST too_deep"],
    ["of 1,048,576 bytes is read", sized(WEBLISK_BODY_MAX_BYTES), undefined],
    ["of one byte more is refused", sized(WEBLISK_BODY_MAX_BYTES + 1), "INVALID_REQUEST body_too_large"],
    ["with a member twice is refused", bytes('{"a":1,"\\u0061":2}'), "INVALID_REQUEST duplicate_member"],
    [
      "with a deep member twice is refused",
      bytes('{"a":[{"b":1,"b":1}]}'),
      "INVALID_REQUEST duplicate_member",
    ],
    ["that is not UTF-8 is refused", Buffer.from([0x7b, 0xff, 0x7d]), "INVALID_REQUEST not_utf8"],
    ["with a byte order mark is refused", bytes('\ufeff{"a":1}'), "INVALID_REQUEST not_json"],
    ["with half a surrogate pair is refused", bytes('{"a":"\\ud800"}'), "INVALID_REQUEST lone_surrogate"],
    ["with such a name is refused", bytes('{"\\udc00":1}'), "INVALID_REQUEST lone_surrogate"],
    ["with the integer 2^53 - 1 is read", bytes('{"a":9007199254740991}'), undefined],
    ["with 2^53 is refused", bytes('{"a":9007199254740992}'), "INVALID_REQUEST unsafe_number"],
    ["with a number beyond doubles is refused", bytes('{"a":1e999}'), "INVALID_REQUEST unsafe_number"],
    ["that is a list is refused", bytes("[1]"), "INVALID_REQUEST not_an_object"],
    ["that is empty is refused", bytes(" "), "INVALID_REQUEST body_missing"],
    ["that is two values is refused", bytes("{} {}"), "INVALID_REQUEST more_than_one_value"],
    [
      "of too many values is refused",
      bytes(`{"a":[${"1,".repeat(WEBLISK_VALUES_MAX)}1]}`),
      "INVALID_REQUEST too_many_values",
    ],
  ])("%s", (_, input, reason) => expect(reasonOf(input)).toBe(reason));

  it("keeps the text of each member as it came", () => {
    const { raw } = readBody(bytes('{ "m" : {"10":1,"9":"\\u003c"} , "\\u006e":[ ",}" ],"o": 1.0 }'));
    expect([...raw]).toEqual([
      ["m", '{"10":1,"9":"\\u003c"}'],
      ["n", '[ ",}" ]'],
      ["o", "1.0"],
    ]);
  });

  it("the texts of its members are its members, for any body", () =>
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue(), { noNullPrototype: true }),
        (value) => {
          const text = bytes(JSON.stringify(value, null, 1));
          if (reasonOf(text) !== undefined) return;
          const { raw, value: read } = readBody(text);
          const again = [...raw].map(([name, member]) => [name, JSON.parse(member)]);
          expect(Object.fromEntries(again)).toEqual(read);
        },
      ),
    ));
});

it("is written without a null at any depth, and its values as canonical JSON", () => {
  const value = { z: { b: 1, a: [null, 2, { c: undefined, d: null }] }, a: null, m: "€" };
  expect(wireJson(value)).toBe('{"z":{"a":[2,{}],"b":1},"m":"€"}');
});
