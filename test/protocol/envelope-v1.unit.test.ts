import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EnvelopeV1 } from "../../src/protocol/envelope-schemas.ts";
import {
  type ErrorEnvelope,
  encodeEnvelope,
  envelopeStream,
  errorEnvelope,
  okEnvelope,
  outcomeOf,
  progressEnvelope,
  progressFrame,
  progressLine,
  terminalEnvelope,
} from "../../src/protocol/envelope-v1.ts";
import { ERROR_CATALOGUE, type ErrorCode, HoldfastError } from "../../src/protocol/errors.ts";
import { success } from "../../src/protocol/outcome.ts";
import { hasVectors, vector, vectorNames } from "./vectors.ts";

const head = { command: "agent/watch", profiles: [], request_id: "r-1", trace_id: "t-1" };
const time = { now_ms: Date.UTC(2026, 10, 20, 12, 0, 0, 123), duration_ms: 41.6 };
const valid = (value: unknown) => EnvelopeV1.safeParse(value);
const linesOf = (text: string): unknown[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

describe("one envelope", () => {
  it("of a success has all members, with nulls for its error", () => {
    expect(okEnvelope(head, time, { id: "w" })).toEqual({
      version: 1,
      status: "ok",
      command: "agent/watch",
      data: { id: "w" },
      meta: {
        ts: "2026-11-20T12:00:00.123Z",
        duration_ms: 42,
        trace_id: "t-1",
        request_id: "r-1",
        profiles: [],
        source: "run",
      },
      error: { code: null, message: null },
    });
  });

  it("says in its meta how a skill made it, and gives that back", () => {
    const run = {
      runner: "exec",
      workspace: "/w",
      job_id: "01HZZZZZZZZZZZZZZZZZZZZZZZ",
      skill_version: "1.0.0",
    } as const;
    const envelope = terminalEnvelope(head, time, { ok: true, value: { a: 1 }, run });
    expect(envelope.meta).toMatchObject(run);
    expect(outcomeOf(envelope)).toEqual({ ok: true, value: { a: 1 }, run });
  });

  it("of a failure has the code of Protocol v1, the catalogue's own in details, and a hint", () => {
    const error = new HoldfastError("RATE_LIMITED", "The provider's limit is reached.", {
      retry_after_s: 30,
      attempts: 3,
      backoff: "exponential",
      details: { limit: "5h" },
    });
    const envelope = errorEnvelope(head, time, error);
    expect(envelope.error).toEqual({
      code: "ERATELIMIT",
      message: "The provider's limit is reached.",
      details: { code: "RATE_LIMITED", retry_after: 30, attempts: 3, backoff: "exponential", limit: "5h" },
    });
    expect(envelope.data).toEqual({ hint: ERROR_CATALOGUE.RATE_LIMITED.next });
  });

  it("of a partial failure keeps what was done in its data", () => {
    const envelope = terminalEnvelope(head, time, {
      ok: false,
      error: new HoldfastError("PARTIAL_FAILURE", "One failed."),
      value: { results: [1] },
    });
    expect(envelope).toMatchObject({
      status: "error",
      data: { results: [1], hint: ERROR_CATALOGUE.PARTIAL_FAILURE.next },
    });
  });

  it.each(Object.keys(ERROR_CATALOGUE) as ErrorCode[])("of %s is valid", (code) => {
    expect(valid(errorEnvelope(head, time, new HoldfastError(code, "It failed."))).error).toBeUndefined();
  });

  it("masks a trace id that is a secret", () => {
    const trace_id = `sk-ant-${"a1B2c3D4".repeat(4)}`;
    expect(okEnvelope({ ...head, trace_id }, time, {}).meta).toMatchObject({ trace_id: "***" });
    const usual = ["00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "01M8191PWXZTPR7ADG7FHTDYPY"];
    for (const id of usual)
      expect(okEnvelope({ ...head, trace_id: id }, time, {}).meta).toMatchObject({ trace_id: id });
  });

  it("masks secrets in all that it says about an error", () => {
    const key = `sk-ant-${"a1".repeat(15)}`;
    const error = new HoldfastError("EXEC_FAILED", `bad key ${key}`, {
      suggestion: `drop ${key}`,
      problems: [key],
      details: { argv: [key], token: "abc" },
    });
    expect(encodeEnvelope(errorEnvelope(head, time, error))).not.toMatch(/sk-ant-|abc/);
  });

  it("is one line, whatever is in it", () => {
    const line = encodeEnvelope(okEnvelope(head, time, { text: "a\nb\r\u2028" }));
    expect(line.indexOf("\n")).toBe(line.length - 1);
  });

  it("has a duration that is a whole number, never below 0", () => {
    expect(okEnvelope(head, { now_ms: 0, duration_ms: -3 }, {}).meta.duration_ms).toBe(0);
  });

  it.each([
    [undefined, {}],
    [null, {}],
    [[1], { value: [1] }],
    ["x", { value: "x" }],
  ])("makes an object of the value %j", (value, data) => {
    expect(terminalEnvelope(head, time, success(value)).data).toEqual(data);
  });
});

describe("a value that is no envelope", () => {
  const ok = JSON.parse(encodeEnvelope(okEnvelope(head, time, {})));
  it.each([
    ["another version", { ...ok, version: 2 }],
    ["a command without a namespace", { ...ok, command: "watch" }],
    ["a success with an error code", { ...ok, error: { code: "EARG", message: "x" } }],
    ["a failure without one", { ...ok, status: "error" }],
    ["progress without seq", { ...ok, status: "progress" }],
    ["a time that is not UTC", { ...ok, meta: { ...ok.meta, ts: "2026-11-20T12:00:00+01:00" } }],
    ["a negative duration", { ...ok, meta: { ...ok.meta, duration_ms: -1 } }],
    ["data that is no object", { ...ok, data: [] }],
  ])("%s is refused", (_name, value) => expect(valid(value).success).toBe(false));

  it("a field that a later version adds is let pass", () => {
    expect(
      valid({ ...ok, added: 1, meta: { ...ok.meta, added: 1 }, error: { ...ok.error, added: 1 } }).success,
    ).toBe(true);
  });
});

describe("outcomeOf", () => {
  it("gives back the error that went in", () => {
    const info = {
      problems: ["a", "b"],
      suggestion: "Do c.",
      retry_after_s: 3,
      attempts: 2,
      backoff: "linear",
      phase: "validation",
      details: { x: 1 },
    } as const;
    for (const code of Object.keys(ERROR_CATALOGUE) as ErrorCode[]) {
      const outcome = outcomeOf(
        JSON.parse(
          encodeEnvelope(errorEnvelope(head, time, new HoldfastError(code, "m", info), { results: [] })),
        ) as ErrorEnvelope,
      );
      expect(outcome).toMatchObject({
        ok: false,
        error: { code, message: "m", info },
        value: { results: [] },
      });
    }
  });

  it("gives back the value of a success", () =>
    expect(outcomeOf(okEnvelope(head, time, { a: 1 }))).toEqual({ ok: true, value: { a: 1 } }));

  it("takes a code that it does not know as INTERNAL", () => {
    const envelope = errorEnvelope(head, time, new HoldfastError("TIMEOUT", "m"));
    const newer = { ...envelope, error: { ...envelope.error, details: { code: "__proto__" } } };
    expect(outcomeOf(newer)).toMatchObject({ error: { code: "INTERNAL", message: "m" } });
  });
});

describe("a stream of envelopes", () => {
  it("counts progress from 0 without a gap, then ends with exactly one terminal envelope", () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { maxLength: 5 }), { maxLength: 5 }),
        fc.boolean(),
        (batches, ok) => {
          const stream = envelopeStream(head);
          let text = "";
          for (const batch of batches)
            text += stream.progress(
              batch.map((record) => JSON.stringify(record)),
              time,
            );
          text += stream.end(
            ok ? success({ next: 9 }) : { ok: false, error: new HoldfastError("TIMEOUT", "Late.") },
            time,
          );
          const envelopes = linesOf(text) as EnvelopeV1[];
          const progress = envelopes.slice(0, -1);
          expect(progress.map((envelope) => [envelope.status, envelope.meta.seq])).toEqual(
            progress.map((_, seq) => ["progress", seq]),
          );
          expect(progress.map((envelope) => envelope.data)).toEqual(
            JSON.parse(JSON.stringify(batches.flat())),
          );
          expect(envelopes.at(-1)!.status).toBe(ok ? "ok" : "error");
          for (const envelope of envelopes) expect(valid(envelope).error).toBeUndefined();
        },
      ),
    );
  });

  it("lets nothing follow the terminal envelope", () => {
    const stream = envelopeStream(head);
    stream.end(success({}), time);
    expect(() => stream.progress(["{}"], time)).toThrowError(HoldfastError);
    expect(() => stream.end(success({}), time)).toThrowError(HoldfastError);
  });

  it("writes the very line that the envelope encodes to", () => {
    const record = { seq: 7, text: 'a"}\n,é' };
    for (const some of [head, { command: "agent/watch", profiles: [] }]) {
      expect(progressLine(progressFrame(some, time), 3, JSON.stringify(record))).toBe(
        encodeEnvelope(progressEnvelope(some, time, 3, record)),
      );
    }
  });
});

/** Commands without a namespace, a missing duration, and sources of their own (notes 2.3). */
const KNOWN_FAULTS = ["command", "meta.duration_ms", "meta.source"];
const expectRead = (name: string, text: string): void => {
  const envelope = JSON.parse(text);
  const problems = valid(envelope).error?.issues.map((issue) => issue.path.join(".")) ?? [];
  expect(
    problems.filter((path) => !KNOWN_FAULTS.includes(path)),
    name,
  ).toEqual([]);
  const { error, data } = envelope;
  expect(outcomeOf(envelope), name).toMatchObject(
    envelope.status === "ok" ? { ok: true, value: data } : { ok: false, error: { message: error.message } },
  );
};

it("envelopes as the originals write them are read, but for what breaks the document in them", () => {
  const own = join(import.meta.dirname, "../golden/wire");
  const names = readdirSync(own).filter((name) => name.endsWith(".json"));
  expect(names.length).toBeGreaterThan(5);
  for (const name of names) expectRead(name, readFileSync(join(own, name), "utf8"));
});

it.skipIf(!hasVectors("protocol-v1/envelopes"))(
  "and so are the golden envelopes of the originals (only where they are at hand)",
  () => {
    for (const name of vectorNames("protocol-v1/envelopes"))
      expectRead(name, vector("protocol-v1/envelopes", name));
  },
);
