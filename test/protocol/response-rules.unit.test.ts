import { describe, expect, it } from "vitest";
import { ResponseEnvelope, ResponseEnvelopeG2 } from "../../src/protocol/envelope-schemas.ts";
import {
  ERROR_CATALOGUE,
  type ErrorCode,
  type ErrorDetails,
  HoldfastError,
} from "../../src/protocol/errors.ts";
import { exitIn, G1, GENERATIONS, type Generation } from "../../src/protocol/generations.ts";
import { failure, success } from "../../src/protocol/outcome.ts";
import { toResponseEnvelope } from "../../src/protocol/response-envelope.ts";
import { brokenRules } from "../../src/protocol/response-rules.ts";
import { contractSchema } from "../support/contract-schemas.ts";
import { hasVectors } from "./vectors.ts";

const G2 = GENERATIONS.g2!;
const redirect = { command: "agent list", permanent: true, reason: "renamed" } as const;
const failed = (code: ErrorCode, info: ErrorDetails = {}, generation: Generation = G1) => {
  const given = ERROR_CATALOGUE[code].exit === 13 ? { redirect, ...info } : info;
  return toResponseEnvelope(failure(new HoldfastError(code, "It failed.", given)), {
    duration_ms: 1,
    generation,
  });
};
const ok = toResponseEnvelope(success({ id: "w" }), { duration_ms: 1 }).envelope;
const late = failed("RATE_LIMITED", { retry_after_s: 2 }).envelope;
const moved = failed("COMMAND_RENAMED").envelope;
const bad = failed("INVALID_REQUEST").envelope;
const lost = failed("WORKER_NOT_FOUND").envelope;

describe.each(Object.values(GENERATIONS))("of generation $name", (generation) => {
  it.each(Object.keys(ERROR_CATALOGUE) as ErrorCode[])("%s breaks no rule", (code) => {
    const { envelope, exitCode } = failed(
      code,
      { retry_after_s: 3, attempts: 2, backoff: "fixed" },
      generation,
    );
    expect(brokenRules(envelope, exitCode, generation)).toEqual([]);
    expect(generation.exits[exitCode]).toBeDefined();
    const schema = generation === G2 ? ResponseEnvelopeG2 : ResponseEnvelope;
    expect(schema.safeParse(envelope).error).toBeUndefined();
  });

  it("has no exit code that may be retried and leaves something behind", () => {
    for (const { retryable, side_effects, description } of Object.values(generation.exits)) {
      expect(retryable && side_effects !== "none").toBe(false);
      expect(description.length).toBeLessThanOrEqual(120);
    }
  });
});

it.skipIf(!hasVectors("response-envelope"))(
  "every envelope of G1 is valid under the contract's own schema (only where it is at hand)",
  () => {
    const schema = contractSchema("response-envelope");
    for (const code of Object.keys(ERROR_CATALOGUE) as ErrorCode[])
      expect(schema.safeParse(failed(code, { retry_after_s: 3 }).envelope).error).toBeUndefined();
    expect(schema.safeParse(ok).error).toBeUndefined();
  },
);

describe("G2", () => {
  it("has 2 and 3 the other way round, and leaves the other numbers alone", () => {
    expect([0, 1, 2, 3, 4, 13, 130].map((exit) => exitIn(G2, exit))).toEqual([0, 1, 3, 2, 4, 13, 130]);
    expect(failed("INVALID_REQUEST", {}, G2).exitCode).toBe(2);
    expect(failed("PARTIAL_FAILURE", {}, G2).exitCode).toBe(3);
  });

  it("tells what must be mended instead of calling a bad argument retryable", () => {
    expect(failed("INVALID_REQUEST", {}, G2).envelope.error).toMatchObject({
      retryable: false,
      fix_required: expect.stringMatching(/\.$/),
    });
    expect(failed("SUPERVISOR_DOWN", {}, G2).envelope.error).toMatchObject({
      retryable: false,
      fix_command: "agent daemon start",
    });
  });

  it("tells the wait in milliseconds, with how to space the tries", () => {
    expect(failed("RATE_LIMITED", { retry_after_s: 1.5 }, G2).envelope.error).toMatchObject({
      retry_after_ms: 1500,
      retry_strategy: "linear_backoff",
    });
    expect(failed("UNAVAILABLE", {}, G2).envelope.error).toMatchObject({
      retry_strategy: "exponential_backoff",
    });
    expect(failed("TIMEOUT", {}, G2).envelope.error).not.toHaveProperty("retry_strategy");
  });
});

const { warnings: _, ...withoutWarnings } = ok;

describe("each rule finds the envelope that breaks it", () => {
  it.each<[string, unknown, number]>([
    ["an envelope is an object", [], 0],
    ["exactly ok, data, error, warnings, meta", withoutWarnings, 0],
    ["exactly ok, data, error, warnings, meta", { ...ok, partial: true }, 0],
    ["ok is true exactly for exit code 0", { ...ok, ok: false }, 0],
    ["ok is true exactly for exit code 0", ok, 1],
    ["error is null exactly on success", { ...ok, error: lost.error }, 0],
    ["error is null exactly on success", { ...lost, error: null }, 5],
    ["data is null on failure", { ...lost, data: {} }, 5],
    ["data is an object, an array or null", { ...ok, data: "text" }, 0],
    ["warnings is an array of strings", { ...ok, warnings: [{ code: "X" }] }, 0],
    ["warnings is an array of strings", { ...ok, warnings: null }, 0],
    ["meta is an object", { ...ok, meta: null }, 0],
    ["meta.duration_ms is a whole number from 0", { ...ok, meta: { duration_ms: 1.5 } }, 0],
    ["meta.duration_ms is a whole number from 0", { ...ok, meta: {} }, 0],
    ["meta.request_id is a string", { ...ok, meta: { duration_ms: 1, request_id: 7 } }, 0],
    ["meta.schema_version is N.N", { ...ok, meta: { duration_ms: 1, schema_version: "1.0.0" } }, 0],
    ["data and error are both null exactly when nothing was modified", { ...ok, data: null }, 0],
    [
      "data and error are both null exactly when nothing was modified",
      { ...ok, meta: { duration_ms: 1, not_modified: true } },
      0,
    ],
    ["meta.truncated is true or absent", { ...ok, meta: { duration_ms: 1, truncated: false } }, 0],
    ["meta.cursor goes with meta.truncated", { ...ok, meta: { duration_ms: 1, cursor: "c" } }, 0],
    ["error.code is of the catalogue", { ...lost, error: { ...lost.error, code: "NEW_CODE" } }, 5],
    ["error.message is a sentence", { ...lost, error: { ...lost.error, message: "" } }, 5],
    ["error.detail is text", { ...lost, error: { ...lost.error, detail: {} } }, 5],
    [
      "error.retryable mirrors the entry of the exit code",
      { ...lost, error: { ...lost.error, retryable: true } },
      5,
    ],
    [
      "error.retry_after goes with retryable, in this generation's unit",
      { ...lost, error: { ...lost.error, retry_after: 1 } },
      5,
    ],
    [
      "error.retry_after goes with retryable, in this generation's unit",
      { ...late, error: { ...late.error, retry_after: 1.5 } },
      11,
    ],
    [
      "error has no member that the generation has not",
      { ...lost, error: { ...lost.error, fix_required: "x" } },
      5,
    ],
    ["error.phase is one of three", { ...lost, error: { ...lost.error, phase: "parsing" } }, 5],
    [
      "phase validation means that nothing was done",
      { ...failed("TIMEOUT").envelope, error: { ...failed("TIMEOUT").envelope.error, phase: "validation" } },
      10,
    ],
    [
      "a bad argument is found in the phase of validation",
      { ...bad, error: { ...bad.error, phase: "execution" } },
      3,
    ],
    ["error.suggestion is the next step", { ...lost, error: { ...lost.error, suggestion: " " } }, 5],
    [
      "error.redirect goes with the errors of exit code 13",
      { ...lost, error: { ...lost.error, redirect } },
      5,
    ],
    [
      "error.redirect goes with the errors of exit code 13",
      { ...moved, error: { ...moved.error, redirect: undefined } },
      13,
    ],
    [
      "error.redirect has a command, permanent and a reason",
      { ...moved, error: { ...moved.error, redirect: { command: "agent list" } } },
      13,
    ],
  ])("%s", (rule, envelope, exit) => {
    expect(brokenRules(envelope, exit, G1)).toContain(rule);
  });
});
