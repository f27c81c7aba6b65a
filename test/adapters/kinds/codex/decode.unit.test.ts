/** The lines of codex as events, and what a run came to. */
import { describe, expect, test } from "vitest";
import { codex } from "../../../../src/adapters/kinds/codex/index.ts";
import { exit, ofKind, recording, run, textOf } from "../../conformance/support.ts";

const runOf = (lines: readonly object[], facts: Parameters<typeof exit>[0] = {}) =>
  run(codex, lines.map((line) => `${JSON.stringify(line)}\n`).join(""), exit({ program: "codex", ...facts }));
const thread = { type: "thread.started", thread_id: "th-1" };
const turn = { type: "turn.started" };
const done = { type: "turn.completed", usage: { input_tokens: 1, cached_input_tokens: 0, output_tokens: 1 } };
const toolOf = (event: { readonly data?: unknown }) => (event.data as { readonly tool: object }).tool;

describe("a turn with tools", () => {
  const { events, records, outcome } = run(codex, recording("codex", "tools"));

  test("tells answers and reasoning on channels of their own", () => {
    expect(ofKind(events, "TextOutput").map(({ channel, text, data }) => [channel, text, data])).toEqual([
      ["reasoning", "**Looking**", { message_id: "item_1" }],
      ["assistant", "I will look.", { message_id: "item_2" }],
      ["assistant", "All done.", { message_id: "item_7" }],
    ]);
  });

  test("gives every tool one call and one result, also where no start was printed", () => {
    expect(ofKind(events, "ToolCall").map(toolOf)).toMatchObject([
      { backend_item_id: "item_3", thread_id: "th-1", kind: "command_execution", phase: "start" },
      { backend_item_id: "item_4", kind: "file_change" },
      { backend_item_id: "item_5", kind: "mcp_tool_call", tool_name: "echo" },
    ]);
    expect(ofKind(events, "ToolResult").map(toolOf)).toMatchObject([
      { backend_item_id: "item_3", phase: "fail", status: "failed", exit_code: 3, bytes: { stdout: 15 } },
      { backend_item_id: "item_4", phase: "complete", status: "completed", exit_code: null },
      { backend_item_id: "item_5", phase: "complete", bytes: { result: 4 } },
    ]);
  });

  test("takes a warning for a warning, and a plan for a status", () => {
    expect(ofKind(events, "Error")).toEqual([]);
    expect(ofKind(events, "Status").map(({ message }) => message)).toEqual([
      "A thread of codex started.",
      "The agent's CLI gave a warning.",
      "The agent reported its plan (1 of 2 steps done).",
    ]);
  });

  test("tells nothing that went into a tool, came out of it, or stood in a warning", () => {
    expect(JSON.stringify([records, outcome])).not.toContain("SENTINEL");
  });

  test("completes with the last answer, its thread and its usage", () => {
    const usage = {
      input_tokens: 100,
      output_tokens: 10,
      cached_tokens: 40,
      reasoning_tokens: 3,
      cost_usd: null,
    };
    expect(records.at(-1)).toEqual({
      type: "turn_completed",
      payload: { turn: 1, usage, duration_ms: null },
    });
    expect(outcome).toEqual({
      status: "completed",
      completion: {
        status: { code: 0, signal: null },
        final_text: "All done.",
        data: { schema: "agent_api.session.handle.v1", session: { id: "th-1" }, turns: 1, usage },
      },
    });
  });
});

describe("a failure that codex prints twice", () => {
  const { events, records, outcome } = run(codex, recording("codex", "unauthorised"), exit({ code: 1 }));

  test("is one Error with a sentence of ours, and a retry is none", () => {
    expect(ofKind(events, "Error").map(({ message, data }) => [message, data])).toEqual([
      ["The provider refused the credentials (HTTP 401).", { code: "TOKEN_INVALID" }],
    ]);
    expect(ofKind(events, "Status").at(-1)).toMatchObject({ data: { retry: 1, max_retries: 1 } });
    expect(JSON.stringify([records, outcome])).not.toContain("SENTINEL");
  });

  test("fails the turn and the run", () => {
    expect(outcome).toMatchObject({ status: "failed", error: { code: "TOKEN_INVALID" } });
    expect(records.at(-1)).toMatchObject({
      type: "turn_completed",
      payload: { turn: 1, error: { code: "TOKEN_INVALID" } },
    });
  });
});

test.each([
  ["exceeded retry limit, last status: 429 Too Many Requests", "RATE_LIMITED"],
  ['{"error":{"message":"x","type":"invalid_request_error"}}', "PROVIDER_BAD_REQUEST"],
  ["Missing environment variable: `KEY`.", "TOKEN_MISSING"],
  ["stream disconnected before completion: idle timeout waiting for SSE", "PROVIDER_ERROR"],
  ["Connection failed: error sending request", "PROVIDER_ERROR"],
  ["unexpected status 503 Service Unavailable", "PROVIDER_ERROR"],
  ["words of tomorrow", "AGENT_FAILED"],
])("turn.failed with `%s` is %s", (message, code) => {
  expect(
    runOf([thread, turn, { type: "turn.failed", error: { message } }], { code: 1 }).outcome.error?.code,
  ).toBe(code);
});

test("a text is told when its item is whole, once", () => {
  const item = (type: string, text: string) => ({ type, item: { id: "i", type: "agent_message", text } });
  const { events } = runOf([
    thread,
    turn,
    item("item.started", "He"),
    item("item.updated", "Hel"),
    item("item.completed", "Hello."),
    done,
  ]);
  expect(textOf(events, "assistant")).toBe("Hello.");
});

test("an item of an unknown type is one Unknown event for each of its lines", () => {
  const { events } = runOf([
    thread,
    { type: "item.completed", item: { id: "i", type: "hologram", secret: "S" } },
  ]);
  expect(ofKind(events, "Unknown").map(({ data }) => data)).toEqual([
    { type: "item.completed", item: "hologram" },
  ]);
});

test("an end with neither turn event is a failure that says how the process ended", () => {
  expect(runOf([thread, turn]).outcome.error?.code).toBe("NO_TERMINAL_EVENT");
  expect(runOf([thread, turn], { code: 1 }).outcome.error?.message).toBe("`codex` exited with code 1.");
  expect(runOf([thread, turn], { code: 137, signal: "SIGKILL" }).outcome.error?.message).toBe(
    "`codex` was ended by SIGKILL.",
  );
  expect(runOf([thread, turn], { code: null }).outcome.error?.code).toBe("WORKER_LOST");
});

test("a session that codex does not know is told from stderr, which is all there is", () => {
  const { outcome } = runOf([], {
    code: 1,
    stderr_tail: "Error: thread/resume failed: no rollout found for thread id X (code -32600)",
  });
  expect(outcome.error?.code).toBe("SESSION_NOT_FOUND");
});
