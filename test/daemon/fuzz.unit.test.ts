/** 27,000 cases of what a client may send: bytes cut into lines, and lines read as requests, against the plainest reading of both. */
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { makeLineSplitter } from "../../src/base/line-splitter.ts";
import { parseRequest } from "../../src/daemon/request.ts";
import { encodeEnvelope, errorEnvelope } from "../../src/protocol/envelope-v1.ts";
import { Requests } from "../../src/protocol/requests.ts";
import { validateEnvelope } from "../../src/protocol/validate/envelope.ts";
import { FUZZ_MAX_MS, runs } from "../protocol/fuzz-runs.ts";

vi.setConfig({ testTimeout: FUZZ_MAX_MS });

/** Bytes that matter to a splitter, and some that do not. */
const bytes = fc.array(fc.constantFrom(10, 10, 13, 0, 97, 98, 0xc3, 0xa9, 0xff), { maxLength: 60 });

/** All bytes at once, by the byte. */
const linesOf = (all: readonly number[], max: number): (string | undefined)[] => {
  const lines: (string | undefined)[] = [];
  let line: number[] = [];
  for (const byte of all) {
    if (byte !== 10) line.push(byte);
    else {
      lines.push(line.length > max ? undefined : Buffer.from(line).toString("hex"));
      line = [];
    }
  }
  return lines;
};

describe("the line splitter", () => {
  it("gives the lines of any bytes, however they come, and holds no more than one line", () => {
    fc.assert(
      fc.property(bytes, fc.array(fc.nat(9), { maxLength: 12 }), fc.nat(12), (all, sizes, max) => {
        const splitter = makeLineSplitter(max);
        const found: (string | undefined)[] = [];
        let at = 0;
        for (const size of [...sizes, all.length]) {
          for (const line of splitter.push(Buffer.from(all.slice(at, at + size))))
            found.push("tooLong" in line ? undefined : line.text.toString("hex"));
          at += size;
        }
        if (found.join() !== linesOf(all, max).join()) expect(found).toEqual(linesOf(all, max));
        if (splitter.isInside() !== (all.length > 0 && all.at(-1) !== 10))
          expect.fail("a line is open, or not");
      }),
      runs(19_000),
    );
  });
});

const ODD = [undefined, null, "", "x", 0, -1, 1.5, true, [], [1], {}, { a: 1 }, "x".repeat(300)];
const members = (names: readonly string[]) =>
  fc.array(fc.tuple(fc.constantFrom(...names), fc.constantFrom(...ODD)), { maxLength: 3 });
const request = fc.record({
  command: fc.oneof(
    fc.constantFrom(...Object.keys(Requests), "request/cancel"),
    fc.constantFrom("a/b", "x", "", "__proto__/x"),
  ),
  frame: members(["version", "command", "data", "meta", "added", "__proto__"]),
  data: members(["id", "ids", "all", "text", "from", "spec", "request_id", "max_bytes", "dry_run", "x"]),
  meta: members(["request_id", "trace_id", "token", "x"]),
  damage: fc.nat(40),
  at: fc.nat(300),
});

const DAMAGES: readonly ((text: string, at: number) => string | Buffer)[] = [
  (text, at) => text.slice(0, at),
  (text, at) =>
    Buffer.concat([Buffer.from(text.slice(0, at)), Buffer.from([0xfe]), Buffer.from(text.slice(at))]),
  (text) => `\ufeff${text}`,
  (text) => text.replace('"data":{', `"data":{"deep":${"[".repeat(140)}${"]".repeat(140)},`),
  (_text, at) => "[".repeat(at),
  (text, at) => `${text.slice(0, at)}"\\${text.slice(at)}`,
];
const isJson = (line: Buffer): boolean => {
  try {
    const text = line.toString();
    JSON.parse(text);
    return Buffer.from(text).equals(line);
  } catch {
    return false;
  }
};

describe("a request line", () => {
  it("of any kind is a request, or an error in a valid envelope that says what to do; and never throws", () => {
    fc.assert(
      fc.property(request, ({ command, frame, data, meta, damage, at }) => {
        const text = JSON.stringify({
          version: 1,
          command,
          data: Object.fromEntries(data),
          meta: Object.fromEntries(meta),
          ...Object.fromEntries(frame),
        });
        const line = Buffer.from((DAMAGES[damage]?.(text, at % text.length) ?? text) as string);
        const parsed = parseRequest(line);
        if (!isJson(line)) expect(parsed).toHaveProperty("error");
        if (!("error" in parsed)) {
          const sent = JSON.parse(line.toString());
          expect(sent).toMatchObject({ version: 1, command: parsed.request.name });
          return;
        }
        const { error, head } = parsed;
        expect([
          "PARSE_ERROR",
          "REQUEST_TOO_LARGE",
          "ENVELOPE_INVALID",
          "INVALID_REQUEST",
          "UNKNOWN_COMMAND",
        ]).toContain(error.code);
        expect(error.info.phase).toBe("validation");
        const answer = encodeEnvelope(errorEnvelope(head, { now_ms: 0, duration_ms: 0 }, error));
        expect(validateEnvelope(Buffer.from(answer), { level: "spec", strict: true }).list).toEqual([]);
      }),
      runs(8_000),
    );
  });
});
