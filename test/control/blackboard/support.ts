/** Records of the blackboard as a log would number them, and a clock that a test moves. */
import type { DecisionTime } from "../../../src/control/lease.ts";
import { type BlackboardItem, foldItem } from "../../../src/protocol/blackboard.ts";
import { blackboardStream } from "../../../src/protocol/blackboard-records.ts";
import type { LogRecord, RecordDraft } from "../../../src/protocol/records.ts";

const BOOT = "boot-1";

export const at = (ms: number, boot_id = BOOT): DecisionTime => ({
  boot_id,
  mono_ms: ms,
  wall_ms: ms,
  clock: { boot_id, mono_ns: String(ms * 1_000_000) },
});

export const recorded = (draft: RecordDraft, seq: number, ms: number): LogRecord => ({
  id: `r${seq}`,
  correlation_id: "c",
  causation_id: "c",
  ...draft,
  seq,
  version: seq,
  recorded_at: new Date(ms).toISOString(),
});

const postedDraft = (item_id: string, ms: number, ttl_ms = 60_000): RecordDraft => ({
  type: "bb_posted",
  stream: blackboardStream("default"),
  payload: {
    item_id,
    title: "a",
    body: null,
    data: null,
    tags: [],
    artifacts: [],
    ttl_ms,
    by: "user",
    clock: at(ms).clock,
  },
});

/** An item that was posted as record 1 at this time. */
export const item = (ms = 0, ttl_ms = 60_000): BlackboardItem =>
  foldItem(undefined, recorded(postedDraft("A", ms, ttl_ms), 1, ms)) as BlackboardItem;

/** The item after the records of a decision, from this seq on. */
export const after = (
  before: BlackboardItem | undefined,
  events: readonly RecordDraft[],
  seq: number,
  ms: number,
): BlackboardItem | undefined =>
  events.reduce<BlackboardItem | undefined>(
    (state, draft, index) => foldItem(state, recorded(draft, seq + index, ms)),
    before,
  );
