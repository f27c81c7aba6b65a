/** The terminal event first, the exit second. */
import { describe, expect, test } from "vitest";
import { claudeCode } from "../../../../src/adapters/kinds/claude-code/index.ts";
import { exit, ofKind, recording, run } from "../../conformance/support.ts";

const init = { type: "system", subtype: "init", session_id: "s1" };
const good = {
  type: "result",
  subtype: "success",
  is_error: false,
  num_turns: 1,
  session_id: "s1",
  result: "Done.",
  stop_reason: "end_turn",
  total_cost_usd: 0.5,
};
const runOf = (lines: readonly object[], facts: Parameters<typeof exit>[0] = {}) =>
  run(
    claudeCode,
    lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
    exit({ program: "claude", ...facts }),
  );

test("a good result completes the run, with its text, session, usage and stop reason", () => {
  const { outcome } = runOf([init, good]);
  expect(outcome).toEqual({
    status: "completed",
    completion: {
      status: { code: 0, signal: null },
      final_text: "Done.",
      data: {
        schema: "agent_api.session.handle.v1",
        session: { id: "s1" },
        turns: 1,
        num_turns: 1,
        stop_reason: "end_turn",
        terminal_reason: null,
        usage: { input_tokens: 0, output_tokens: 0, cached_tokens: 0, reasoning_tokens: 0, cost_usd: 0.5 },
      },
    },
  });
});

test("a good result stands, whatever the exit code says later", () => {
  expect(runOf([init, good], { code: 1 }).outcome.status).toBe("completed");
  expect(
    runOf([init, good], { code: 143, signal: "SIGTERM", signals_sent: ["SIGTERM"] }).outcome.status,
  ).toBe("completed");
});

test.each([
  [{ subtype: "error_max_turns" }, "MAX_TURNS"],
  [{ subtype: "error_max_budget_usd" }, "BUDGET_EXCEEDED"],
  [{ subtype: "error_max_structured_output_retries" }, "AGENT_FAILED"],
  [{ api_error_status: 401 }, "TOKEN_INVALID"],
  [{ api_error_status: 400 }, "PROVIDER_BAD_REQUEST"],
  [{ api_error_status: 404 }, "PROVIDER_BAD_REQUEST"],
  [{ api_error_status: 429 }, "RATE_LIMITED"],
  [{ api_error_status: 500 }, "PROVIDER_ERROR"],
  [{ api_error_status: 529 }, "PROVIDER_ERROR"],
  [{ api_error: "connection_failed" }, "PROVIDER_ERROR"],
  [{ stop_reason: "refusal" }, "REFUSED"],
  [{ stop_reason: "max_tokens" }, "OUTPUT_TOO_LARGE"],
  [{ terminal_reason: "aborted_tools" }, "AGENT_FAILED"],
  [{ subtype: "something_new" }, "AGENT_FAILED"],
])("a result with is_error and %o is %s, though the exit code is 0", (fields, code) => {
  const { outcome, events } = runOf([init, { ...good, is_error: true, ...fields }]);
  expect(outcome).toMatchObject({ status: "failed", error: { code } });
  expect(ofKind(events, "Error").map(({ message }) => message)).toEqual([outcome.error?.message]);
});

test("exit code 0 without a result is a failure", () => {
  const { outcome, events } = runOf([init]);
  expect(outcome.error).toEqual({
    code: "NO_TERMINAL_EVENT",
    message: "`claude` exited without saying how its turn ended.",
  });
  expect(ofKind(events, "Error")).toHaveLength(1);
});

test("a result of an earlier turn does not stand for one that never ended", () => {
  expect(runOf([init, good, init]).outcome.error?.code).toBe("NO_TERMINAL_EVENT");
  expect(runOf([init, good, init], { code: 1 }).outcome.error?.message).toBe("`claude` exited with code 1.");
});

test("the last of several results decides", () => {
  expect(runOf([init, { ...good, is_error: true }, init, good]).outcome.status).toBe("completed");
  expect(runOf([init, good, init, { ...good, is_error: true }]).outcome.status).toBe("failed");
});

test("a running total of dollars is counted once", () => {
  const { outcome } = runOf([init, good, init, { ...good, total_cost_usd: 0.7 }]);
  expect(outcome.completion.data).toMatchObject({ usage: { cost_usd: 0.7 } });
});

describe("a run that was stopped", () => {
  test("fails with a sentence and without an Error event: the supervisor knows why", () => {
    const { outcome, events } = runOf([init], { code: 143, signal: "SIGTERM", signals_sent: ["SIGTERM"] });
    expect(outcome.error).toEqual({ code: "AGENT_FAILED", message: "`claude` was stopped with SIGTERM." });
    expect(ofKind(events, "Error")).toEqual([]);
  });

  test("is not taken for a success when it exits 0 after SIGINT", () => {
    expect(runOf([init], { code: 0, signals_sent: ["SIGINT"] }).outcome.error?.message).toBe(
      "`claude` was stopped with SIGINT.",
    );
  });
});

test("stderr says why a start failed, and its text stays behind", () => {
  const { outcome } = runOf([], { code: 1, stderr_tail: "error: unknown option '--SENTINEL'" });
  expect(outcome.error).toEqual({
    code: "INVALID_REQUEST",
    message: "The agent's CLI did not accept its arguments.",
  });
});

test("a result lost in a line over the limit is called so", () => {
  const { state } = runOf([init]);
  const { state: skipped } = claudeCode.decode(
    state,
    { kind: "truncated", limit_bytes: 1_048_576 },
    "stdout",
  );
  expect(claudeCode.finish(skipped, exit()).outcome.error?.code).toBe("OUTPUT_TOO_LARGE");
});

test("a final answer over its bound is cut with the suffix", () => {
  const { outcome } = runOf([init, { ...good, result: "é\n".repeat(100_000) }]);
  const text = outcome.completion.final_text ?? "";
  expect(text.endsWith("…(truncated)")).toBe(true);
  expect(Buffer.byteLength(text)).toBeGreaterThan(25_000);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(65_536);
});

test("an interruption keeps nothing of the recording's upstream words", () => {
  expect(JSON.stringify(run(claudeCode, recording("claude-code", "rate-limit")).outcome)).not.toContain(
    "SENTINEL",
  );
});

describe("a limit of the provider tells its reset", () => {
  const limited = (result: string, more: object = {}) => ({
    ...good,
    is_error: true,
    api_error_status: 429,
    result,
    ...more,
  });
  const said = (text: string) => ({
    type: "assistant",
    error: "rate_limit",
    session_id: "s1",
    message: { id: "m", model: "<synthetic>", content: [{ type: "text", text }] },
  });
  const event = (status: string, resetsAt: unknown) => ({
    type: "rate_limit_event",
    rate_limit_info: { status, resetsAt, rateLimitType: "five_hour" },
    session_id: "s1",
  });
  const berlin = "You've hit your limit · resets 3pm (Europe/Berlin)";
  const three = { hour: 15, minute: 0, zone: "Europe/Berlin" };
  const instant = "2026-03-06T03:00:00.000Z";
  test.each<[string, readonly object[], object]>([
    ["in the words of its result", [init, limited(berlin)], { resets: three }],
    [
      "in those of the answer that the CLI made up",
      [init, said(berlin), limited("", { api_error_status: null })],
      { resets: three },
    ],
    [
      "as an instant, without a status",
      [init, limited("Claude AI usage limit reached|1772766000", { api_error_status: null })],
      { reset_at: instant },
    ],
    [
      "in a field, which says more than words",
      [init, event("rejected", 1_772_766_000), limited(berlin)],
      { reset_at: instant },
    ],
    [
      "not where it was allowed again",
      [init, event("rejected", 1_772_766_000), event("allowed", 1_772_766_000), limited("")],
      {},
    ],
    ["not where the field is none", [init, event("rejected", "soon"), limited("")], {}],
  ])("%s", (_, lines, told) => {
    const { outcome } = runOf(lines, { code: 1 });
    expect(outcome).toMatchObject({ status: "failed", error: { code: "RATE_LIMITED" } });
    const {
      code: _code,
      message: _message,
      ...reset
    } = (outcome as unknown as { error: Record<string, unknown> }).error;
    expect(reset).toEqual(told);
  });
});
