/** Lines of a job's progress file and lines of a stream of envelopes are not mixed. */
import { describe, expect, it } from "vitest";
import { encodeEnvelope, okEnvelope, progressEnvelope } from "../../../src/protocol/envelope-v1.ts";
import { makeStreamValidator } from "../../../src/protocol/validate/stream.ts";

const head = { command: "agent/watch", profiles: [] };
const time = { now_ms: 0, duration_ms: 1 };
const ok = encodeEnvelope(okEnvelope(head, time, {}));
const progress = (seq: number, pct: number) => encodeEnvelope(progressEnvelope(head, time, seq, { pct }));
const job = (percent: number) => JSON.stringify({ ts: "2026-05-12T00:00:00Z", percent });

const rulesAtWire = (...lines: readonly string[]): string[] => {
  const stream = makeStreamValidator({ level: "wire" });
  for (const line of lines) stream.line(Buffer.from(line));
  return [...new Set(stream.end().list.map(({ rule }) => rule))];
};

describe("a job's record", () => {
  it("is one in a file of such records alone", () => {
    expect(rulesAtWire(job(1), job(3))).toEqual([]);
    expect(rulesAtWire(job(3), job(1))).toEqual(["job.percent"]);
  });

  it("after the terminal line is more after it", () => {
    expect(rulesAtWire(ok, job(3))).toEqual(expect.arrayContaining(["version", "stream.after"]));
  });

  it("between progress lines is no envelope", () => {
    expect(rulesAtWire(progress(0, 1), job(3), progress(1, 5), ok)).toContain("version");
  });

  it("has a percent that no envelope's pct is held against", () => {
    expect(rulesAtWire(job(50), progress(0, 1), ok)).toEqual([]);
  });
});
