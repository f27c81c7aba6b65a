import { describe, expect, it } from "vitest";
import { conversation, namesWorker } from "../../../src/cli/acp/conversation.ts";
import { promptText } from "../../../src/cli/acp/prompt.ts";
import { updatesOf } from "../../../src/cli/acp/updates.ts";
import type { Call } from "../../../src/cli/parse.ts";
import type { LogRecord } from "../../../src/protocol/records.ts";

const record = (type: string, payload: object) => ({ id: "r1", type, payload }) as unknown as LogRecord;
const event = (kind: string, rest: object) =>
  record("agent.event", { agent_kind: "acp", kind, channel: "assistant", ...rest });
const text = (said: string) => ({ content: { type: "text", text: said } });

describe("records of a session as updates", () => {
  it.each([
    [
      "a prompt of the spec",
      record("worker_spawn_requested", { spec: { prompt: "p" } }),
      "user_message_chunk",
      text("p"),
    ],
    [
      "a message",
      record("worker_message", { state: "accepted", text: "m" }),
      "user_message_chunk",
      text("m"),
    ],
    ["a text", event("TextOutput", { text: "t" }), "agent_message_chunk", text("t")],
    [
      "a line of a program",
      event("TextOutput", { text: "t", channel: "stdout" }),
      "agent_message_chunk",
      text("t"),
    ],
    ["a thought", event("TextOutput", { text: "t", channel: "reasoning" }), "agent_thought_chunk", text("t")],
    [
      "a tool call",
      event("ToolCall", { data: { tool: { tool_name: "Bash", tool_use_id: "c1", kind: "execute" } } }),
      "tool_call",
      { toolCallId: "c1", title: "Bash", kind: "execute", status: "in_progress" },
    ],
    [
      "a tool call that says little",
      event("ToolCall", { data: {} }),
      "tool_call",
      { toolCallId: "r1", title: "tool", kind: "other", status: "in_progress" },
    ],
    [
      "a failed one",
      event("ToolResult", { data: { tool: { tool_use_id: "c1", phase: "fail" } } }),
      "tool_call_update",
      { toolCallId: "c1", status: "failed" },
    ],
  ])("%s", (_name, one, sessionUpdate, rest) => {
    expect(updatesOf(one)).toEqual([{ sessionUpdate, ...rest }]);
  });

  it.each([
    [
      "a step of a message that is no text of a person",
      record("worker_message", { state: "delivered", end: 3 }),
    ],
    ["a line of the runtime", record("worker_message", { state: "accepted", text: "{}", line: true })],
    ["stderr", event("TextOutput", { text: "t", channel: "stderr" })],
    ["a status", event("Status", { message: "s" })],
    ["the end of a turn", record("turn_completed", { turn: 1 })],
  ])("nothing of %s", (_name, one) => {
    expect(updatesOf(one)).toEqual([]);
  });
});

it("a prompt is its texts, its attached files and the paths of its links", () => {
  expect(
    promptText([
      { type: "text", text: "Fix" },
      { type: "resource_link", uri: "file:///a%20b.ts", name: "a b.ts" },
      { type: "resource", resource: { uri: "file:///c.ts", text: "let c;" } },
      { type: "image", data: "", mimeType: "image/png" },
    ]),
  ).toBe("Fix\n\n/a b.ts\n\n/c.ts:\n\nlet c;");
});

describe("the call of a session", () => {
  const call = (args: readonly string[], more: object = {}) =>
    ({ args, flags: {}, ...more }) as unknown as Call;

  it("is a conversation that asks, unless its user says otherwise", () => {
    expect(conversation(call(["claude"])).flags).toEqual({ permission: "ask", interactive: true });
    const allowed = call(["claude"], { flags: { permission: "allow" } });
    expect(conversation(allowed).flags).toEqual({ permission: "allow", interactive: true });
  });

  it("names a worker by any word that is no kind", () => {
    const words = ["fixer", "claude", "acp:gemini"];
    expect(words.map((word) => namesWorker(call([word])))).toEqual([true, false, false]);
    expect(namesWorker(call(["fixer"], { argv: ["node"] }))).toBe(false);
  });
});
