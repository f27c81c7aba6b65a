/** The lines of Copilot CLI as events, and what a run came to. */
import { describe, expect, test } from "vitest";
import { copilot } from "../../../../src/adapters/kinds/copilot/index.ts";
import { exit, ofKind, openingOf, run, textOf } from "../../conformance/support.ts";

const runOf = (lines: readonly object[], facts: Parameters<typeof exit>[0] = {}) =>
  run(
    copilot,
    lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
    exit({ program: "copilot", ...facts }),
  );
const line = (type: string, data: object = {}, agentId?: string) => ({ type, data, agentId });
const asked = line("user.message", { content: "SENTINEL" });
const delta = (messageId: string, deltaContent: string, agentId?: string, parentToolCallId?: string) =>
  line("assistant.message_delta", { messageId, deltaContent, parentToolCallId }, agentId);
const whole = (messageId: string, content: string, agentId?: string) =>
  line("assistant.message", { messageId, content }, agentId);
const result = (exitCode = 0) => ({
  type: "result",
  sessionId: "s-1",
  exitCode,
  usage: { sessionDurationMs: 250.5 },
});
const called = line("tool.execution_start", { toolCallId: "c1", toolName: "bash", arguments: "SENTINEL" });
const done = (data: object) => line("tool.execution_complete", { toolCallId: "c1", ...data });
const toolOf = (event: { readonly data?: unknown }) => (event.data as { readonly tool: object }).tool;

describe("text that comes in deltas and then whole", () => {
  const lines = [asked, delta("m1", "Hel"), delta("m1", "lo."), whole("m1", "Hello."), result()];
  const { events, records, outcome } = runOf(lines);

  test("is told once, and is the answer", () => {
    expect(textOf(events, "assistant")).toBe("Hello.");
    expect(outcome).toMatchObject({ status: "completed", completion: { final_text: "Hello." } });
  });

  test("is one turn without usage, in the session of the last line", () => {
    const usage = {
      input_tokens: 0,
      output_tokens: 0,
      cached_tokens: 0,
      reasoning_tokens: 0,
      cost_usd: null,
    };
    expect(records.at(-1)).toEqual({
      type: "turn_completed",
      payload: { turn: 1, usage, duration_ms: 250.5 },
    });
    expect(outcome.completion.data).toMatchObject({ session: { id: "s-1" }, turns: 1 });
    expect(JSON.stringify(records)).not.toContain("SENTINEL");
  });
});

test("the session that it was started with is told with the prompt, and once", () => {
  const told = (spec: object, session?: string) => {
    const opening = { ...openingOf("copilot", spec), session, worker_id: "01JD0000000000000000000001" };
    const text = [asked, delta("m1", "Hel")].map((each) => `${JSON.stringify(each)}\n`).join("");
    const { records } = run(copilot, text, exit(), opening);
    const argv = copilot.plan({ ...opening, binary: "copilot" }).argv.join(" ");
    return {
      ids: records.flatMap((each) => (each.type === "session_started" ? each.payload.session_id : [])),
      argv,
    };
  };
  const first = told({});
  expect(first.ids).toHaveLength(1);
  expect(first.argv).toContain(`--session-id ${first.ids[0]}`);
  expect(told({}, "s-9")).toMatchObject({ ids: ["s-9"], argv: expect.stringContaining("--resume=s-9") });
  expect(told({ session: "s-8" })).toMatchObject({
    ids: ["s-8"],
    argv: expect.stringContaining("--resume=s-8"),
  });
  expect(told({ argv: ["--continue"] }).ids).toEqual([]);
});

test("text that comes whole alone is told too, and a message of calls alone is none", () => {
  const { events, outcome } = runOf([asked, whole("m1", ""), whole("m2", "Hi."), result()]);
  expect(ofKind(events, "TextOutput")).toMatchObject([{ text: "Hi.", data: { message_id: "m2" } }]);
  expect(outcome.completion.final_text).toBe("Hi.");
});

test("reasoning is told once, on a channel of its own", () => {
  const part = line("assistant.reasoning_delta", { reasoningId: "r1", deltaContent: "Hm." });
  const all = line("assistant.reasoning", { reasoningId: "r1", content: "Hm." });
  const other = line("assistant.reasoning", { reasoningId: "r2", content: " So." });
  expect(textOf(runOf([asked, part, all, other, result()]).events, "reasoning")).toBe("Hm. So.");
});

test("an answer that is tried again is another message, and its last try is the answer", () => {
  const retry = line("assistant.turn_retry", { reason: "streaming_error" });
  const { events, outcome } = runOf([asked, delta("m1", "Par"), retry, delta("m2", "Partial."), result()]);
  expect(outcome.completion.final_text).toBe("Partial.");
  expect(ofKind(events, "Status")[0]).toMatchObject({
    message: "The agent's CLI retries its request to the provider.",
    data: { reason: "streaming_error" },
  });
});

test("a sub-agent's words carry its call, and are not the answer", () => {
  const sub = [delta("m9", "Sub.", "agent-1", "c7"), whole("m9", "Sub.", "agent-1")];
  const lines = [asked, delta("m1", "Main."), ...sub, line("session.error", {}, "agent-1"), result()];
  const { events, outcome } = runOf(lines);
  expect(ofKind(events, "TextOutput").at(-1)).toMatchObject({
    text: "Sub.",
    data: { message_id: "m9", parent_tool_use_id: "c7" },
  });
  expect(outcome).toMatchObject({ status: "completed", completion: { final_text: "Main." } });
});

test.each([
  [
    "a command",
    { success: true, shellExecution: { exitCode: 0 }, result: { content: "out" } },
    "complete",
    0,
  ],
  ["a command that failed", { success: true, shellExecution: { exitCode: 3 } }, "fail", 3],
  ["a tool that failed", { success: false, error: { code: "failure" } }, "fail", null],
])("%s has one call and one result", (_what, data, phase, exit_code) => {
  const { events, outcome } = runOf([asked, called, done(data), result()]);
  expect(ofKind(events, "ToolCall").map(toolOf)).toMatchObject([{ tool_name: "bash", tool_use_id: "c1" }]);
  expect(ofKind(events, "ToolResult").map(toolOf)).toMatchObject([{ tool_name: "bash", phase, exit_code }]);
  expect(JSON.stringify(events)).not.toContain("SENTINEL");
  expect(outcome.status).toBe("completed");
});

test("a tool that was denied is told, and the run goes on", () => {
  const { events, outcome } = runOf([
    asked,
    called,
    done({ success: false, error: { code: "denied" } }),
    result(),
  ]);
  expect(ofKind(events, "Status")[0]).toMatchObject({
    channel: "tool",
    message: "The tool bash was denied permission.",
    data: { denied: true },
  });
  expect(outcome.status).toBe("completed");
});

test.each([
  [{ errorType: "authentication", message: "SENTINEL", statusCode: 401 }, "TOKEN_INVALID"],
  [{ errorType: "query", message: "400 SENTINEL", statusCode: 400 }, "PROVIDER_BAD_REQUEST"],
  [{ errorType: "query", message: "SENTINEL" }, "PROVIDER_ERROR"],
  [{ errorType: "of_tomorrow", message: "SENTINEL" }, "AGENT_FAILED"],
])("session.error %j is %s, told once and in our words", (data, code) => {
  const { events, outcome } = runOf([asked, line("session.error", data), result(1)], { code: 1 });
  expect(outcome.error?.code).toBe(code);
  expect(ofKind(events, "Error")).toHaveLength(1);
  expect(JSON.stringify([events, outcome])).not.toContain("SENTINEL");
});

test("a call that was tried again is told by its last status", () => {
  const failure = line("model.call_failure", { statusCode: 429, retryAttempt: 4, failureKind: "api" });
  const error = line("session.error", { errorType: "query", message: "retried 5 times" });
  const { events, outcome } = runOf([asked, failure, error, result(1)], { code: 1 });
  expect(outcome.error?.code).toBe("RATE_LIMITED");
  expect(ofKind(events, "Status")[0]).toMatchObject({ data: { retry: 4, http_status: 429, failure: "api" } });
});

test("an error after which it went on is no failure; one that it ended with is, whatever its exit code", () => {
  const error = line("session.error", { errorType: "query" });
  const again = line("assistant.turn_start", { turnId: "1" });
  expect(runOf([asked, error, again, whole("m", "x"), result()]).outcome.status).toBe("completed");
  expect(runOf([asked, error, result()]).outcome.status).toBe("failed");
});

test("a good result after an interruption is none", () => {
  const lines = [asked, line("agent.interrupted", { activity: "tool_call" }), line("abort"), result()];
  expect(runOf(lines).outcome.error?.message).toBe("The agent was interrupted.");
});

test("a line that it prints dozens of times says nothing; a type of tomorrow is one Unknown", () => {
  const { events } = runOf([
    line("session.background_tasks_changed"),
    line("tool.execution_partial_result", { partialOutput: "SENTINEL" }),
    line("hologram.shown", { secret: "SENTINEL" }),
  ]);
  expect(events.slice(0, -1)).toEqual([
    { agent_kind: "copilot", kind: "Unknown", data: { type: "hologram.shown" } },
  ]);
});

test.each([
  ["error: Invalid command format.", "INVALID_REQUEST"],
  ["BYOK providers require an explicit model.", "INVALID_REQUEST"],
  ["Error: No authentication information found.", "TOKEN_MISSING"],
  ["Error: No session, task, or name matched 'x'.", "SESSION_NOT_FOUND"],
  ["No prompt provided. Run in an interactive terminal", "INPUT_REQUIRED"],
])("what it says on stderr alone, `%s`, is %s", (stderr_tail, code) => {
  expect(runOf([], { code: 1, stderr_tail }).outcome.error?.code).toBe(code);
});

test("exit 0 without a result is a failure", () => {
  expect(runOf([asked, whole("m", "x")]).outcome.error?.code).toBe("NO_TERMINAL_EVENT");
});

describe("the file that it leaves", () => {
  const model = (inputTokens: number, outputTokens: number) => ({
    requests: { count: 1 },
    usage: { inputTokens, outputTokens, cacheReadTokens: 100, cacheWriteTokens: 0, reasoningTokens: 7 },
  });
  const turnOf = (left: string | undefined) =>
    runOf([asked, whole("m", "x"), result()], { left }).records.flatMap((record) =>
      record.type === "turn_completed" ? record.payload : [],
    );

  test("gives the turn its usage, by model", () => {
    const left = JSON.stringify({ modelMetrics: { small: model(1_000, 10), large: model(300, 50) } });
    const [turn, ...more] = turnOf(left);
    expect(more).toEqual([]);
    expect(turn).toMatchObject({
      turn: 1,
      duration_ms: 250.5,
      usage: {
        input_tokens: 1_300,
        output_tokens: 60,
        cached_tokens: 200,
        reasoning_tokens: 14,
        cost_usd: null,
      },
      models: [
        { model: "large", input_tokens: 200, cached_tokens: 100, output_tokens: 50 },
        { model: "small", input_tokens: 900, cached_tokens: 100, output_tokens: 10 },
      ],
    });
  });

  test.each([
    undefined,
    "",
    "{",
    "[]",
    '{"modelMetrics":7}',
    '{"modelMetrics":{"m":{"usage":{"inputTokens":-1}}}}',
  ])("counts nothing as %j", (left) =>
    expect(turnOf(left)).toMatchObject([{ usage: { input_tokens: 0, output_tokens: 0 } }]),
  );

  test.each([
    ["a first run", {}, 1, "usage.json"],
    ["a later run, since the file sums the session", {}, 2, undefined],
    ["a session of before", { session: "s-1" }, 1, undefined],
    ["a session that its own arguments name", { argv: ["--continue"] }, 1, undefined],
    ["another runtime", { runtime: "beam" }, 1, undefined],
  ])("is asked for by %s: %s", (_what, own, incarnation, name) => {
    const { spec } = openingOf("copilot", own);
    expect(copilot.leaves!(spec, incarnation)).toBe(name);
    const context = {
      spec,
      incarnation,
      session: undefined,
      worker_id: "",
      binary: "copilot",
      scripts_dir: "/d",
    };
    const { argv } = copilot.plan(context);
    expect(argv.join(" ").includes("--usage-output-file /d/usage.json")).toBe(name !== undefined);
  });
});
