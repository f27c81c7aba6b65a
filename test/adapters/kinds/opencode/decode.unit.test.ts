/** The lines of OpenCode as events, and what a run came to. */
import { describe, expect, test } from "vitest";
import { opencode } from "../../../../src/adapters/kinds/opencode/index.ts";
import { exit, ofKind, run, textOf } from "../../conformance/support.ts";

const runOf = (lines: readonly object[], facts: Parameters<typeof exit>[0] = {}) =>
  run(
    opencode,
    lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
    exit({ program: "opencode", ...facts }),
  );
const line = (type: string, part: object = {}) => ({
  type,
  sessionID: "ses_1",
  part: { messageID: "m1", ...part },
});
const start = line("step_start");
const say = (text: string, messageID = "m1") => line("text", { text, messageID });
const finish = (
  reason: string,
  tokens: object = { input: 10, output: 2, reasoning: 1, cache: { read: 3 } },
) => line("step_finish", { reason, tokens, cost: 0.5 });
const tool = (state: object, fields: object = {}) =>
  line("tool_use", { id: "p1", callID: "call_1", tool: "bash", state, ...fields });
const ran = { status: "completed", input: { command: "SENTINEL" }, output: "out\n", metadata: { exit: 0 } };
const toolsOf = (events: readonly { readonly kind: string; readonly data?: unknown }[]) =>
  events.flatMap(({ kind, data }) => (kind.startsWith("Tool") ? [(data as { tool: object }).tool] : []));
const codeOf = (...given: Parameters<typeof runOf>) => {
  const { outcome } = runOf(...given);
  return outcome.error?.code ?? outcome.status;
};

describe("a run of two steps with a tool", () => {
  const lines = [
    start,
    say("I will."),
    tool(ran),
    finish("tool-calls"),
    start,
    say("Done.", "m2"),
    finish("stop"),
  ];
  const { events, records, outcome } = runOf(lines);

  test("is one turn, with what both steps used", () => {
    const usage = { input_tokens: 20, output_tokens: 4, cached_tokens: 6, reasoning_tokens: 2, cost_usd: 1 };
    const turns = records.filter(({ type }) => type.startsWith("turn_"));
    expect(turns).toEqual([
      { type: "turn_started", payload: { turn: 1 } },
      { type: "turn_completed", payload: { turn: 1, usage, duration_ms: null } },
    ]);
    expect(outcome).toMatchObject({
      status: "completed",
      completion: { final_text: "Done.", data: { session: { id: "ses_1" }, turns: 1, usage } },
    });
  });

  test("makes a call and a result of the one line of a tool, without what went in or came out", () => {
    expect(toolsOf(events)).toMatchObject([
      { tool_name: "bash", tool_use_id: "call_1", phase: "start", thread_id: "ses_1" },
      { tool_name: "bash", tool_use_id: "call_1", phase: "complete", exit_code: 0, bytes: { result: 4 } },
    ]);
    expect(JSON.stringify(records)).not.toContain("SENTINEL");
  });

  test("tells its session once", () => {
    expect(records.filter(({ type }) => type === "session_started")).toHaveLength(1);
  });
});

test("reasoning has a channel of its own", () => {
  const { events, outcome } = runOf([start, line("reasoning", { text: "Hm." }), say("So."), finish("stop")]);
  expect([textOf(events, "reasoning"), textOf(events, "assistant")]).toEqual(["Hm.", "So."]);
  expect(outcome.completion.final_text).toBe("So.");
});

test.each([
  ["a command that failed", { ...ran, metadata: { exit: 3 } }, {}, 3],
  ["a tool that failed", { status: "error", error: "x" }, {}, null],
  ["a tool that is not there", { status: "completed", metadata: {} }, { tool: "invalid" }, null],
])("%s is a failed result, and the run goes on", (_what, state, fields, exit_code) => {
  const { events, outcome } = runOf([
    start,
    tool(state, fields),
    finish("tool-calls"),
    start,
    finish("stop"),
  ]);
  expect(toolsOf(events).at(-1)).toMatchObject({ phase: "fail", exit_code });
  expect(outcome.status).toBe("completed");
});

test("a tool that nobody could allow ends the run: exit 0 and no stop", () => {
  const denied = tool({
    status: "error",
    error: "The user rejected permission to use this specific tool call.",
  });
  const { events, outcome } = runOf([start, denied, finish("tool-calls")]);
  expect(outcome.error).toEqual({
    code: "PERMISSION_DENIED",
    message: "A tool was denied permission, and the agent stopped.",
  });
  expect(ofKind(events, "Status").at(-1)).toMatchObject({
    channel: "tool",
    message: "The tool bash was denied permission.",
  });
});

test("success is exit 0 after a last step that stopped, and nothing else", () => {
  expect(codeOf([start, say("x"), finish("stop")])).toBe("completed");
  expect(codeOf([start, say("x"), finish("stop")], { code: 1 })).toBe("AGENT_FAILED");
  expect(codeOf([start, say("x"), finish("stop")], { code: null, signal: "SIGTERM" })).toBe("AGENT_FAILED");
  expect(codeOf([start, say("x"), finish("tool-calls")])).toBe("NO_TERMINAL_EVENT");
  expect(codeOf([start, say("x"), finish("stop"), start])).toBe("NO_TERMINAL_EVENT");
  expect(codeOf([])).toBe("NO_TERMINAL_EVENT");
});

test.each([
  ["length", "OUTPUT_TOO_LARGE"],
  ["content-filter", "REFUSED"],
  ["something-of-tomorrow", "AGENT_FAILED"],
])("a last step that ended by %s is %s, with exit code 0 too", (reason, code) => {
  const { events, outcome } = runOf([start, say("x"), finish(reason)]);
  expect(outcome.error?.code).toBe(code);
  expect(ofKind(events, "Error")).toHaveLength(1);
});

test.each([
  [{ name: "APIError", data: { message: "SENTINEL", statusCode: 401 } }, "TOKEN_INVALID"],
  [{ name: "APIError", data: { message: "SENTINEL", statusCode: 429 } }, "RATE_LIMITED"],
  [{ name: "ProviderAuthError", data: { message: "SENTINEL" } }, "TOKEN_MISSING"],
  [{ name: "UnknownError", data: { message: "fetch failed SENTINEL" } }, "PROVIDER_ERROR"],
  [{ name: "UnknownError", data: { message: "SENTINEL" } }, "AGENT_FAILED"],
  [undefined, "AGENT_FAILED"],
])("error %j is %s, told once and in our words", (error, code) => {
  const { events, outcome } = runOf([{ type: "error", sessionID: "ses_1", error }], { code: 1 });
  expect(outcome.error?.code).toBe(code);
  expect(ofKind(events, "Error")).toHaveLength(1);
  expect(JSON.stringify([events, outcome])).not.toContain("SENTINEL");
});

test.each([
  ["\u001b[1mError: \u001b[0mSession not found", "SESSION_NOT_FOUND"],
  ["Error: You must provide a message or a command", "INPUT_REQUIRED"],
])("what it says on stderr alone, `%s`, is %s", (stderr_tail, code) => {
  expect(codeOf([], { code: 1, stderr_tail })).toBe(code);
});

test("usage of the steps of the open turn is told after each that another one follows", () => {
  const steps = [start, tool(ran), finish("tool-calls"), start, tool(ran), finish("tool-calls")];
  const { spending } = runOf([...steps, start, say("Done."), finish("stop"), ...steps]);
  expect(spending).toEqual([
    [10, 2, 0.5],
    [20, 4, 1],
    [10, 2, 0.5],
    [20, 4, 1],
  ]);
});
