/** A message to Claude Code, and its acknowledgement. */
import { expect, test } from "vitest";
import { claudeCode } from "../../../../src/adapters/kinds/claude-code/index.ts";
import { messages } from "../../../../src/adapters/kinds/claude-code/messages.ts";
import { newId } from "../../../../src/protocol/ids.ts";
import { openingOf } from "../../conformance/support.ts";

const frameOf = (id: string, text: string) => JSON.parse(messages.frame(id, text));
const decode = (line: object, state = claudeCode.initial(openingOf(claudeCode.kind))) =>
  claudeCode.decode(state, { kind: "text", text: JSON.stringify(line), end: "\n" }, "stdout");

test("it is one line, whatever the text, under a uuid that is the message's id", () => {
  const id = newId();
  const frame = messages.frame(id, 'two\nlines\u2028 "quoted"\n');
  expect(frame.indexOf("\n")).toBe(frame.length - 1);
  expect(JSON.parse(frame)).toMatchObject({
    type: "user",
    uuid: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
    message: { role: "user", content: [{ type: "text", text: 'two\nlines\u2028 "quoted"' }] },
  });
});

test("its replay acknowledges it by its id, in the turn that is open", () => {
  const id = newId();
  const replay = { ...frameOf(id, "hi"), isReplay: true, session_id: "" };
  expect(decode(replay).records).toEqual([
    { type: "worker_message", payload: { message_id: id, state: "acknowledged", turn: null } },
  ]);
  const { state } = decode({ type: "system", subtype: "init" });
  expect(decode(replay, state).records).toMatchObject([{ payload: { message_id: id, turn: 1 } }]);
});

test("a message that the CLI wrote itself acknowledges nothing", () => {
  const written = { ...frameOf(newId(), "hi"), session_id: "" };
  for (const line of [written, { ...written, isReplay: true, uuid: "x" }])
    expect(decode(line).records).toMatchObject([{ type: "agent.event" }]);
});

test("the place of a message in the CLI's own queue is not told", () => {
  expect(decode({ type: "command_lifecycle", command_uuid: "x", state: "queued" }).records).toEqual([]);
});

test("a conversation whose input was ended needs no turn; one that ends by itself without one has failed", () => {
  const exit = { status: { code: 0, signal: null }, signals_sent: [], stderr_tail: "" };
  const ended = (more: object) =>
    claudeCode.finish(claudeCode.initial(openingOf(claudeCode.kind)), { ...exit, ...more }).outcome;
  expect(ended({ input_ended: true }).status).toBe("completed");
  expect(ended({})).toMatchObject({ status: "failed", error: { code: "NO_TERMINAL_EVENT" } });
});
