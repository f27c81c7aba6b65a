/** The final answer of a worker whose output retention has moved, all or a part of it. */
import { Effect } from "effect";
import { expect, it } from "vitest";
import type { RecordDraft } from "../../../src/protocol/records.ts";
import { openLog } from "../../../src/store/log.ts";
import { finalText } from "../../../src/supervisor/output/output.ts";
import { clock, draft, newFile, requested, W } from "../../store/support.ts";

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

/** What comes first is old enough to be moved. */
const after = async (old: readonly RecordDraft[], young: readonly RecordDraft[]) => {
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
  const { found, archives } = await after([printed("a"), printed("b")], []);
  expect(archives).toHaveLength(1);
  expect(found).toEqual({ moved: { records: 2, archives, from_seq: 3, to_seq: 4 } });
});

it("does not pass the rest of a command's output for the whole", async () => {
  const { found } = await after([printed("a")], [printed("b")]);
  expect(found).toMatchObject({ moved: { records: 1 } });
});

it("is there when only earlier messages of the agent were moved", async () => {
  const { found } = await after([spoken("let me see", "m1")], [spoken("the ", "m2"), spoken("answer", "m2")]);
  expect(found).toEqual({ text: "the answer", truncated: false });
});

it("is of the newest incarnation, however many there were", async () => {
  const again = draft("worker_state_changed", { from: "backing_off", to: "starting", reason: "r", clock });
  const { found } = await after([], [printed("first"), again, ...Array(600).fill(ended), printed("second")]);
  expect(found).toEqual({ text: "second", truncated: false });
});
