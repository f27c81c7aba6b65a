/** Claude Code's lines as events: what is told, what is told once, and what is never told. */
import { describe, expect, test } from "vitest";
import { claudeCode } from "../../../../src/adapters/kinds/claude-code/index.ts";
import { MODELS_PER_TURN_MAX } from "../../../../src/base/limits.ts";
import { ofKind, recording, run, textOf } from "../../conformance/support.ts";

const SESSION = "7f0c2a1e-0000-4000-8000-000000000001";
const decoded = (...lines: readonly object[]) =>
  run(claudeCode, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
const replay = (name: string) => run(claudeCode, recording("claude-code", name));
const init = { type: "system", subtype: "init", session_id: SESSION, model: "model-a" };
const types = (records: readonly { readonly type: string }[]) => records.map(({ type }) => type);

describe("a turn with tools", () => {
  const { events, records, outcome } = replay("tools");

  test("starts with the session, told once with its facet", () => {
    expect(types(records.slice(0, 3))).toEqual(["session_started", "agent.event", "turn_started"]);
    expect(events[0]).toEqual({
      agent_kind: "claude_code",
      kind: "Status",
      channel: "status",
      message: "A session of Claude Code started.",
      data: {
        schema: "agent_api.session.handle.v1",
        session: { id: SESSION },
        model: "model-a",
        cli_version: "2.1.329",
        permission_mode: "default",
        tools: 2,
        mcp_servers: 0,
      },
    });
  });

  test("tells answers and reasoning on channels of their own, with the id of their message", () => {
    expect(ofKind(events, "TextOutput").map(({ channel, text, data }) => [channel, text, data])).toEqual([
      ["reasoning", "Let me look.", { message_id: "m1" }],
      ["assistant", "I will look.", { message_id: "m1" }],
      ["assistant", "All done.", { message_id: "m3" }],
    ]);
  });

  test("tells a tool's call by its facet, without its input", () => {
    expect(ofKind(events, "ToolCall")[0]).toEqual({
      agent_kind: "claude_code",
      kind: "ToolCall",
      channel: "tool",
      data: {
        schema: "agent_api.tools.structured.v1",
        tool: {
          backend_item_id: "m1",
          thread_id: SESSION,
          turn_id: null,
          kind: "tool_use",
          phase: "start",
          status: "running",
          exit_code: null,
          bytes: { stdout: 0, stderr: 0, diff: 0, result: 0 },
          tool_name: "Bash",
          tool_use_id: "t1",
        },
      },
    });
  });

  test("takes results from user messages, with their real status and size", () => {
    expect(ofKind(events, "ToolResult").map(({ data }) => (data as { tool: object }).tool)).toMatchObject([
      {
        phase: "complete",
        status: "completed",
        exit_code: null,
        tool_name: "Bash",
        tool_use_id: "t1",
        bytes: { stdout: 15, stderr: 3, result: 15 },
      },
      {
        phase: "fail",
        status: "failed",
        exit_code: 3,
        tool_name: "Bash",
        tool_use_id: "t2",
        bytes: { result: 16 },
      },
    ]);
  });

  test("never tells what went into a tool or came out of it", () => {
    expect(JSON.stringify([records, outcome])).not.toContain("SENTINEL");
  });

  test("ends with its usage, and its result is not told as text again", () => {
    expect(records.at(-1)).toEqual({
      type: "turn_completed",
      payload: {
        turn: 1,
        usage: {
          input_tokens: 100,
          output_tokens: 10,
          cached_tokens: 5,
          reasoning_tokens: 0,
          cost_usd: 0.004,
        },
        duration_ms: 120,
        models: [
          {
            model: "model-a",
            input_tokens: 100,
            output_tokens: 10,
            cached_tokens: 5,
            cache_write_tokens: 0,
            reasoning_tokens: 0,
            cost_usd: 0.004,
          },
        ],
      },
    });
    expect(textOf(events, "assistant")).toBe("I will look.All done.");
  });
});

test("text that came as deltas is not told again when the whole message comes", () => {
  const { events } = replay("partial");
  expect(ofKind(events, "TextOutput").map(({ text, data }) => [text, data])).toEqual([
    ["Hel", { message_id: "m1" }],
    ["lo.", { message_id: "m1" }],
    ["Bye.", { message_id: "m2" }],
  ]);
  expect(ofKind(events, "Unknown")).toEqual([]);
});

test("a message that begins twice, or whose deltas come late, is told once", () => {
  const start = { type: "stream_event", event: { type: "message_start", message: { id: "m1" } } };
  const delta = { type: "content_block_delta", delta: { type: "text_delta", text: "Hello." } };
  const whole = { type: "assistant", message: { id: "m1", content: [{ type: "text", text: "Hello." }] } };
  const piece = { type: "stream_event", event: delta };
  for (const lines of [
    [start, start, piece, whole],
    [start, piece, start, whole],
    [start, whole, piece],
  ])
    expect(textOf(decoded(...lines).events, "assistant")).toBe("Hello.");
});

test("a good end is said: a result that does not say so is a failure", () => {
  const result = { type: "result", num_turns: 1, session_id: SESSION, result: "done" };
  const ends = [
    {},
    { is_error: null },
    { is_error: "false" },
    { is_error: false, subtype: "error_max_turns" },
  ];
  for (const end of ends) expect(decoded(init, { ...result, ...end }).outcome.status).toBe("failed");
  expect(decoded(init, { ...result, is_error: false }).outcome.status).toBe("completed");
});

test("an older version's running totals are counted once, with the tokens of a try that failed", () => {
  const models = (inputTokens: number, outputTokens: number) => ({
    one: { inputTokens, outputTokens, cacheReadInputTokens: 10, costUSD: 0.1 },
  });
  const result = { type: "result", is_error: false, num_turns: 1, session_id: "s" };
  const text = [
    { ...result, usage: { input_tokens: 0 }, modelUsage: models(50, 5), total_cost_usd: 0.1 },
    { ...result, usage: { input_tokens: 70 }, modelUsage: models(120, 9), total_cost_usd: 0.3 },
  ];
  const { records } = run(claudeCode, text.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const turns = records.flatMap((record) => (record.type === "turn_completed" ? [record.payload.usage] : []));
  const none = { cached_tokens: 0, reasoning_tokens: 0 };
  expect(turns).toEqual([
    { ...none, input_tokens: 50, output_tokens: 5, cached_tokens: 10, cost_usd: 0.1 },
    { ...none, input_tokens: 70, output_tokens: 4, cost_usd: 0.2 },
  ]);
});

describe("a background sub-agent", () => {
  const { events, records, outcome } = replay("subagent");

  test("speaks under the call that started it", () => {
    const helper = ofKind(events, "TextOutput").find(({ text }) => text === "Helper speaks.");
    expect(helper?.data).toEqual({ message_id: "s1", parent_tool_use_id: "t1" });
    expect(ofKind(events, "ToolCall").at(-1)?.data).toMatchObject({
      parent_tool_use_id: "t1",
      tool: { tool_name: "Read" },
    });
  });

  test("makes a second turn when it reports back, and its tokens are counted once", () => {
    const turns = records.flatMap((record) =>
      record.type === "turn_completed" ? [record.payload.usage] : [],
    );
    expect(
      turns.map(({ input_tokens, reasoning_tokens, cost_usd }) => [input_tokens, reasoning_tokens, cost_usd]),
    ).toEqual([
      [300, 4, 0.02],
      [0, 0, 0],
    ]);
    expect(outcome).toMatchObject({
      status: "completed",
      completion: { final_text: "It reported.", data: { turns: 2 } },
    });
  });

  test("has its summary kept out of the notices", () => {
    expect(JSON.stringify(records)).not.toContain("PRIVATE");
  });
});

describe("a provider that refuses", () => {
  const { events, records, outcome } = replay("rate-limit");

  test("is an error of ours, told once, with nothing of the upstream text", () => {
    expect(ofKind(events, "Error")).toEqual([
      {
        agent_kind: "claude_code",
        kind: "Error",
        channel: "error",
        message: "The provider's rate limit was reached (HTTP 429).",
        data: { code: "RATE_LIMITED" },
      },
    ]);
    expect(JSON.stringify([records, outcome])).not.toContain("SENTINEL");
  });

  test("is not an error as long as the CLI tries again", () => {
    expect(ofKind(events, "Status")[1]).toMatchObject({
      message: "The agent's CLI retries its request to the provider (1 of 2).",
      data: { delay_ms: 560, http_status: 429 },
    });
  });

  test("fails the turn although the subtype says success", () => {
    expect(outcome).toMatchObject({
      status: "failed",
      error: { code: "RATE_LIMITED", message: "The provider's rate limit was reached (HTTP 429)." },
    });
    expect(outcome.completion.final_text).toBeUndefined();
    expect(records.at(-1)).toMatchObject({
      type: "turn_completed",
      payload: { error: { code: "RATE_LIMITED" } },
    });
  });
});

test("each content block that is not known is one Unknown event, beside those that are", () => {
  const { events } = decoded(init, {
    type: "assistant",
    message: {
      id: "m",
      content: [
        { type: "text", text: "Hi." },
        { type: "hologram", secret: "S" },
      ],
    },
  });
  expect(textOf(events, "assistant")).toBe("Hi.");
  expect(ofKind(events, "Unknown")).toEqual([
    { agent_kind: "claude_code", kind: "Unknown", data: { type: "content_block", block: "hologram" } },
  ]);
});

test("an unknown type or subtype is named, never quoted", () => {
  const { events } = decoded(
    { type: "future", secret: "S" },
    { type: "system", subtype: "dream", secret: "S" },
  );
  expect(ofKind(events, "Unknown").map(({ data }) => data)).toEqual([
    { type: "future" },
    { type: "system", subtype: "dream" },
  ]);
});

test("a session that changes is told again, without a second facet", () => {
  const { records, events } = decoded(init, { ...init, session_id: "another" });
  expect(
    records.flatMap((record) => (record.type === "session_started" ? [record.payload.session_id] : [])),
  ).toEqual([SESSION, "another"]);
  expect(events.filter(({ data }) => JSON.stringify(data)?.includes("session.handle"))).toHaveLength(1);
});

test("a session id over 1,024 bytes is left out with a warning", () => {
  const { records, outcome } = decoded({ ...init, session_id: "s".repeat(1_025) });
  expect(types(records)).not.toContain("session_started");
  expect(records[0]).toMatchObject({
    payload: { kind: "Status", message: "session handle omitted: id exceeds 1024 bytes" },
  });
  expect(outcome.completion.data).not.toHaveProperty("session");
});

test("a session that could not be resumed is none, and its failed look-up is no turn", () => {
  const { records, outcome } = decoded({
    type: "result",
    subtype: "error_during_execution",
    is_error: true,
    num_turns: 0,
    session_id: "gone",
    errors: ["No conversation found with session ID: gone"],
  });
  expect(types(records)).toEqual(["agent.event"]);
  expect(outcome.error?.code).toBe("SESSION_NOT_FOUND");
});

test("a permission that was denied is a Status of the tool", () => {
  const { events } = decoded({
    type: "system",
    subtype: "permission_denied",
    tool_name: "Bash",
    tool_use_id: "t",
    message: "SENTINEL",
  });
  expect(events[0]).toEqual({
    agent_kind: "claude_code",
    kind: "Status",
    channel: "tool",
    message: "The tool Bash was denied permission.",
    data: { tool_name: "Bash", tool_use_id: "t", denied: true },
  });
});

test("a text over 65,536 bytes comes as several events with the same message id", () => {
  const long = "ż".repeat(100_000);
  const { events } = decoded(init, {
    type: "assistant",
    message: { id: "m", content: [{ type: "text", text: long }] },
  });
  const parts = ofKind(events, "TextOutput");
  expect(parts.length).toBe(4);
  expect(parts.every(({ data }) => JSON.stringify(data) === '{"message_id":"m"}')).toBe(true);
  expect(textOf(events, "assistant")).toBe(long);
});

describe("the models of a turn", () => {
  const result = (models: object) => ({
    type: "result",
    subtype: "success",
    is_error: false,
    num_turns: 1,
    result: "x",
    model_usage_since_last_result: models,
  });
  const modelsIn = (...lines: object[]) =>
    decoded(...lines).records.flatMap((record) =>
      record.type === "turn_completed" ? (record.payload.models ?? []) : [],
    );

  test("are told apart, the one with the most output first, with what was written to the cache", () => {
    const told = modelsIn(
      init,
      result({
        small: { inputTokens: 9, outputTokens: 1, costUSD: 0.1 },
        large: { inputTokens: 1, outputTokens: 5, cacheCreationInputTokens: 70, costUSD: 0.2 },
      }),
    );
    expect(told).toMatchObject([
      { model: "large", cache_write_tokens: 70, cost_usd: 0.2 },
      { model: "small", input_tokens: 9, cost_usd: 0.1 },
    ]);
  });

  test("beyond the bound, or without a usable name, count for one without a name: no token is lost", () => {
    const many = Object.fromEntries(
      Array.from({ length: 40 }, (_, n) => [n === 7 ? "bad\nname" : `m${n}`, { inputTokens: 1, costUSD: 1 }]),
    );
    const told = modelsIn(init, result(many));
    expect(told).toHaveLength(MODELS_PER_TURN_MAX);
    expect(told.at(-1)).toMatchObject({ model: null });
    expect(told.reduce((sum, one) => sum + one.input_tokens, 0)).toBe(40);
    expect(told.reduce((sum, one) => sum + (one.cost_usd ?? 0), 0)).toBe(40);
  });
});

describe("usage of the open turn", () => {
  const usage = (input_tokens: number, output_tokens: number) => ({ input_tokens, output_tokens });
  const says = (id: string, content: object, used: object, over: object = {}) => ({
    type: "assistant",
    session_id: SESSION,
    message: { id, model: "model-a", usage: used, content: [content] },
    ...over,
  });
  const text = { type: "text", text: "Hm." };
  const call = (id: string) => ({ type: "tool_use", id, name: "Bash", input: {} });
  const gave = (id: string) => ({
    type: "user",
    session_id: SESSION,
    message: { content: [{ type: "tool_result", tool_use_id: id, content: "ok" }] },
  });
  const result = {
    type: "result",
    subtype: "success",
    is_error: false,
    result: "done",
    num_turns: 1,
    session_id: SESSION,
    usage: usage(7, 7),
  };

  test("is told with a tool and its result, each message once, and never behind the last answer", () => {
    const { spending, records } = decoded(
      init,
      says("m1", text, usage(100, 1)),
      says("m1", call("t1"), usage(100, 10)),
      gave("t1"),
      says("m2", call("t2"), usage(200, 20)),
      says("m2", call("t3"), usage(200, 20)),
      says("m3", text, usage(300, 30)),
      result,
    );
    expect(spending).toEqual([
      [100, 10, null],
      [100, 10, null],
      [300, 30, null],
      [300, 30, null],
    ]);
    expect(records.filter(({ type }) => type === "turn_completed")).toMatchObject([
      { payload: { usage: usage(7, 7) } },
    ]);
  });

  test("has what the end of a stream says of its message, and what sub-agents use", () => {
    const stream = (event: object) => ({ type: "stream_event", session_id: SESSION, event });
    const { spending } = decoded(
      init,
      stream({ type: "message_start", message: { id: "m1" } }),
      says("m1", call("t1"), usage(100, 1)),
      stream({ type: "message_delta", usage: { output_tokens: 50 } }),
      says("s1", call("t2"), usage(5, 5), { parent_tool_use_id: "t1" }),
      gave("t2"),
    );
    expect(spending.at(-1)).toEqual([105, 55, null]);
  });

  test("begins anew with the next turn, and counts every message of a long one", () => {
    const rounds = Array.from({ length: 40 }, (_, n) => says(`m${n}`, call(`t${n}`), usage(10, 1)));
    const { spending } = decoded(init, ...rounds, result, init, says("n1", call("u1"), usage(3, 2)));
    expect(spending.slice(-2)).toEqual([
      [400, 40, null],
      [3, 2, null],
    ]);
  });
});
