import { describe, expect, it } from "vitest";
import { checkedInTests } from "../../../src/cli/render/ndjson.ts";
import type { CommandEnd, Renderer } from "../../../src/cli/render/renderer.ts";
import { SENT_WHOLE } from "../../../src/protocol/artifactize.ts";
import { encodeEnvelope, okEnvelope, progressEnvelope } from "../../../src/protocol/envelope-v1.ts";
import { makeAnswersCheck, makePrintedCheck } from "../../../src/protocol/validate/envelope-check.ts";

const time = { now_ms: 0, duration_ms: 1 };
const head = { command: "agent/watch", profiles: [], request_id: "r" };
const progress = (seq: number, of = head) => encodeEnvelope(progressEnvelope(of, time, seq, {}));
const end = encodeEnvelope(okEnvelope(head, time, {}));
const inline = 32 * 1024;
const large = (data: object, request_id = "r") =>
  encodeEnvelope(okEnvelope({ ...head, request_id }, time, { text: "x".repeat(inline), ...data }));
const broken = end.replace("agent/watch", "agent.watch");

describe("our output", () => {
  it("passes where it is a whole stream by the document", () => {
    const check = makePrintedCheck(inline);
    check.take(progress(0) + progress(1));
    check.take(end);
    expect(() => check.end()).not.toThrow();
  });

  it.each([
    ["an envelope that breaks a rule", [broken], /command at \/command/],
    ["a gap at the beginning", [progress(1)], /stream\.first/],
    ["two terminal lines", [end, end], /stream\.after/],
    ["no terminal line", [progress(0)], /stream\.terminal/],
    ["what is no JSON", ["{\n"], /json\.syntax/],
    ["more inline than the limit", [large({})], /data\.inline/],
  ])("is refused with %s", (_name, lines, message) => {
    const check = makePrintedCheck(inline);
    expect(() => {
      for (const line of lines) check.take(line);
      check.end();
    }).toThrow(message);
  });

  it("may be larger where the limit is, and where it says that it could not be kept", () => {
    makePrintedCheck(2 * inline).take(large({}));
    makePrintedCheck(inline).take(large({ hint: `${SENT_WHOLE}: the disk is full` }));
  });

  it("may be as large as its request asked for, and no other's", () => {
    const check = makeAnswersCheck((id) => (id === "wide" ? 2 * inline : inline));
    expect(check.take(large({}, "wide"))).toBeUndefined();
    expect(check.take(large({}, "narrow"))?.message).toMatch(/data\.inline/);
  });

  it("may be of many requests at once on a connection, each numbered by itself", () => {
    const check = makeAnswersCheck(() => inline);
    const other = { command: "agent/watch", profiles: [], request_id: "s" };
    expect(check.take(progress(0) + progress(0, other) + progress(1) + end)).toBeUndefined();
    expect(check.take(progress(2, other))?.message).toMatch(/goes from 0 to 2/);
    expect(check.take(broken)?.message).toMatch(/breaks the contract/);
  });

  it.each([
    ["progress that begins at another number than 0", [progress(1)], /begins at 1/],
    ["a second terminal line", [end, end], /follows the terminal one/],
    ["progress after the terminal line", [progress(0), end, progress(1)], /follows the terminal one/],
    ["progress that begins again", [progress(0), progress(0)], /goes from 0 to 0/],
  ])("is refused with %s of one request", (_name, lines, message) => {
    const check = makeAnswersCheck(() => inline);
    check.asked("r");
    expect(check.take(lines.join(""))?.message).toMatch(message);
  });

  it("may be of an id that is asked for again, after its answer and before it", () => {
    const check = makeAnswersCheck(() => inline);
    check.asked("r");
    expect(check.take(progress(0) + end)).toBeUndefined();
    check.asked("r");
    expect(check.take(progress(0))).toBeUndefined();
    check.asked("r");
    // The repeat is refused while the first goes on; or the first has ended, and the repeat begins.
    expect(check.take(end + progress(1) + end)).toBeUndefined();
    expect(check.take(end)?.message).toMatch(/follows the terminal one/);
  });

  it("may be any number of answers to what has no id", () => {
    const nameless = encodeEnvelope(okEnvelope({ command: "request/read", profiles: [] }, time, {}));
    expect(makeAnswersCheck(() => inline).take(nameless + nameless)).toBeUndefined();
  });

  it("is judged only in test mode", async () => {
    const renderer: Renderer = { record: () => broken, end: () => ({ stdout: broken, stderr: "" }) };
    const unused = {} as CommandEnd;
    expect(await checkedInTests(renderer, {})).toBe(renderer);
    const judged = await checkedInTests(renderer, { HOLDFAST_VALIDATE: "1" });
    expect(() => judged.end(unused)).toThrow(/breaks the contract/);
  });
});
