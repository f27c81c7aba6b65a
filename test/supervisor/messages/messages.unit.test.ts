/** The next step for the messages to one agent. */
import { describe, expect, test } from "vitest";
import { HoldfastError } from "../../../src/protocol/errors.ts";
import { isUlid } from "../../../src/protocol/forms.ts";
import type { MessageRow } from "../../../src/protocol/message-row.ts";
import type { LogRecord } from "../../../src/protocol/records.ts";
import { type AnswerState, foldAnswer, UNANSWERED } from "../../../src/supervisor/messages/answers.ts";
import {
  handOver,
  isWaiting,
  lastWords,
  nextMessage,
  promptId,
} from "../../../src/supervisor/messages/messages.ts";

const row = (message_id: string, over: Partial<MessageRow> = {}): MessageRow => ({
  worker_id: "w",
  message_id,
  seq: 1,
  bytes: 2,
  masked: false,
  closes: false,
  line: false,
  bound: null,
  state: "accepted",
  open: true,
  deliveries: 0,
  incarnation: null,
  end: null,
  turn: null,
  reason: null,
  accepted_at: "",
  changed_at: "",
  ...over,
});
const delivered = (message_id: string, incarnation: number, end = 0) =>
  row(message_id, { state: "delivered", incarnation, end, deliveries: 1 });

describe("the next message of incarnation 2 is", () => {
  test.each<[string, readonly MessageRow[], string | undefined]>([
    ["none without any", [], undefined],
    ["the one that was accepted first", [row("a"), row("b")], "a"],
    ["the prompt before what was sent while it started", [row("a"), row("prompt")], "prompt"],
    ["not one that it has", [delivered("a", 2), row("b")], "b"],
    ["a line of its protocol, before the prompt", [row("prompt"), row("l", { line: true, bound: 2 })], "l"],
    ["not what was for another incarnation alone", [row("a", { bound: 1 }), row("b")], "b"],
    ["not a bound one that it has", [{ ...delivered("a", 2), bound: 2 }, row("b")], "b"],
    ["one that the last incarnation did not acknowledge", [delivered("a", 1), row("b")], "a"],
  ])("%s", (_what, open, expected) => {
    expect(nextMessage(open, 2, "prompt")?.message_id).toBe(expected);
  });
});

describe("of a message of 10 bytes that begins at byte 100", () => {
  test.each([
    ["nothing is there", 100, true, { type: "write", written: 0 }],
    ["a part is there", 104, true, { type: "write", written: 4 }],
    ["all is there, only the record is missing", 110, true, { type: "record" }],
    ["all is there, and the agent has ended", 110, false, { type: "record" }],
    ["a part is there, and the agent has ended", 104, false, { type: "keep" }],
    ["the file has lost bytes", 90, true, { type: "write", written: 0 }],
  ] as const)("%s", (_what, size, isAlive, expected) => {
    expect(handOver(10, 100, size, isAlive)).toEqual(expected);
  });
});

test("an agent waits when it is in no turn and owes no acknowledgement; that its input shall end changes nothing", () => {
  expect(isWaiting([], false)).toBe(true);
  expect(isWaiting([], true)).toBe(false);
  expect(isWaiting([delivered("a", 1)], false)).toBe(false);
  expect(isWaiting([row("a", { closes: true })], false)).toBe(true);
});

test("the last word: what never reached an agent is undeliverable, what no agent acknowledged is unknown", () => {
  const open = [row("a"), delivered("b", 1), { ...delivered("c", 1), closes: true }];
  expect(lastWords(open)).toMatchObject([
    {
      id: expect.stringMatching(/^message:a:ended:\d+$/),
      payload: { message_id: "a", state: "undeliverable" },
    },
    { id: expect.stringMatching(/^message:b:ended:\d+$/), payload: { message_id: "b", state: "unknown" } },
    {
      id: expect.stringMatching(/^message:c:ended:\d+$/),
      payload: { message_id: "c", state: "acknowledged" },
    },
  ]);
});

test("the same prompt of the same worker is the same message", () => {
  expect(isUlid(promptId("w", "p"))).toBe(true);
  expect(promptId("w", "p")).toBe(promptId("w", "p"));
  expect(new Set([promptId("w", "p"), promptId("w", "q"), promptId("v", "p")]).size).toBe(3);
});

describe("the turn that answers a message", () => {
  let seq = 0;
  const record = (type: string, incarnation: number, payload: object) =>
    ({ type, incarnation, payload, seq: ++seq }) as unknown as LogRecord;
  const message = (state: string, incarnation: number, more: object = {}) =>
    record("worker_message", incarnation, { message_id: "m", state, ...more });
  const turn = (n: number, incarnation: number) => record("turn_completed", incarnation, { turn: n });
  const end = (records: readonly LogRecord[]): AnswerState => {
    const last = records.reduce((state, one) => foldAnswer(state, one, "m"), UNANSWERED);
    return last.type === "failed" ? { type: "failed", error: new HoldfastError(last.error.code, "") } : last;
  };
  const lost = { type: "failed", error: new HoldfastError("AGENT_FAILED", "") };

  test("is the first that ends after the acknowledgement, not one that ended before", () => {
    const records = [
      message("accepted", 1),
      message("delivered", 1),
      turn(1, 1),
      message("acknowledged", 1, { turn: null }),
      turn(2, 1),
      turn(3, 1),
    ];
    expect(end(records)).toMatchObject({ type: "answered", turn: { turn: 2 } });
  });

  test("is in the next incarnation where the first one ended before it had the message", () => {
    const records = [
      message("delivered", 1),
      record("worker_completed", 1, {}),
      message("delivered", 2),
      message("acknowledged", 2, { turn: 1 }),
      turn(1, 2),
    ];
    expect(end(records)).toMatchObject({ type: "answered", turn: { turn: 1 } });
  });

  test("tells why the agent that had it failed, and why the worker did that never gave it to one", () => {
    const error = { code: "TOKEN_INVALID", message: "The provider refused the credentials." };
    const failed = record("worker_failed", 1, { error });
    const why = (records: readonly LogRecord[]) =>
      records.reduce((state, one) => foldAnswer(state, one, "m"), UNANSWERED);
    expect(why([message("acknowledged", 1), failed])).toMatchObject({
      type: "failed",
      error: {
        code: "TOKEN_INVALID",
        message: "The agent ended before it answered: The provider refused the credentials.",
      },
    });
    const ended = record("worker_ended", 1, { state: "failed" });
    expect(why([message("delivered", 1), failed, ended])).toMatchObject({ error: { code: "TOKEN_INVALID" } });
    const killed = record("worker_ended", 1, { state: "cancelled" });
    expect(why([message("delivered", 1), failed, killed])).toMatchObject({ error: { code: "AGENT_FAILED" } });
  });

  test.each<[string, () => readonly LogRecord[]]>([
    ["the agent ends in it", () => [message("acknowledged", 1), record("worker_completed", 1, {})]],
    ["the worker ends", () => [message("delivered", 1), record("worker_ended", 1, {})]],
    ["the message is undeliverable", () => [message("undeliverable", 1, { reason: "" })]],
    [
      "the session had it already",
      () => [message("delivered", 1), message("delivered", 2), message("acknowledged", 2, { turn: null })],
    ],
  ])("is not waited for when %s", (_what, records) => {
    expect(end(records())).toEqual(lost);
  });
});
