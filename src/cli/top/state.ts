/** The state of `agent top`: the workers and their tree as the daemon told them last, and the doings of the user. Pure. */
import type { HoldAnswer } from "../../protocol/holds.ts";
import type { LogRecord } from "../../protocol/records.ts";
import type { TreeNode, TreeSupervisor, WorkerView } from "../../runtime/replies.ts";
import { sentenceOf } from "../render/sentences.ts";
import { oneLine } from "../render/terminal.ts";

/** The newest that a worker said or did. */
export interface LastWords {
  readonly text: string;
  /** When a tool was called that has not answered, in epoch ms; undefined if none is in flight. */
  readonly tool_since: number | undefined;
}

/** A change that a key asks for, or something to look at. `ref` is what a person types. */
export type TopDeed = { readonly type: "quit" } | { readonly type: "suspend" } | TopWork;

/** A deed that needs the daemon. */
export type TopWork =
  | {
      readonly type: "kill" | "restart" | "pause" | "unpause" | "logs" | "why" | "question";
      readonly id: string;
      readonly ref: string;
    }
  | { readonly type: "answer"; readonly hold: string; readonly ref: string; readonly answer: HoldAnswer };

/** The meaning of the next key. */
export type TopMode =
  | { readonly type: "rows" }
  | { readonly type: "sure"; readonly deed: TopDeed; readonly question: string }
  | {
      readonly type: "question";
      readonly hold: string;
      readonly ref: string;
      readonly question: string;
      readonly answers: readonly HoldAnswer[];
    }
  | { readonly type: "filter"; readonly before: string }
  | {
      readonly type: "page";
      readonly title: string;
      readonly lines: readonly string[];
      readonly top: number;
    };

export interface TopState {
  readonly root: TreeSupervisor | undefined;
  readonly workers: ReadonlyMap<string, WorkerView>;
  /** Share of one processor since the sample before, in percent. */
  readonly cpu: ReadonlyMap<string, number>;
  readonly said: ReadonlyMap<string, LastWords>;
  /** Key of the selected row. */
  readonly selected: string | undefined;
  readonly filter: string;
  readonly mode: TopMode;
  /** One line about the last deed, or about the daemon. */
  readonly note: string;
}

export const EMPTY: TopState = {
  root: undefined,
  workers: new Map(),
  cpu: new Map(),
  said: new Map(),
  selected: undefined,
  filter: "",
  mode: { type: "rows" },
  note: "",
};

/** A line of the body. A worker that waits for a person has a second line above the tree. */
export interface TopRow {
  readonly key: string;
  readonly depth: number;
  readonly node: TreeNode;
  /** Undefined for a supervisor. */
  readonly worker: WorkerView | undefined;
}

export const waitsForPerson = ({ question, approvals = 0 }: WorkerView): boolean =>
  question !== undefined || approvals > 0;

const matches = (node: TreeNode, filter: string): boolean => {
  const texts = node.type === "worker" ? [node.kind, node.state, node.task] : [];
  return [node.name, node.id, ...texts].some((text) => text?.toLowerCase().includes(filter.toLowerCase()));
};

const flattened = (state: TopState, node: TreeNode, depth: number): readonly TopRow[] => {
  const worker = state.workers.get(node.id);
  const below = node.children.flatMap((child) => flattened(state, child, depth + 1));
  if (below.length === 0 && !matches(node, state.filter)) return [];
  return [{ key: node.id, depth, node, worker }, ...below];
};

/** Those that wait for a person come first, then the tree. */
export const rowsOf = (state: TopState): readonly TopRow[] => {
  const tree = (state.root?.children ?? []).flatMap((child) => flattened(state, child, 0));
  const waiting = tree
    .filter(({ worker }) => worker !== undefined && waitsForPerson(worker))
    .map((row) => ({ ...row, key: `waits ${row.key}`, depth: 0 }));
  return [...waiting, ...tree];
};

export const refOf = ({ name, id }: Pick<TreeNode, "name" | "id">): string => name ?? id;

/** The state after the records of one frame: the words are copied once, however many records there are. */
export const heard = (state: TopState, records: readonly LogRecord[]): TopState => {
  const said = new Map(state.said);
  for (const record of records)
    if (record.worker_id !== undefined)
      said.set(record.worker_id, wordsAfter(said.get(record.worker_id), record));
  return { ...state, said };
};

const wordsAfter = (before: LastWords | undefined, record: LogRecord): LastWords => {
  const sentence = sentenceOf(record);
  const kind = record.type === "agent.event" ? record.payload.kind : undefined;
  const text = sentence.quiet === true ? (before?.text ?? "") : oneLine(lastLine(sentence.text), 400);
  if (kind === "ToolCall") return { text, tool_since: Date.parse(record.recorded_at) };
  return { text, tool_since: kind === "Status" ? before?.tool_since : undefined };
};

const lastLine = (text: string): string => text.trimEnd().split("\n").at(-1) ?? "";

export interface TopView {
  readonly root: TreeSupervisor;
  readonly workers: readonly WorkerView[];
  /** When the workers were asked, in ms of a monotonic clock. */
  readonly at_ms: number;
}

/** The share of one processor of each worker since `before`, the last view with resources, in percent. */
export const cpuOf = (view: TopView, before: TopView | undefined): ReadonlyMap<string, number> => {
  const used = new Map(before?.workers.map(({ id, resources }) => [id, resources?.cpu_ms]));
  const cpu = new Map<string, number>();
  for (const { id, resources } of view.workers) {
    const [now, earlier] = [resources?.cpu_ms, used.get(id)];
    if (now === undefined || earlier === undefined || before === undefined) continue;
    cpu.set(id, (Math.max(0, now - earlier) * 100) / Math.max(1, view.at_ms - before.at_ms));
  }
  return cpu;
};

/** The state after a new view. */
export const viewed = (
  state: TopState,
  view: Pick<TopView, "root" | "workers">,
  cpu: ReadonlyMap<string, number>,
): TopState => {
  const workers = new Map(view.workers.map((worker) => [worker.id, worker]));
  const said = new Map([...state.said].filter(([id]) => workers.has(id)));
  const next = { ...state, root: view.root, workers, cpu, said };
  const rows = rowsOf(next);
  const isThere = rows.some(({ key }) => key === state.selected);
  return { ...next, selected: isThere ? state.selected : rows[0]?.key };
};
