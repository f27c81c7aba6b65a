/** The lines of Qwen Code as events, and what a run came to. */
import { describe, expect, test } from "vitest";
import { qwenCode } from "../../../../src/adapters/kinds/qwen-code/index.ts";
import { exit, linesOf, ofKind, openingOf, recording, run, textOf } from "../../conformance/support.ts";

const runOf = (
  lines: readonly object[],
  facts: Parameters<typeof exit>[0] = {},
  spec: Parameters<typeof openingOf>[1] = {},
) =>
  run(
    qwenCode,
    lines.map((line) => `${JSON.stringify({ session_id: "s-1", ...line })}\n`).join(""),
    { ...exit({ program: "qwen", ...facts }), ...(facts.input_ended && { input_ended: true }) },
    openingOf("qwen_code", spec),
  );
const init = { type: "system", subtype: "init", model: "m" };
const usage = { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 4 };
const block = (content: object, more: object = {}) => ({
  type: "assistant",
  parent_tool_use_id: null,
  message: { id: "m-1", content: [content], usage },
  ...more,
});
const say = (text: string, more: object = {}) => block({ type: "text", text }, more);
const done = (fields: object = {}) => ({
  type: "result",
  subtype: "success",
  is_error: false,
  usage: { input_tokens: 100, output_tokens: 50, cache_read_input_tokens: 40 },
  ...fields,
});
const failed = (message: string) =>
  done({ subtype: "error_during_execution", is_error: true, error: { message } });
const usedBy = ({ records }: ReturnType<typeof runOf>) =>
  records.flatMap((record) => (record.type === "turn_completed" ? [record.payload.usage] : []));

describe("a conversation", () => {
  const response = (request_id: string) => ({ type: "control_response", response: { request_id } });
  const conversation = [
    response("holdfast"),
    response("M1"),
    init,
    say("a"),
    done(),
    response("M2"),
    init,
    block(
      { type: "text", text: "b" },
      { message: { id: "m-2", content: [{ type: "text", text: "b" }], usage } },
    ),
    done(),
  ];

  test("acknowledges each message in its turn, and counts the turn alone", () => {
    const told = runOf(conversation, { input_ended: true }, { interactive: true });
    expect(told.records.filter(({ type }) => type === "worker_message")).toMatchObject([
      { payload: { message_id: "M1", state: "acknowledged", turn: 1 } },
      { payload: { message_id: "M2", state: "acknowledged", turn: 2 } },
    ]);
    expect(usedBy(told)).toMatchObject([{ output_tokens: 5 }, { output_tokens: 5 }]);
    expect(told.outcome).toMatchObject({ status: "completed", completion: { final_text: "b" } });
  });

  test("that nobody has ended has failed, and one that was ended before its first turn has not", () => {
    expect(runOf(conversation, {}, { interactive: true }).outcome.status).toBe("failed");
    expect(runOf([response("holdfast")], { input_ended: true }, { interactive: true }).outcome.status).toBe(
      "completed",
    );
  });

  test("denies what needs a permission, and refuses other requests of the CLI", () => {
    const ask = (request_id: string, subtype: string) => ({
      type: "control_request",
      request_id,
      request: { subtype },
    });
    const state = qwenCode.initial(openingOf("qwen_code", { interactive: true }));
    const lines = [ask("r1", "can_use_tool"), ask("r2", "mcp_message")]
      .flatMap((line) => qwenCode.decode(state, linesOf(`${JSON.stringify(line)}\n`)[0]!, "stdout").records)
      .flatMap((item) => (item.type === "reply" && "line" in item ? [item.line] : []));
    expect(lines.map((line) => JSON.parse(line).response)).toMatchObject([
      { request_id: "r1", response: { behavior: "deny" } },
      { request_id: "r2", subtype: "error" },
    ]);
  });
});

describe("a turn with a tool", () => {
  const { events, outcome } = run(qwenCode, recording("qwen-code", "real-shell"));

  test("gives the tool one call and one result, by its name, without what went in or came out", () => {
    const tools = events.filter(({ channel }) => channel === "tool");
    expect(
      tools.map(({ kind, data }) => [kind, (data as { tool: { tool_name: string } }).tool.tool_name]),
    ).toEqual([
      ["ToolCall", "run_shell_command"],
      ["ToolResult", "run_shell_command"],
    ]);
    expect(JSON.stringify(tools)).not.toContain("to-stderr");
  });

  test("completes with the last message alone", () => {
    expect(textOf(events, "assistant")).toBe("I will run a command.The command printed hello-from-tool.");
    expect(outcome).toMatchObject({
      status: "completed",
      completion: { final_text: "The command printed hello-from-tool.", data: { turns: 1 } },
    });
  });
});

test("a failed command has the exit code that its text tells", () => {
  const content = [{ type: "tool_result", tool_use_id: "t", is_error: true, content: "x\nExit Code: 3\ny" }];
  const { events } = runOf([
    init,
    block({ type: "tool_use", id: "t", name: "run_shell_command" }),
    { type: "user", message: { content } },
  ]);
  expect(ofKind(events, "ToolResult")).toMatchObject([
    { data: { tool: { exit_code: 3, status: "failed", tool_name: "run_shell_command" } } },
  ]);
});

test("an error of the provider is told once, in our words, and is no text of the agent", () => {
  const { events, outcome } = runOf([
    init,
    say("Partial.[API Error: 401 SENTINEL]"),
    failed("[API Error: 401 SENTINEL]"),
  ]);
  expect(outcome.error?.code).toBe("TOKEN_INVALID");
  expect(textOf(events, "assistant")).toBe("Partial.");
  expect(ofKind(events, "Error")).toHaveLength(1);
  expect(JSON.stringify([events, outcome])).not.toContain("SENTINEL");
});

test.each([
  ["[API Error: Model stream ended with empty response text.]", "PROVIDER_ERROR"],
  ["[API Error: terminated (cause: UND_ERR_SOCKET: other side closed)]", "PROVIDER_ERROR"],
  ["[API Error: 429 slow down]", "RATE_LIMITED"],
  ["SENTINEL", "AGENT_FAILED"],
])("a result that says `%s` is %s", (message, code) => {
  expect(runOf([init, failed(message)], { code: 1 }).outcome.error?.code).toBe(code);
});

test("a text that looks like an error is the model's where the turn goes on or ends well", () => {
  const quoted = "It printed [API Error: 401 x]";
  const { events, outcome } = runOf([init, say(quoted), done()]);
  expect(textOf(events, "assistant")).toBe(quoted);
  expect(outcome.completion.final_text).toBe(quoted);
  expect(textOf(runOf([init, say(quoted), say("More.")]).events, "assistant")).toBe(`${quoted}More.`);
});

test("a run that was cut off after such a text failed by it", () => {
  expect(runOf([init, say("[API Error: 401 x]")], { code: 1 }).outcome.error?.code).toBe("TOKEN_INVALID");
});

test("usage is that of the result, or of the run's own messages where the session is older", () => {
  const whole = { input_tokens: 100, output_tokens: 50, cached_tokens: 40 };
  const own = { input_tokens: 20, output_tokens: 10, cached_tokens: 8 };
  const lines = [init, say("one"), say("two"), done()];
  expect(usedBy(runOf(lines))).toMatchObject([whole]);
  expect(usedBy(runOf(lines, {}, { session: "s-0" }))).toMatchObject([own]);
  expect(usedBy(runOf(lines, {}, { argv: ["--continue"] }))).toMatchObject([own]);
});

test("text of a sub-agent is told as its own, and is not the answer", () => {
  const { events, outcome } = runOf([init, say("Mine."), say("Its.", { parent_tool_use_id: "t" }), done()]);
  expect(ofKind(events, "TextOutput").at(-1)?.data).toMatchObject({ parent_tool_use_id: "t" });
  expect(outcome.completion.final_text).toBe("Mine.");
});

test("partial messages are not told twice", () => {
  const delta = {
    type: "stream_event",
    event: { type: "content_block_delta", delta: { type: "text_delta", text: "Hel" } },
  };
  expect(textOf(runOf([init, delta, say("Hello."), done()]).events, "assistant")).toBe("Hello.");
});

test.each([
  [52, "INVALID_REQUEST"],
  [53, "MAX_TURNS"],
  [55, "BUDGET_EXCEEDED"],
  [1, "AGENT_FAILED"],
])("exit code %i without a result is %s", (code, meant) => {
  expect(runOf([init], { code }).outcome.error?.code).toBe(meant);
});

test("a session that there is not is told by the words on stderr", () => {
  const stderr_tail = "No saved session found with ID 9. Run `qwen --resume` without an ID.";
  expect(runOf([], { code: 1, stderr_tail }).outcome.error?.code).toBe("SESSION_NOT_FOUND");
});

test("an answer with a schema is the final text, and what was said besides it is not", () => {
  const { outcome } = runOf([init, say("I answer."), done({ structured_result: { city: "Łódź" } })]);
  expect(outcome).toMatchObject({ completion: { final_text: '{"city":"Łódź"}' } });
});
