/** Rows of the tree and the table, the drawn part of a long list, and records that come twice. */
import { describe, expect, it } from "vitest";
import {
  WEB_OVERSCAN_ROWS,
  WEB_RECORDS_MAX,
  WEB_REFRESH_MAX_MS,
  WEB_REFRESH_MIN_MS,
} from "../../../src/base/limits.ts";
import type { LogRecord } from "../../../src/protocol/records.ts";
import type { TreeNode } from "../../../src/protocol/replies/trees.ts";
import type { WorkerView } from "../../../src/protocol/replies/workers.ts";
import { causeOf, effectsOf, joined, relatedTo } from "../../../src/web/model/records.ts";
import { changesWorkers, waitAfter } from "../../../src/web/model/refresh.ts";
import { treeMove, treeRows } from "../../../src/web/model/tree-rows.ts";
import { drawnPart, scrollFor } from "../../../src/web/model/windowing.ts";
import { workerRows } from "../../../src/web/model/worker-rows.ts";

const node = (id: string, children: readonly TreeNode[] = [], more: object = {}): TreeNode =>
  ({ id, name: id, type: children.length > 0 ? "supervisor" : "worker", children, ...more }) as TreeNode;
const TREE = node("root", [
  node("crew", [node("a", [], { state: "running" }), node("b", [], { state: "failed" })]),
  node("c"),
]);
const idsOf = (rows: readonly { readonly node: TreeNode; readonly level: number }[]) =>
  rows.map(({ node: { id }, level }) => `${"-".repeat(level - 1)}${id}`);
const NONE = new Set<string>();

describe("the tree", () => {
  it("has a row for each node, without those below a closed one", () => {
    expect(idsOf(treeRows(TREE, NONE))).toEqual(["root", "-crew", "--a", "--b", "-c"]);
    expect(idsOf(treeRows(TREE, new Set(["crew"])))).toEqual(["root", "-crew", "-c"]);
  });

  it("shows what a filter matches with everything above it, and nothing where it matches nothing", () => {
    expect(idsOf(treeRows(TREE, NONE, { text: "", state: "failed", kind: "" }))).toEqual([
      "root",
      "-crew",
      "--b",
    ]);
    expect(treeRows(TREE, NONE, { text: "nobody", state: "", kind: "" })).toEqual([]);
  });

  const rows = treeRows(TREE, NONE);
  it.each([
    ["ArrowDown", 0, { to: 1 }],
    ["ArrowDown", 4, { to: 4 }],
    ["ArrowUp", 0, { to: 0 }],
    ["ArrowRight", 1, { to: 2 }],
    ["ArrowRight", 2, { to: 2 }],
    ["ArrowLeft", 1, { to: 1, toggle: "crew" }],
    ["ArrowLeft", 3, { to: 1 }],
    ["Home", 3, { to: 0 }],
    ["End", 0, { to: 4 }],
    ["x", 0, undefined],
  ])("%s in row %s", (key, from, move) => expect(treeMove(key, from, rows)).toEqual(move));

  it("opens a closed node with an arrow", () =>
    expect(treeMove("ArrowRight", 1, treeRows(TREE, new Set(["crew"])))).toEqual({ to: 1, toggle: "crew" }));
});

const worker = (id: string, more: object = {}): WorkerView =>
  ({
    id,
    name: null,
    kind: "command",
    state: "running",
    task: "",
    labels: {},
    usage: {},
    created_at: id,
    ...more,
  }) as WorkerView;

describe("the table", () => {
  const workers = [
    worker("1", { restarts: 2, labels: { issue: "1189" } }),
    worker("2", { restarts: 5 }),
    worker("3", { restarts: 2 }),
  ];
  const ids = (sort: string, text = ""): readonly string[] =>
    workerRows(workers, { text, state: "", kind: "" }, sort).map(({ id }) => id);
  it("is sorted by a column, and by id where that says nothing", () => {
    expect(ids("restarts")).toEqual(["1", "3", "2"]);
    expect(ids("-restarts")).toEqual(["2", "1", "3"]);
    expect(ids("constructor")).toEqual(["1", "2", "3"]);
  });
  it("finds a label", () => expect(ids("since", "ISSUE=1189")).toEqual(["1"]));
  it("finds the paused ones", () => {
    const paused = worker("4", { paused: [{}] });
    expect(workerRows([...workers, paused], { text: "", state: "paused", kind: "" })).toEqual([paused]);
  });
});

describe("a long list", () => {
  it("draws what is seen, and some rows around it", () => {
    const { first, end } = drawnPart(10_000, 30, 30_000, 600);
    expect([first, end]).toEqual([1_000 - WEB_OVERSCAN_ROWS, 1_020 + WEB_OVERSCAN_ROWS]);
  });
  it.each([
    [0, 0],
    [3, 900],
    [1_000, 1e9],
  ])("of %s rows stays within them, scrolled by %s", (count, top) => {
    const { first, end } = drawnPart(count, 30, top, 600);
    expect(first).toBeGreaterThanOrEqual(0);
    expect(end).toBeLessThanOrEqual(count);
    expect(end).toBeGreaterThanOrEqual(first);
  });
  it("scrolls no further than it must", () => {
    expect(scrollFor(5, 30, 0, 600)).toBe(0);
    expect(scrollFor(5, 30, 300, 600)).toBe(150);
    expect(scrollFor(30, 30, 0, 600)).toBe(330);
  });
});

describe("records", () => {
  const of = (...seqs: readonly number[]): readonly LogRecord[] =>
    seqs.map((seq) => ({ seq, id: `r${seq}`, causation_id: `r${Math.max(1, seq - 1)}` }) as LogRecord);
  const seqsOf = (records: readonly LogRecord[]): readonly number[] => records.map(({ seq }) => seq);
  it.each([
    [of(), of(1, 2), [1, 2]],
    [of(1, 2), of(3), [1, 2, 3]],
    [of(3, 4), of(1, 2, 3), [1, 2, 3, 4]],
    [of(1, 3), of(2, 4), [1, 2, 3, 4]],
  ])("are there once each, in order", (known, more, all) => expect(seqsOf(joined(known, more))).toEqual(all));
  it("stay the same list if nothing is new", () => {
    const known = of(1, 2, 3);
    expect(joined(known, of(2, 3))).toBe(known);
    expect(joined(known, [])).toBe(known);
  });
  it("are bounded, and the newest stay", () => {
    const many = of(...Array.from({ length: WEB_RECORDS_MAX + 5 }, (_, index) => index + 1));
    expect(seqsOf(joined(many.slice(0, -1), many.slice(-1)))).toEqual(seqsOf(many.slice(-WEB_RECORDS_MAX)));
  });
  it("know their cause and their effects", () => {
    const all = of(1, 2, 3);
    expect(causeOf(all[1] as LogRecord, all)?.seq).toBe(1);
    expect(causeOf(all[0] as LogRecord, all)).toBeUndefined();
    expect(seqsOf(effectsOf(all[1] as LogRecord, all))).toEqual([3]);
  });
});

describe("records about one matter", () => {
  const about = (seq: number, payload: object, incarnation = 1): LogRecord =>
    ({ seq, payload, incarnation }) as unknown as LogRecord;
  const all = [
    about(1, { turn: 1 }),
    about(2, { approval_id: "a" }),
    about(3, { data: { tool: { tool_use_id: "t" } } }),
    about(4, { approval_id: "a" }),
    about(5, { turn: 1 }),
    about(6, { turn: 1 }, 2),
    about(7, {}),
  ];
  it.each([
    [1, [5]],
    [2, [4]],
    [3, []],
    [6, []],
    [7, []],
  ])("beside record %s are %j", (seq, others) =>
    expect(relatedTo(all[seq - 1] as LogRecord, all).map((one) => one.seq)).toEqual(others),
  );
});

describe("an answer", () => {
  it.each([
    [0, WEB_REFRESH_MIN_MS],
    [50, 1_000],
    [60_000, WEB_REFRESH_MAX_MS],
  ])("that took %s ms is asked for again after %s ms", (took, wait) => expect(waitAfter(took)).toBe(wait));
  it("about workers changes with their states, and not with their output", () => {
    expect(changesWorkers({ type: "worker_exited" })).toBe(true);
    expect(changesWorkers({ type: "agent.event" })).toBe(false);
  });
});
