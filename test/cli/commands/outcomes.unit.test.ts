import { describe, expect, it } from "vitest";
import { tally } from "../../../src/cli/commands/demo.ts";
import { perWorker } from "../../../src/cli/commands/per-worker.ts";
import { failureOf } from "../../../src/cli/commands/wait.ts";
import type { ErrorCode } from "../../../src/protocol/errors.ts";
import type { PerWorker, WaitReply } from "../../../src/runtime/api.ts";
import { lifecycle } from "../support/samples.ts";

const waited = (status: WaitReply["status"]): WaitReply => ({
  id: status,
  name: null,
  status,
  reason: "",
  exit_code: null,
  signal: null,
  error: null,
});
const done = (changes: Partial<PerWorker>): PerWorker => ({
  id: "a",
  name: null,
  ok: true,
  effect: "deleted",
  status: "cancelled",
  error: null,
  ...changes,
});
const missing = done({
  ok: false,
  effect: "noop",
  error: { code: "WORKER_NOT_FOUND", message: "There is no worker." },
});

describe("wait", () => {
  it.each<[WaitReply["status"][], string | undefined]>([
    [["completed", "completed"], undefined],
    [["failed"], "WORKER_FAILED"],
    [["failed", "cancelled"], "WORKER_FAILED"],
    [["completed", "failed"], "PARTIAL_FAILURE"],
    [["cancelled"], "WORKER_CANCELLED"],
  ])("of %j is %s, where nothing says why", (statuses, code) => {
    expect(failureOf(statuses.map(waited))?.code).toBe(code);
  });

  const failed = (code: ErrorCode, more: Partial<WaitReply> = {}): WaitReply => ({
    ...waited("failed"),
    error: { code, message: "It failed." },
    ...more,
  });

  /** The error of a worker, and the one that its waiter is told. A code that speaks of the command itself is not passed on. */
  it.each<[ErrorCode, ErrorCode, number]>([
    ["TOKEN_MISSING", "TOKEN_MISSING", 8],
    ["TOKEN_INVALID", "TOKEN_INVALID", 8],
    ["TOKEN_EXPIRED", "TOKEN_EXPIRED", 8],
    ["RATE_LIMITED", "RATE_LIMITED", 11],
    ["TIMEOUT", "TIMEOUT", 10],
    ["IDLE_TIMEOUT", "IDLE_TIMEOUT", 10],
    ["BUDGET_EXCEEDED", "BUDGET_EXCEEDED", 2],
    ["MAX_TURNS", "MAX_TURNS", 2],
    ["REFUSED", "REFUSED", 2],
    ["PROVIDER_BAD_REQUEST", "PROVIDER_BAD_REQUEST", 2],
    ["AGENT_FAILED", "AGENT_FAILED", 2],
    ["BINARY_NOT_FOUND", "BINARY_NOT_FOUND", 4],
    ["SESSION_NOT_FOUND", "SESSION_NOT_FOUND", 5],
    ["PERMISSION_DENIED", "PERMISSION_DENIED", 7],
    ["WORKER_LOST", "WORKER_LOST", 1],
    ["INVALID_REQUEST", "AGENT_FAILED", 2],
    ["CANCELLED", "AGENT_FAILED", 2],
    ["COMMAND_RENAMED", "AGENT_FAILED", 2],
    ["OF_AN_ADAPTER" as ErrorCode, "AGENT_FAILED", 2],
  ])("of a worker that failed with %s is %s, exit code %i", (code, told, exit) => {
    const error = failureOf([failed(code)])!;
    expect([error.code, error.row.exit]).toEqual([told, exit]);
    expect(error.info.detail).toBe(`${code}: It failed.`);
    // All that failed alike.
    expect(failureOf([failed(code), failed(code)])!.code).toBe(told);
  });

  it("of different failures is WORKER_FAILED, and of a kill whatever came before it WORKER_CANCELLED", () => {
    expect(failureOf([failed("TIMEOUT"), failed("TOKEN_MISSING")])!.code).toBe("WORKER_FAILED");
    expect(failureOf([failed("TOKEN_MISSING", { status: "cancelled" })])!.code).toBe("WORKER_CANCELLED");
  });

  it("of a spent window is SUPERVISOR_GAVE_UP with the tries; of a limit that was reached too often it stays RATE_LIMITED with its reset", () => {
    const gaveUp = failureOf([
      failed("AGENT_FAILED", { end_cause: "gave_up", attempts: 4, backoff: "exponential 1s..1m" }),
    ])!;
    expect(gaveUp.code).toBe("SUPERVISOR_GAVE_UP");
    expect(gaveUp.info).toMatchObject({
      attempts: 4,
      backoff: "exponential 1s..1m",
      details: { cause: { code: "AGENT_FAILED" } },
    });
    const limited = failureOf([failed("RATE_LIMITED", { end_cause: "rate_limited", retry_after_s: 30 })])!;
    expect([limited.code, limited.info.retry_after_s]).toEqual(["RATE_LIMITED", 30]);
    const both = [
      failed("RATE_LIMITED", { retry_after_s: 30 }),
      failed("RATE_LIMITED", { retry_after_s: 60 }),
    ];
    expect(failureOf(both)!.info.retry_after_s).toBe(60);
  });

  it("names the records only where the code's own next step says less", () => {
    expect(failureOf([failed("AGENT_FAILED")])!.suggestion).toContain("agent logs");
    expect(failureOf([failed("TOKEN_MISSING")])!.suggestion).toContain("Log the agent's CLI in");
  });
});

describe("a command over several ids", () => {
  it("is a success with the strongest effect", () => {
    expect(perWorker([done({ effect: "noop" }), done({})])).toMatchObject({
      ok: true,
      value: { effect: "deleted" },
    });
    expect(perWorker([done({ effect: "noop" })])).toMatchObject({ ok: true, value: { effect: "noop" } });
    expect(perWorker([])).toMatchObject({ ok: true, value: { effect: "noop", results: [] } });
  });

  it("is the error of its only id, and a partial failure when some went well", () => {
    expect(perWorker([missing])).toMatchObject({ ok: false, error: { code: "WORKER_NOT_FOUND" } });
    const suggestion = "Start its supervisor with `agent restart crew`.";
    const said = done({ ok: false, error: { code: "INVALID_STATE", message: "Down.", suggestion } });
    expect(perWorker([said])).toMatchObject({ error: { suggestion } });
    expect(perWorker([missing, done({})])).toMatchObject({
      ok: false,
      error: { code: "PARTIAL_FAILURE" },
      value: { results: [missing, done({})] },
    });
  });
});

describe("the demo's tally", () => {
  it("counts what the records say, and processes that still live", () => {
    expect(tally(lifecycle, [99], (pid) => pid === 4242)).toEqual({
      records: 6,
      gaps: 0,
      started: 1,
      exited: 1,
      restarts: 1,
      left_behind: 2,
    });
  });
});
