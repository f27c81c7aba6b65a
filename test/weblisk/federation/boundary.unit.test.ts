/** Denied names are gone at every depth, in any spelling, also in JSON within texts; the rest is as it was. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BOUNDARY_DEPTH_MAX } from "../../../src/base/limits.ts";
import { crossing, foldedName } from "../../../src/weblisk/federation/boundary.ts";

const boundary = (rest: Partial<Parameters<typeof crossing>[1]> = {}) => ({
  allow_fields: [],
  deny_fields: ["email", "api_key", "internal_id"],
  max_payload_size: 65_536,
  ...rest,
});

describe("names", () => {
  it.each(["api_key", "apiKey", "API-KEY", "Api Key", "api.key", "ａｐｉ_ｋｅｙ", "api\u200bkey", "ápi_key"])(
    "%s is api_key",
    (name) => {
      expect(foldedName(name)).toBe("apikey");
      expect(crossing({ [name]: "v", title: "t" }, boundary()).payload).toEqual({ title: "t" });
    },
  );
});

it("strips a denied name below allowed ones, in lists, and in JSON of JSON of a text", () => {
  const inner = JSON.stringify({ a: JSON.stringify([{ EMAIL: "x@y" }]), b: 1 });
  const { payload, stripped, fields } = crossing({ title: [{ note: inner, email: 1 }] }, boundary());
  expect(payload).toEqual({ title: [{ note: '{"a":"[{}]","b":1}' }] });
  expect(stripped).toEqual(["EMAIL", "email"]);
  expect(fields).toEqual(["a", "b", "note", "title"]);
});

it("lets only allowed members cross, with their content, and deny beats allow", () => {
  const rules = boundary({ allow_fields: ["title", "Email"] });
  const given = { title: { sub: 1, api_key: 2 }, email: "e", other: 3 };
  expect(crossing(given, rules)).toMatchObject({
    payload: { title: { sub: 1 } },
    stripped: ["api_key", "email", "other"],
  });
  expect(crossing([given, 7], rules).payload).toEqual([{ title: { sub: 1 } }, 7]);
  expect(crossing(JSON.stringify(given), rules).payload).toBe('{"title":{"sub":1}}');
});

it("measures what is left", () => {
  const rules = boundary({ max_payload_size: 20 });
  expect(crossing({ email: "x".repeat(100), a: 1 }, rules).bytes).toBe(7);
  expect(() => crossing({ a: "x".repeat(13) }, rules)).toThrow("21 bytes");
  expect(crossing({ a: "x".repeat(11) }, rules).bytes).toBe(19);
});

it("masks a secret in a text, and strips a name that is one", () => {
  const secret = `ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)}`;
  const crossed = crossing({ note: `use ${secret}`, list: [secret], [secret]: 1 }, boundary());
  expect(JSON.stringify(crossed)).not.toContain(secret);
  expect(crossed.masked).toBe(2);
});

it("keeps a member with the name __proto__ as data", () => {
  const given = JSON.parse('{"__proto__":{"email":1,"x":2}}');
  expect(JSON.stringify(crossing(given, boundary()).payload)).toBe('{"__proto__":{"x":2}}');
});

it("refuses a payload that is nested too deeply", () => {
  const nested = (levels: number): unknown => JSON.parse("[".repeat(levels) + "]".repeat(levels));
  expect(crossing(nested(BOUNDARY_DEPTH_MAX + 1), boundary()).payload).toEqual(
    nested(BOUNDARY_DEPTH_MAX + 1),
  );
  expect(() => crossing(nested(BOUNDARY_DEPTH_MAX + 2), boundary())).toThrow("levels");
});

const spellings = fc.constantFrom("email", "eMail", "E-MAIL", "e_mail", "internalId", "API KEY");
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom(1, true, null, "word", 0.5),
    fc.array(tie("tree"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("title", "note", "x1"), tie("tree"), { maxKeys: 3 }),
  ),
}));

/** Puts MARK under a denied name at any place of a value, also in texts. */
const salted = (value: unknown, name: string, asText: boolean): unknown => {
  if (Array.isArray(value)) return value.map((one) => salted(one, name, asText));
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([key, member]) => [key, salted(member, name, asText)]);
  const one = Object.fromEntries([...members, [name, { deep: ["MARK"] }]]);
  return asText ? JSON.stringify(one) : one;
};

it("a value under a denied name never crosses, at any depth", () => {
  fc.assert(
    fc.property(tree, spellings, fc.boolean(), (value, name, asText) => {
      const crossed = crossing(salted({ value }, name, asText), boundary());
      expect(JSON.stringify(crossed)).not.toContain("MARK");
    }),
    { numRuns: 300 },
  );
});

it("a payload without anything denied crosses as it is", () => {
  fc.assert(
    fc.property(tree, (value) => {
      expect(JSON.stringify(crossing(value, boundary()).payload)).toBe(JSON.stringify(value));
    }),
    { numRuns: 300 },
  );
});
