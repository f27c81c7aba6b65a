/** Cards as rows: in their lanes and their order, and the same after a rebuild. */
import { expect, test } from "vitest";
import { boardStream } from "../../../../src/protocol/board-records.ts";
import type { RecordDraft } from "../../../../src/protocol/records.ts";
import { WorkerSpec } from "../../../../src/protocol/worker.ts";
import type { Store } from "../../../../src/store/upkeep.ts";
import { clock, newFile, newLog } from "../support.ts";

const about = (issue_id: string, board = "default") => ({
  stream: boardStream(board),
  of: { issue_id, by: "user", clock },
});
const added = (issue_id: string, priority: "high" | "normal" = "normal", board = "default"): RecordDraft => {
  const { stream, of } = about(issue_id, board);
  return {
    type: "issue.discovered",
    stream,
    payload: { ...of, title: issue_id, body: null, labels: [], priority },
  };
};
const done = (issue_id: string): RecordDraft => {
  const { stream, of } = about(issue_id);
  return { type: "issue.done", stream, payload: { ...of, note: null } };
};
const queued = (issue_id: string, delay_ms: number): RecordDraft => {
  const { stream, of } = about(issue_id);
  const payload = { ...of, retry_class: "timeout", delay_ms, code: "TIMEOUT", reason: "late" } as const;
  return { type: "issue.retry_queued", stream, payload };
};

const ids = (cards: readonly { readonly issue_id: string }[]): string[] =>
  cards.map(({ issue_id }) => issue_id);

const filled = (): Store => {
  const store = newLog({ file: newFile() });
  store.append([
    added("A"),
    added("B"),
    added("C", "high"),
    added("D"),
    added("E"),
    added("A", "normal", "other"),
  ]);
  store.append([queued("A", 9_000), queued("B", 1_000), done("D")]);
  const spec = WorkerSpec.parse({ kind: "command", argv: ["a"], cwd: "/", restart: "temporary" });
  const payload = { slots: 2, completed_lane: "Done", spec, by: "user", clock } as const;
  store.append([{ type: "board_configured", stream: boardStream("default"), payload }]);
  return store;
};

const all = (store: Store) => ({
  listed: ids(store.cards({ board: "default", lanes: [], after: 0, limit: 10 })),
  free: ids(store.freeCards("default", 10)),
  waiting: ids(store.waitingCards("default", 10)),
  lanes: store.lanesOf("default"),
  boards: store.boards(10),
  settings: store.boardSettings().map(({ board, slots }) => [board, slots]),
  card: store.card("default", "B"),
});

test("cards are found by lane, free ones by priority, and waiting ones by the time of their next try", () => {
  const store = filled();
  expect(all(store)).toMatchObject({
    listed: ["A", "B", "C", "D", "E"],
    free: ["C", "E"],
    waiting: ["B", "A"],
    lanes: { RetryQueued: 2, Todo: 2, Done: 1 },
    boards: ["default", "other"],
    settings: [["default", 2]],
    card: { lane: "RetryQueued", code: "TIMEOUT", failures: 1 },
  });
  const [first] = store.cards({ board: "default", lanes: ["RetryQueued", "Done"], after: 0, limit: 1 });
  expect(
    ids(store.cards({ board: "default", lanes: ["RetryQueued", "Done"], after: first!.seq, limit: 9 })),
  ).toEqual(["B", "D"]);
  expect(store.card("other", "B")).toBeUndefined();
});

test("a rebuild gives the same rows", async () => {
  const store = filled();
  const before = all(store);
  store.rebuild();
  expect(all(store)).toEqual(before);
  await store.rebuildAside();
  expect(all(store)).toEqual(before);
  expect(store.check().findings).toEqual([]);
});
