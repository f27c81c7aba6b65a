/**
 * The lines with which the conformance suite tries to break a decoder: no well-behaved program prints them.
 */
import type { Line } from "./adapter.ts";

export const textLine = (text: string): Line => ({ kind: "text", text, end: "\n" });

/** How many recorded lines are cut, spoilt and mixed. */
const SPOILT_LINES = 200;

/** Lines that no well-behaved program prints, and real ones that were cut or spoilt. */
export const hostileLines = (recorded: readonly Line[]): readonly Line[] => {
  const random = seeded(20_261_120);
  const odd = [...ODD_TEXTS, ...longTexts(), ...manyTexts()];
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const texts = recorded.flatMap((line) => (line.kind === "text" ? [line.text] : []));
  const spoilt =
    texts.length === 0 ? [] : Array.from({ length: SPOILT_LINES }, () => spoil(pick(texts), random, pick));
  return [
    ...odd.map(textLine),
    ...spoilt.map(textLine),
    { kind: "truncated", limit_bytes: 1_048_576 },
    ...[...texts.slice(0, SPOILT_LINES), ...odd].map(
      (head): Line => ({ kind: "truncated", limit_bytes: 8, head: head.slice(0, random() * head.length) }),
    ),
    { kind: "text", text: "the last line, without its end", end: "" },
  ];
};

const ODD_TEXTS: readonly string[] = [
  "",
  " ",
  "\t",
  "\0",
  "\ufeff{}",
  "\ud800",
  "null",
  "true",
  "0",
  "-0",
  "1e999",
  '""',
  "[]",
  "{}",
  "{",
  '{"type":',
  "\u2028",
  '{"type":null}',
  '{"type":{}}',
  '{"type":[]}',
  '{"type":""}',
  '{"type":"__proto__"}',
  '{"type":"constructor"}',
  '{"__proto__":{"type":"result"}}',
  '{"type":"assistant"}',
  '{"type":"assistant","message":{"content":"text"}}',
  '{"type":"assistant","message":{"content":[null,0,"x",[],{}]}}',
  '{"type":"user","message":{"content":[null,{"type":"tool_result"}]}}',
  '{"type":"stream_event"}',
  '{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"x"}}}',
  '{"type":"result"}',
  '{"type":"result","is_error":true,"num_turns":-0,"total_cost_usd":1e308,"usage":{"input_tokens":1e308}}',
  '{"type":"result","session_id":" ","model_usage_since_last_result":{"m":{"costUSD":-1}}}',
  '{"type":"system"}',
  '{"type":"system","subtype":"init"}',
  '{"type":"thread.started"}',
  '{"type":"thread.started","thread_id":7}',
  '{"type":"item.completed"}',
  '{"type":"item.completed","item":{}}',
  '{"type":"turn.completed"}',
  '{"type":"turn.failed"}',
  '{"type":"turn.failed","error":"x"}',
  '{"type":"error"}',
  '{"type":"error","message":{}}',
  '{"type":"step_start"}',
  '{"type":"text","part":{"text":7},"sessionID":7}',
  '{"type":"tool_use","part":{"state":7}}',
  '{"type":"step_finish","part":{"reason":{},"tokens":[],"cost":-1}}',
  '{"type":"error","error":{"name":{},"data":7}}',
  '{"type":"user.message"}',
  '{"type":"assistant.message_delta","data":{"deltaContent":{}}}',
  '{"type":"tool.execution_complete","data":{"shellExecution":7,"error":7}}',
  '{"type":"session.error","data":7}',
  '{"type":"init","session_id":7}',
  '{"type":"message","role":"assistant","content":{}}',
  '{"type":"tool_use"}',
  '{"type":"tool_result","tool_id":{},"status":7}',
  '{"type":"result","status":"error","error":"x","stats":[]}',
  '{"jsonrpc":"2.0","id":"holdfast:initialize","result":{"protocolVersion":1,"agentCapabilities":7}}',
  '{"jsonrpc":"2.0","id":"holdfast:session","result":{"sessionId":{}}}',
  '{"jsonrpc":"2.0","id":{},"method":"session/request_permission","params":[]}',
  '{"jsonrpc":"2.0","id":-0,"method":"session/request_permission","params":{"toolCall":null,"options":[0,{"kind":"allow_once"}]}}',
  '{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"tool_call","toolCallId":7}}}',
  '{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"usage_update","cost":{"amount":-1,"currency":"USD"}}}}',
  '{"jsonrpc":"2.0","id":"prompt:01JD0000000000000000000009","error":"x"}',
];

/** Functions, because these texts take megabytes and only a daemon with adapters of users needs them. */
const longTexts = (): readonly string[] => [
  JSON.stringify({ type: "x".repeat(200_000) }),
  JSON.stringify({ type: "system", subtype: "\u0000".repeat(100_000) }),
  JSON.stringify({
    type: "result",
    result: "\u0001".repeat(100_000),
    session_id: "\u0001".repeat(1_024),
    is_error: false,
  }),
  JSON.stringify({ type: "thread.started", thread_id: "\u0001".repeat(1_024) }),
  JSON.stringify({ type: "init", session_id: "\u0001".repeat(1_024) }),
  JSON.stringify({ type: "step_start", sessionID: "\u0001".repeat(1_024) }),
  JSON.stringify({ type: "result", sessionId: "\u0001".repeat(1_024), exitCode: 1 }),
  JSON.stringify({ type: "message", role: "assistant", content: "\u0001".repeat(100_000) }),
  JSON.stringify({ type: "text", part: { messageID: "m".repeat(128), text: "\u0001".repeat(100_000) } }),
  JSON.stringify({
    type: "assistant.message",
    data: { messageId: "m".repeat(128), content: "\u0001".repeat(100_000) },
  }),
  JSON.stringify({ type: "thread.started", thread_id: "t".repeat(1_025) }),
  JSON.stringify({ type: "keep_alive", session_id: "s".repeat(1_025) }),
  JSON.stringify({
    type: "item.completed",
    item: { type: "agent_message", id: "i".repeat(9_999), text: "ż".repeat(100_000) },
  }),
  JSON.stringify({
    type: "assistant",
    message: { id: "m", content: [{ type: "text", text: "🦊".repeat(50_000) }] },
  }),
  `${"[".repeat(20_000)}${"]".repeat(20_000)}`,
];

/** More ids than any decoder can remember. */
const manyTexts = (): readonly string[] =>
  Array.from({ length: 200 }, (_, i) => `${i}`.padStart(120, "n")).flatMap((id) => [
    JSON.stringify({ type: "assistant", message: { id, content: [{ type: "tool_use", id, name: id }] } }),
    JSON.stringify({
      type: "stream_event",
      event: { type: "message_start", message: { id } },
      parent_tool_use_id: id,
    }),
    JSON.stringify({ type: "item.started", item: { id, type: "command_execution" } }),
    JSON.stringify({
      jsonrpc: "2.0",
      id,
      method: "session/request_permission",
      params: {
        toolCall: { toolCallId: id, name: id, kind: "k".repeat(64), title: id },
        options: [{ kind: "allow_once", optionId: id }],
      },
    }),
    JSON.stringify({ type: "tool_use", tool_id: id, tool_name: id, part: { callID: id, tool: id } }),
    JSON.stringify({ type: "tool.execution_start", data: { toolCallId: id, toolName: id } }),
    JSON.stringify({ type: "assistant.message_delta", data: { messageId: id, deltaContent: id } }),
  ]);

/** Cuts a line short, changes one character, or joins the line with itself. */
const spoil = (text: string, random: () => number, pick: <T>(list: readonly T[]) => T): string => {
  const at = Math.floor(random() * (text.length + 1));
  return pick([
    () => text.slice(0, at),
    () => text.slice(at),
    () =>
      text.slice(0, at) + pick(["\0", '"', "}", "null", "\ud83e", "\u2028", "9e999"]) + text.slice(at + 1),
    () => text + text,
    () =>
      text.replace(
        /"(?:id|type|text|session_id|thread_id)":"[^"]*"/,
        pick(['"type":null', '"id":7', '"text":{}', '"session_id":[]']),
      ),
  ])();
};

/** Numbers in [0, 1), the same each time (Park and Miller's minimal standard generator). */
const seeded = (seed: number) => (): number => {
  seed = (seed * 48_271) % 2_147_483_647;
  return seed / 2_147_483_647;
};
