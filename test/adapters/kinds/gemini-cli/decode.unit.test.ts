/** The lines of Gemini CLI as events, and what a run came to. */
import { describe, expect, test } from "vitest";
import { geminiCli } from "../../../../src/adapters/kinds/gemini-cli/index.ts";
import { exit, ofKind, recording, run, textOf } from "../../conformance/support.ts";

const runOf = (lines: readonly object[], facts: Parameters<typeof exit>[0] = {}) =>
  run(
    geminiCli,
    lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
    exit({ program: "gemini", ...facts }),
  );
const init = { type: "init", session_id: "s-1", model: "gemini-2.5-flash" };
const say = (content: string) => ({ type: "message", role: "assistant", content, delta: true });
const done = (fields: object = {}) => ({ type: "result", status: "success", stats: {}, ...fields });
const failed = (error?: object) => done({ status: "error", error });
const toolOf = (event: { readonly data?: unknown }) => (event.data as { readonly tool: object }).tool;

describe("a turn with a tool", () => {
  const { events, records, outcome } = run(geminiCli, recording("gemini-cli", "real-shell"));

  test("tells each message under an id of its own, and the prompt not at all", () => {
    const said = ofKind(events, "TextOutput").map(({ data }) => (data as { message_id: string }).message_id);
    expect(new Set(said)).toEqual(new Set(["message-1", "message-2"]));
    expect(textOf(events, "assistant")).toBe("I will run a command.The command printed hello-from-tool.");
    expect(JSON.stringify(events)).not.toContain("Please.");
  });

  test("gives the tool one call and one result, by its name, without what went in or came out", () => {
    const use_id = expect.stringMatching(/^run_shell_command/);
    expect(ofKind(events, "ToolCall").map(toolOf)).toMatchObject([
      { tool_name: "run_shell_command", tool_use_id: use_id, phase: "start" },
    ]);
    expect(ofKind(events, "ToolResult").map(toolOf)).toMatchObject([
      { tool_name: "run_shell_command", tool_use_id: use_id, phase: "complete", bytes: { result: 25 } },
    ]);
    expect(JSON.stringify(ofKind(events, "ToolResult"))).not.toContain("to-stderr");
  });

  test("completes with the last message, its session and its usage", () => {
    const usage = {
      input_tokens: 2_468,
      output_tokens: 112,
      cached_tokens: 200,
      reasoning_tokens: 0,
      cost_usd: null,
    };
    expect(records.at(-1)).toMatchObject({ type: "turn_completed", payload: { turn: 1, usage } });
    expect(outcome).toMatchObject({
      status: "completed",
      completion: {
        final_text: "The command printed hello-from-tool.",
        data: { session: { id: expect.any(String) }, turns: 1, usage },
      },
    });
  });
});

test("a result of status error is a failure, whatever the exit code", () => {
  expect(
    runOf([init, say("x"), failed({ type: "FatalTurnLimitedError", message: "x" })]).outcome,
  ).toMatchObject({
    status: "failed",
    error: { code: "MAX_TURNS" },
  });
});

test("a good result is a success, whatever the exit code", () => {
  expect(runOf([init, say("x"), done()], { code: 1 }).outcome.status).toBe("completed");
});

test.each([
  ['[API Error: {"error":{"code":401,"message":"SENTINEL","status":"UNAUTHENTICATED"}}]', "TOKEN_INVALID"],
  ["[API Error: SENTINEL]\nPlease wait. To increase your limits, request a quota increase", "RATE_LIMITED"],
  ["[API Error: exception TypeError: fetch failed sending request]", "PROVIDER_ERROR"],
  ["[API Error: SENTINEL]", "PROVIDER_ERROR"],
  ["Model response was truncated because it exceeded the token limit.", "OUTPUT_TOO_LARGE"],
  ["The model response was blocked due to safety settings.", "REFUSED"],
  ["SENTINEL", "AGENT_FAILED"],
])("an error that says `%s` is %s, told once and in our words", (message, code) => {
  const { events, outcome } = runOf([
    init,
    { type: "error", severity: "error", message },
    failed({ type: "unknown", message }),
  ]);
  expect(outcome.error?.code).toBe(code);
  expect(ofKind(events, "Error").map(({ data }) => data)).toEqual([{ code }]);
  expect(JSON.stringify([events, outcome])).not.toContain("SENTINEL");
});

test("an error line is the failure of a result that names none; a warning is none", () => {
  const warning = { type: "error", severity: "warning", message: "Loop detected" };
  const error = { type: "error", severity: "error", message: "The model returned an empty response." };
  expect(runOf([init, warning, error, failed()]).outcome.error?.code).toBe("PROVIDER_ERROR");
  expect(runOf([init, warning, done()]).outcome.status).toBe("completed");
});

test.each([
  [41, "TOKEN_MISSING"],
  [52, "INVALID_REQUEST"],
  [53, "MAX_TURNS"],
  [55, "PERMISSION_DENIED"],
  [145, "TOKEN_INVALID"],
  [173, "RATE_LIMITED"],
  [244, "PROVIDER_ERROR"],
  [1, "AGENT_FAILED"],
])("exit code %i without a word is %s", (code, meant) => {
  expect(runOf([], { code }).outcome.error?.code).toBe(meant);
  // It also says more than an error that nobody understands.
  expect(runOf([init, failed({ message: "?" })], { code }).outcome.error?.code).toBe(meant);
});

test("an exit code that a signal has left means nothing", () => {
  expect(runOf([init], { code: 145, signal: "SIGCHLD" }).outcome.error?.code).toBe("AGENT_FAILED");
});

test("exit 0 without a result is a failure, and after a signal of ours no error of the agent's", () => {
  expect(runOf([init, say("x")]).outcome.error?.code).toBe("NO_TERMINAL_EVENT");
  const stopped = runOf([init, say("x")], { signals_sent: ["SIGTERM"] });
  expect(stopped.outcome.error?.message).toBe("`gemini` was stopped with SIGTERM.");
  expect(ofKind(stopped.events, "Error")).toEqual([]);
});

test("an answer over what can be remembered is cut once, at its end, and told whole", () => {
  const parts = Array.from({ length: 60 }, (_, i) => `${i}`.padEnd(2_000, "x"));
  const { events, outcome } = runOf([init, ...parts.map(say), done()]);
  expect(textOf(events, "assistant")).toBe(parts.join(""));
  const { final_text = "" } = outcome.completion;
  expect(final_text.endsWith("…(truncated)")).toBe(true);
  expect(parts.join("").startsWith(final_text.slice(0, -"…(truncated)".length))).toBe(true);
});

test("a model that is not known is told by the name of the CLI's own error alone", () => {
  const lines = [init, failed({ type: "unknown", message: "[API Error: models/x is not there]" })];
  const stderr_tail =
    "ModelNotFoundError: models/x is not there\n    at classifyGoogleError (file:///x.js:1:2)";
  expect(runOf(lines, { code: 1, stderr_tail }).outcome.error).toMatchObject({
    code: "PROVIDER_BAD_REQUEST",
    message: "The provider does not know the model.",
  });
  expect(runOf(lines, { code: 1 }).outcome.error?.code).toBe("PROVIDER_ERROR");
});
