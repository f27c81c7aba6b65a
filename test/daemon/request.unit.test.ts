import { describe, expect, test } from "vitest";
import { PROFILES } from "../../src/daemon/profiles.ts";
import { parseRequest } from "../../src/daemon/request.ts";

const parse = (value: unknown) =>
  parseRequest(Buffer.from(typeof value === "string" ? value : JSON.stringify(value)));
const errorOf = (value: unknown) => {
  const parsed = parse(value);
  if (!("error" in parsed)) throw new Error("it was accepted");
  return {
    code: parsed.error.code,
    problems: parsed.error.info.problems,
    suggestion: parsed.error.suggestion,
    phase: parsed.error.info.phase,
    head: parsed.head,
  };
};

describe("a request line", () => {
  test.each([
    ['{"version":1,"command":"agent/list","command":"daemon/stop"}', "/command"],
    ['{"version":1,"command":"agent/kill","data":{"ids":["a"],"all":false,"all":true}}', "/data/all"],
    ['{"version":1,"command":"agent/list","\\u0063ommand":"daemon/stop"}', "/command"],
  ])("with a member that is there twice is refused: %s", (line, member) => {
    expect(parse(line)).toMatchObject({
      head: { command: "request/read", profiles: PROFILES },
      error: { code: "ENVELOPE_INVALID", message: `The request has the member ${member} twice.` },
    });
  });

  test("with an id that looks like a secret is refused, and the id is not repeated", () => {
    const request_id = `ghp_${"aB3dE5gH7j".repeat(4).slice(0, 36)}`;
    const parsed = parse({ version: 1, command: "agent/list", meta: { request_id } });
    expect(parsed).toMatchObject({ error: { code: "ENVELOPE_INVALID" } });
    expect(JSON.stringify(parsed.head)).not.toContain(request_id);
  });

  test("is taken with its command, checked data and ids", () => {
    expect(
      parse({
        version: 1,
        command: "agent/list",
        data: { all: true },
        meta: { request_id: "r", trace_id: "t" },
      }),
    ).toEqual({
      head: { command: "agent/list", profiles: PROFILES, request_id: "r", trace_id: "t" },
      request: { name: "agent/list", data: { all: true } },
    });
  });

  test("may leave out data and meta", () => {
    expect(parse({ version: 1, command: "agent/list" })).toEqual({
      head: { command: "agent/list", profiles: PROFILES },
      request: { name: "agent/list", data: { all: false } },
    });
  });

  test("that is not JSON, or not UTF-8, is a PARSE_ERROR", () => {
    expect(errorOf("{").code).toBe("PARSE_ERROR");
    const parsed = parseRequest(Buffer.from([0x22, 0xff, 0x22]));
    expect("error" in parsed && parsed.error.code).toBe("PARSE_ERROR");
  });

  test("that is no frame is ENVELOPE_INVALID, answered under the ids that it gave", () => {
    for (const value of [
      null,
      [],
      7,
      {},
      { version: 2, command: "agent/list" },
      { version: 1, command: "list" },
      { version: 1, command: "agent/list", data: [] },
    ]) {
      expect(errorOf(value)).toMatchObject({ code: "ENVELOPE_INVALID", phase: "validation" });
    }
    expect(errorOf({ version: 2, command: "agent/list", meta: { request_id: "r" } }).head).toEqual({
      profiles: PROFILES,
      command: "agent/list",
      request_id: "r",
    });
  });

  test("tells all problems of its data at once", () => {
    const { code, problems, phase } = errorOf({
      version: 1,
      command: "agent/raw",
      data: { id: "", offset: -1, max_bytes: 0, colour: "red" },
    });
    expect({ code, phase }).toEqual({ code: "INVALID_REQUEST", phase: "validation" });
    expect(problems).toHaveLength(4);
    expect(problems?.join()).toMatch(/id: .*offset: .*max_bytes: .*colour/);
  });

  test("with a mistyped command gets a suggestion", () => {
    expect(errorOf({ version: 1, command: "agent/spwan" })).toMatchObject({
      code: "UNKNOWN_COMMAND",
      suggestion: "Did you mean agent/spawn?",
    });
    expect(errorOf({ version: 1, command: "toaster/explode" }).suggestion).not.toMatch(/Did you mean/);
  });

  test("cannot name a member of Object.prototype as its command", () => {
    expect(errorOf({ version: 1, command: "constructor/x" }).code).toBe("UNKNOWN_COMMAND");
  });
});
