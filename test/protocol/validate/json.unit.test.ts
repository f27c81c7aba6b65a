import { describe, expect, it } from "vitest";
import { ENVELOPE_MAX_BYTES, ENVELOPE_MAX_DEPTH, FINDINGS_MAX } from "../../../src/base/limits.ts";
import { validateEnvelope } from "../../../src/protocol/validate/envelope.ts";
import { readJson } from "../../../src/protocol/validate/json.ts";
import { makeStreamValidator } from "../../../src/protocol/validate/stream.ts";

const read = (text: string | Uint8Array) => readJson(Buffer.from(text as string));
const faults = (text: string | Uint8Array) => read(text).faults.map(({ kind }) => kind);
const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

describe("text", () => {
  it.each<[string, string | Uint8Array, readonly string[]]>([
    ["a byte order mark is no JSON", "\ufeff{}", ["syntax"]],
    ["a byte that is no UTF-8", Buffer.from([0x22, 0xff, 0x22]), ["utf8"]],
    ["a surrogate in UTF-8", Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), ["utf8"]],
    ["a lone surrogate as an escape is JSON", '"\\ud800"', []],
    ["a raw NUL is no JSON", '"a\u0000"', ["syntax"]],
    ["an escaped NUL is", '"a\\u0000"', []],
    ["nothing", "", ["empty"]],
    ["white space alone", " \r\n\t", ["empty"]],
    ["nesting at the bound", nested(ENVELOPE_MAX_DEPTH), []],
    ["nesting over it", nested(ENVELOPE_MAX_DEPTH + 1), ["depth"]],
    ["a number that no double holds", '{"a":[1e999]}', ["number"]],
    ["a large one that loses its last digits", "12345678901234567890", []],
    ["a member that is there twice", '{"a":1,"b":{"a":1},"\\u0061":2}', ["duplicate"]],
    ["a second value", "{} {}", ["trailing"]],
    ["an open string", '"abc', ["syntax"]],
  ])("%s", (_name, text, expected) => expect(faults(text)).toEqual(expected));

  it("the last of two members counts, as everywhere", () =>
    expect(read('{"a":1,"a":2}').value).toEqual({ a: 2 }));

  it("a member named __proto__ is a member and nothing else", () => {
    const value = read('{"__proto__":{"version":1}}').value as { version?: unknown };
    expect(value.version).toBeUndefined();
    expect(Object.keys(value)).toEqual(["__proto__"]);
  });
});

describe("the line of a member", () => {
  const text =
    '\n{\n  "a": 1,\n  "b": {\n    "c": [\n      1,\n      { "d": 2 }\n    ]\n  },\n  "x/y": 3 }\n';
  it.each([
    ["", 2],
    ["/a", 3],
    ["/b", 4],
    ["/b/c", 5],
    ["/b/c/1", 5],
    ["/b/none", 4],
    ["/x~1y", 10],
  ])("%j is %i", (pointer, line) => expect(read(text).lineOf(pointer)).toBe(line));

  it("counts on from the line at which a line of a stream stands", () =>
    expect(readJson(Buffer.from('{"a":1,"a":2}'), 7).faults[0]?.line).toBe(7));
});

describe("hostile input ends, within the bounds", () => {
  const size = ENVELOPE_MAX_BYTES;
  it.each([
    ["brackets", "[".repeat(size)],
    ["braces", '{"a":'.repeat(size / 5)],
    ["quotes", '"'.repeat(size)],
    ["backslashes in a string", `"${"\\".repeat(size - 1)}`],
    ["one long string", `"${"a".repeat(size - 2)}"`],
    ["many members", `{${Array.from({ length: 300_000 }, (_, i) => `"${i}":0`).join(",\n")}}`],
    ["many times the same member", `{${'"a":0,'.repeat(500_000)}"a":0}`],
    ["many odd members", `{"meta":{${Array.from({ length: 200_000 }, (_, i) => `"k${i}":0`).join()}}}`],
    ["what is nearly a secret", `{"data":"${"sk-".repeat(1_000_000)}"}`],
    ["lines", "\n".repeat(size)],
  ])("%s", (_name, text) => {
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(size);
    const findings = validateEnvelope(Buffer.from(text), { level: "spec", strict: true });
    expect(findings.list.length).toBeGreaterThan(0);
    expect(findings.list.length).toBeLessThanOrEqual(FINDINGS_MAX);
    expect(Buffer.byteLength(JSON.stringify(findings.list))).toBeLessThan(100_000);
  });

  it("a stream of bad lines keeps the first findings and counts the rest", () => {
    const stream = makeStreamValidator({ level: "spec" });
    for (let line = 0; line < 10_000; line += 1) stream.line(Buffer.from("{"));
    const findings = stream.end();
    expect(findings.list).toHaveLength(FINDINGS_MAX);
    expect(findings.count()).toBe(10_001);
  });
});
