import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalDigest, canonicalJson, sha256Digest } from "../../src/protocol/canonical-json.ts";
import { hasVectors, vector, vectorNames } from "./vectors.ts";

const JCS = "weblisk/jcs/testdata";
const NUMBERS = "weblisk/derived/jcs-numbers.json";

const numberOf = (ieee754: string): number => Buffer.from(ieee754, "hex").readDoubleBE();

describe("canonicalJson", () => {
  it("writes the example of RFC 8785 as section 3.2.4 does", () => {
    const value = {
      numbers: [Number("333333333.33333329"), 1e30, 4.5, 2e-3, 1e-27],
      string: '€$\u000f\nA\'B"\\\\"/',
      literals: [null, true, false],
    };
    expect(canonicalJson(value)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  it("sorts keys by UTF-16 units, as the example of section 3.2.3", () => {
    const value = JSON.parse(
      '{"\\u20ac":1,"\\r":2,"\\ufb33":3,"1":4,"\\ud83d\\ude00":5,"\\u0080":6,"\\u00f6":7}',
    );
    expect(Object.values(JSON.parse(canonicalJson(value).replace('"1"', '"one"')))).toEqual([
      2, 4, 6, 7, 1, 5, 3,
    ]);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, "\ud800", undefined, () => 1])(
    "refuses what JSON cannot say: %s",
    (value) => {
      expect(() => canonicalJson(value)).toThrowError(expect.objectContaining({ code: "INVALID_REQUEST" }));
      expect(() => canonicalJson(1n)).toThrowError(expect.objectContaining({ code: "INVALID_REQUEST" }));
    },
  );

  it("is the same text whatever the order of keys, and reads back as the same value", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const json = canonicalJson(value);
        expect(canonicalJson(Object.fromEntries(Object.entries(value).reverse()))).toBe(json);
        expect(canonicalJson(JSON.parse(json))).toBe(json);
      }),
    );
  });

  it.skipIf(!hasVectors(JCS))("writes the vectors of the RFC's author (only where they are at hand)", () => {
    for (const name of vectorNames(`${JCS}/input`)) {
      expect(canonicalJson(JSON.parse(vector(JCS, "input", name))), name).toBe(
        vector(JCS, "output", name).replace(/\n$/, ""),
      );
    }
  });

  it.skipIf(!hasVectors(NUMBERS))(
    "writes the numbers of RFC 8785, appendix B (only where they are at hand)",
    () => {
      const numbers: { ieee754: string; json: string }[] = JSON.parse(vector(NUMBERS));
      expect(numbers.length).toBeGreaterThan(10);
      for (const { ieee754, json } of numbers) {
        const number = numberOf(ieee754);
        if (Number.isFinite(number)) expect(canonicalJson(number), ieee754).toBe(json);
      }
    },
  );
});

it("digests are sha256: and hex, of a text's UTF-8 and of canonical JSON", () => {
  expect(sha256Digest("abc")).toBe("sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  expect(sha256Digest("é")).toBe(sha256Digest(Buffer.from("é")));
  expect(canonicalDigest({ b: 1, a: 2 })).toBe(sha256Digest('{"a":2,"b":1}'));
});
