/** The final answer of a worker whose output retention has moved, all or a part of it. */
import { Effect } from "effect";
import { describe, expect, it } from "vitest";
import { finalText } from "../../../src/actors/intake/final-answer.ts";
import type { RecordDraft } from "../../../src/protocol/records.ts";
import { openLog } from "../../../src/store/sqlite/log.ts";
import { clock, draft, newFile, requested, W } from "../../store/sqlite/support.ts";

const begun = draft("worker_state_changed", { from: "pending", to: "starting", reason: "r", clock });
const ended = draft("worker_ended", { state: "completed", reason: "over" });
const printed = (text: string): RecordDraft =>
  draft("agent.event", { agent_kind: "command", kind: "TextOutput", channel: "stdout", text });
const spoken = (said: string, message_id: string): RecordDraft =>
  draft("agent.event", {
    agent_kind: "claude_code",
    kind: "TextOutput",
    channel: "assistant",
    text: said,
    data: { message_id },
  });

/** The first output is old enough to be moved. */
const foundAfter = async (old: readonly RecordDraft[], young: readonly RecordDraft[]) => {
  let now = 1_000;
  const file = newFile(true);
  const log = openLog({ file, now: () => now });
  log.append([requested(), begun, ...old]);
  now = 3_000;
  log.append([...young, ended]);
  const { archives } = await log.gc({ before_ms: 2_000 });
  log.close();
  const again = openLog({ file }); // nothing from memory
  const found = await Effect.runPromise(finalText(again, W));
  again.close();
  return { found, archives };
};

it("says where it is when all of it was moved", async () => {
  const { found, archives } = await foundAfter([printed("a"), printed("b")], []);
  expect(archives).toHaveLength(1);
  expect(found).toEqual({ moved: { records: 2, archives, from_seq: 3, to_seq: 4 } });
});

it("does not pass the rest of a command's output for the whole", async () => {
  const { found } = await foundAfter([printed("a")], [printed("b")]);
  expect(found).toMatchObject({ moved: { records: 1 } });
});

it("is there when only earlier messages of the agent were moved", async () => {
  const { found } = await foundAfter(
    [spoken("let me see", "m1")],
    [spoken("the ", "m2"), spoken("answer", "m2")],
  );
  expect(found).toEqual({ text: "the answer", truncated: false, omitted_bytes: 0 });
});

it("is of the newest incarnation, however many there were", async () => {
  const again = draft("worker_state_changed", { from: "backing_off", to: "starting", reason: "r", clock });
  const { found } = await foundAfter(
    [],
    [printed("first"), again, ...Array(600).fill(ended), printed("second")],
  );
  expect(found).toEqual({ text: "second", truncated: false, omitted_bytes: 0 });
});

describe("of an agent that gives its messages no ids", () => {
  const said = (text: string, channel = "assistant"): RecordDraft =>
    draft("agent.event", {
      agent_kind: "acp",
      kind: "TextOutput",
      channel,
      text,
      data: { message_id: null },
    });
  const tool = (kind: "ToolCall" | "ToolResult"): RecordDraft =>
    draft("agent.event", { agent_kind: "acp", kind, channel: "tool" });
  const turn = (n: number): RecordDraft => draft("turn_started", { turn: n });

  it.each([
    ["pieces of one message", [turn(1), said("an "), said("answer")]],
    ["a call of a tool ends a message", [turn(1), said("I run."), tool("ToolCall"), said("an answer")]],
    [
      "and so does its result",
      [turn(1), said("I run."), tool("ToolCall"), said("meanwhile"), tool("ToolResult"), said("an answer")],
    ],
    ["a new turn is a new message", [turn(1), said("hello"), turn(2), said("an answer")]],
    [
      "what it thinks stands between two",
      [turn(1), said("hm"), said("let me see", "reasoning"), said("an answer")],
    ],
    ["what is written to stderr does not", [turn(1), said("an "), said("noise", "stderr"), said("answer")]],
  ])("%s", async (_what, records) => {
    const { found } = await foundAfter([], records);
    expect(found).toEqual({ text: "an answer", truncated: false, omitted_bytes: 0 });
  });
});

describe("of lines that nobody has read", () => {
  const left = (bytes: number, stream: "stdout" | "stderr" = "stdout"): RecordDraft =>
    draft("worker_log_chunk", { stream, truncated: true, reason: "line_too_long", bytes, limit_bytes: 1 });

  it("is told how much is missing, also where nothing else was printed", async () => {
    expect((await foundAfter([], [left(70), printed("OK\n")])).found).toEqual({
      text: "OK\n",
      truncated: true,
      omitted_bytes: 70,
    });
    expect((await foundAfter([], [left(70), left(3)])).found).toEqual({
      text: "",
      truncated: true,
      omitted_bytes: 73,
    });
    expect((await foundAfter([], [left(70, "stderr")])).found).toBeUndefined();
  });

  it("messages that were left out before an agent's last message are not missing in it", async () => {
    expect((await foundAfter([], [left(70), spoken("the answer", "m2")])).found).toMatchObject({
      omitted_bytes: 0,
    });
    expect((await foundAfter([], [spoken("let me see", "m1"), left(70)])).found).toMatchObject({
      omitted_bytes: 70,
    });
  });
});
