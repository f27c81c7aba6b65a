import { describe, expect, it } from "vitest";
import * as z from "zod";
import { ResponseEnvelope } from "../../src/protocol/envelope-schemas.ts";
import { ERROR_CATALOGUE, type ErrorCode, HoldfastError } from "../../src/protocol/errors.ts";
import { GENERATIONS } from "../../src/protocol/generations.ts";
import { failure, success } from "../../src/protocol/outcome.ts";
import { toResponseEnvelope } from "../../src/protocol/response-envelope.ts";
import { hasVectors, vector } from "./vectors.ts";

const options = { duration_ms: 339.6, request_id: "req_1" };
const KEYS = ["ok", "data", "error", "warnings", "meta"];

describe("toResponseEnvelope", () => {
  it("of a success has its data, no error, and exit code 0", () => {
    expect(toResponseEnvelope(success({ id: "w" }, ["old flag"]), options)).toEqual({
      envelope: {
        ok: true,
        data: { id: "w" },
        error: null,
        warnings: ["old flag"],
        meta: { duration_ms: 340, request_id: "req_1", schema_version: "1.0" },
      },
      exitCode: 0,
    });
  });

  it.each(Object.entries(ERROR_CATALOGUE))(
    "of %s is valid and says its exit code, retryability and next step",
    (code, row) => {
      const { envelope, exitCode } = toResponseEnvelope(
        failure(new HoldfastError(code as ErrorCode, "It failed.")),
        options,
      );
      expect(ResponseEnvelope.safeParse(envelope).error).toBeUndefined();
      expect(Object.keys(envelope)).toEqual(KEYS);
      expect(exitCode).toBe(row.exit);
      expect(envelope).toMatchObject({
        ok: false,
        data: null,
        error: {
          code,
          message: "It failed.",
          retryable: GENERATIONS.g1!.exits[row.exit]!.retryable,
          suggestion: row.next,
        },
      });
    },
  );

  it("of exit code 3 is of the validation phase, which promises that nothing was done", () => {
    expect(
      toResponseEnvelope(failure(new HoldfastError("INVALID_REQUEST", "Bad.")), options).envelope.error!
        .phase,
    ).toBe("validation");
    expect(
      toResponseEnvelope(failure(new HoldfastError("TIMEOUT", "Late.")), options).envelope.error,
    ).not.toHaveProperty("phase");
  });

  it("tells when to retry in whole seconds, and only where a retry is safe", () => {
    const of = (code: ErrorCode) =>
      toResponseEnvelope(failure(new HoldfastError(code, "x", { retry_after_s: 1.2 })), options).envelope
        .error;
    expect(of("RATE_LIMITED")!.retry_after).toBe(2);
    expect(of("AGENT_FAILED")).not.toHaveProperty("retry_after");
  });

  it("keeps the results of a partial failure in meta.partial, for data is null on failure", () => {
    const results = [
      { id: "a", ok: true },
      { id: "b", ok: false },
    ];
    const { envelope, exitCode } = toResponseEnvelope(
      { ok: false, error: new HoldfastError("PARTIAL_FAILURE", "b failed."), value: { results } },
      options,
    );
    expect(exitCode).toBe(2);
    expect(envelope.data).toBeNull();
    expect(envelope.meta.partial).toEqual({ results });
    expect(envelope.error).not.toHaveProperty("detail");
  });

  it("tells all problems as text in error.detail, and for programs in meta with the error's facts and tries", () => {
    const error = new HoldfastError("INVALID_REQUEST", "Two problems.", {
      problems: ["a", "b"],
      details: { flag: "--x" },
      attempts: 3,
      backoff: "fixed 1s",
    });
    const { envelope } = toResponseEnvelope(failure(error), options);
    expect(envelope.error!.detail).toBe("a\nb");
    expect(envelope.meta).toMatchObject({
      problems: ["a", "b"],
      details: { flag: "--x" },
      attempts: 3,
      backoff: "fixed 1s",
    });
  });

  it("tells what somebody else said as text in error.detail", () => {
    const error = new HoldfastError("SUPERVISOR_GAVE_UP", "It gave up.", {
      detail: "AGENT_FAILED: it broke.",
    });
    expect(toResponseEnvelope(failure(error), options).envelope.error!.detail).toBe(
      "AGENT_FAILED: it broke.",
    );
  });

  it("tells in meta.retry_after when something goes on that the caller need not repeat", () => {
    const late = failure(new HoldfastError("TIMEOUT", "Late.", { retry_after_s: 1.2 }));
    expect(toResponseEnvelope(late, options).envelope.meta.retry_after).toBe(2);
    const limited = failure(new HoldfastError("RATE_LIMITED", "Wait.", { retry_after_s: 1.2 }));
    expect(toResponseEnvelope(limited, options).envelope.meta).not.toHaveProperty("retry_after");
  });

  it("masks secrets in message, suggestion and detail", () => {
    const key = `sk-ant-${"a1".repeat(15)}`;
    const error = new HoldfastError("EXEC_FAILED", key, {
      detail: key,
      suggestion: key,
      problems: [key],
      details: { argv: [key] },
    });
    const outcome = { ok: false, error, value: { name: key } } as const;
    expect(JSON.stringify(toResponseEnvelope(outcome, options))).not.toContain("sk-ant-");
  });

  it.each([
    [undefined, {}],
    [null, {}],
    [[], []],
    ["text", { value: "text" }],
    [0, { value: 0 }],
  ])("gives the value %j as an object or array", (value, data) => {
    const { envelope } = toResponseEnvelope(success(value), options);
    expect(envelope.data).toEqual(data);
    expect(ResponseEnvelope.safeParse(envelope).success).toBe(true);
  });

  it("has data and error both null only when nothing was modified", () => {
    const { envelope, exitCode } = toResponseEnvelope(success({ a: 1 }), {
      ...options,
      meta: { not_modified: true },
    });
    expect(envelope).toMatchObject({ ok: true, data: null, error: null, meta: { not_modified: true } });
    expect(exitCode).toBe(0);
    expect(ResponseEnvelope.safeParse(envelope).success).toBe(true);
  });

  it("takes a child's exit code, and refuses one that contradicts the outcome", () => {
    const failed = failure(new HoldfastError("WORKER_FAILED", "x"));
    expect(toResponseEnvelope(failed, { ...options, exitCode: 77 })).toMatchObject({
      exitCode: 77,
      envelope: { ok: false },
    });
    expect(() => toResponseEnvelope(failed, { ...options, exitCode: 0 })).toThrowError(HoldfastError);
    expect(() => toResponseEnvelope(success({}), { ...options, exitCode: 1 })).toThrowError(HoldfastError);
  });
});

describe("the schema", () => {
  const { envelope } = toResponseEnvelope(success({}), options);
  const failed = toResponseEnvelope(failure(new HoldfastError("TIMEOUT", "x")), options).envelope;
  const broken: [string, object][] = [
    ...KEYS.map((key): [string, object] => [`${key} missing`, { ...envelope, [key]: undefined }]),
    ["a sixth member", { ...envelope, extra: 1 }],
    ["data and error both null", { ...envelope, data: null }],
    ["ok with an error", { ...failed, ok: true }],
    ["a failure with data", { ...failed, data: {} }],
    ["an open error", { ...failed, error: { ...failed.error, extra: 1 } }],
    ["scalar data", { ...envelope, data: "x" }],
    ["warnings that are null", { ...envelope, warnings: null }],
  ];
  it.each(broken)("refuses %s", (_name, value) =>
    expect(ResponseEnvelope.safeParse(value).success).toBe(false),
  );

  it("takes a redirect and further members of meta", () => {
    const redirect = { command: "agent list", permanent: true, reason: "renamed" };
    expect(
      ResponseEnvelope.safeParse({
        ...failed,
        error: { ...failed.error, redirect },
        meta: { ...failed.meta, x: 1 },
      }).success,
    ).toBe(true);
  });

  it.skipIf(!hasVectors("response-envelope"))(
    "names the same members as the schema of the originals, required and closed alike (only where it is at hand)",
    () => {
      const theirs = JSON.parse(vector("response-envelope", "response-envelope.json"));
      const ours = z.toJSONSchema(ResponseEnvelope) as typeof theirs;
      const shape = (schema: { properties: object; required: string[]; additionalProperties: unknown }) => [
        Object.keys(schema.properties).sort(),
        [...schema.required].sort(),
      ];
      expect(shape(ours)).toEqual(shape(theirs));
      const detail = ours.properties.error.anyOf[0];
      expect(shape(detail)).toEqual(shape(theirs.definitions.ErrorDetail));
      expect(shape(detail.properties.redirect)).toEqual(shape(theirs.definitions.Redirect));
      expect(shape(ours.properties.meta)).toEqual(shape(theirs.definitions.ResponseMeta));
      expect([ours, detail].map((schema) => schema.additionalProperties)).toEqual([false, false]);
    },
  );
});
