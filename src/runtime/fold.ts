/** Folds a tree from its records: its own stream and those of its workers, in the order of writing. */
import type { LogRecord } from "../protocol/records.ts";
import { childPath } from "../protocol/tree.ts";
import type { TreeRef, TreeSupervisorRef } from "../protocol/tree-records.ts";
import type { WorkerSpec } from "../protocol/worker.ts";
import type { EventLog } from "../store/event-log.ts";
import type { WorkerRow } from "../store/views.ts";
import { type Instant, LIFECYCLE, monotonicOf } from "../supervisor/child/evolve.ts";
import { emptyTree, evolveTree, TREE_RECORDS } from "../supervisor/tree/evolve.ts";
import type { TreeState } from "../supervisor/tree/state.ts";

/** A tree's own stream since the tree was last applied anew. */
export interface TreeHistory {
  readonly name: string;
  readonly records: readonly LogRecord[];
  /** Paths of all its supervisors, removed ones included. */
  readonly supervisors: readonly string[];
}

export const treeHistory = (log: EventLog, name: string): TreeHistory => {
  const all = log.treeStream(name, TREE_RECORDS);
  const records = all.slice(all.findLastIndex(({ type }) => type === "tree_removed") + 1);
  const paths = records.flatMap((record) =>
    record.type === "tree_applied" ? pathsOf(name, record.payload.root) : [],
  );
  return { name, records, supervisors: [...new Set(paths)] };
};

/** Folds the state of a tree. `rows`: the workers under its supervisors. */
export const foldTree = (
  log: EventLog,
  { name, records: own }: TreeHistory,
  rows: readonly WorkerRow[],
  specOf: (row: WorkerRow) => WorkerSpec,
  now: Instant,
): TreeState => {
  const since = own[0]?.seq ?? 0;
  const members = new Map(rows.map((row) => [row.id, row]));
  const theirs = [...members.keys()].flatMap((id) => log.stream(id, LIFECYCLE));
  const records: LogRecord[] = [...own, ...theirs]
    .filter(({ seq }) => seq >= since)
    .sort((a, b) => a.seq - b.seq);
  return records.reduce((tree, record) => {
    const period = longestPeriod(tree);
    return evolveTree(tree, record, monotonicOf(record, now, period), (id) => {
      const row = members.get(id);
      if (row === undefined) throw new Error(`worker ${id} of tree ${name} is not in the log`);
      return specOf(row);
    });
  }, emptyTree(name));
};

/**
 * The longest period that any window counts. After a reboot, the age of a record is known only by the wall clock, so it is
 * clamped to this.
 */
const longestPeriod = (tree: TreeState): number =>
  Math.max(
    0,
    ...[...tree.supervisors.values()].map(({ config }) => Math.max(config.period_ms, config.backoff_max_ms)),
  );

/** The paths at and below a supervisor, present and past, since the tree was first applied, and that time. */
export const pathsBelow = (
  log: EventLog,
  tree: string,
  path: string,
): { readonly since: string; readonly paths: ReadonlySet<string> } => {
  const all = log.treeStream(tree, ["tree_applied", "tree_removed"]);
  const own = all.slice(all.findLastIndex(({ type }) => type === "tree_removed") + 1);
  const paths = own
    .flatMap((record) => (record.type === "tree_applied" ? pathsOf(tree, record.payload.root) : []))
    .filter((one) => path === tree || one === path || one.startsWith(`${path}/`));
  return { since: own[0]?.recorded_at ?? "", paths: new Set(paths) };
};

/** One life of a tree on this machine, from its first `agent up` to its `agent down`, among those of all machines. */
export const lifeOfTree = (log: EventLog, tree: string): string => {
  const all = log.treeStream(tree, ["tree_applied", "tree_removed"]);
  const first = all[all.findLastIndex(({ type }) => type === "tree_removed") + 1];
  return `${log.epoch}:${first?.seq ?? 0}`;
};

/** The paths of all supervisors in a tree. */
const pathsOf = (tree: string, root: TreeSupervisorRef): readonly string[] => {
  const below = (at: string, { children }: TreeSupervisorRef): readonly string[] => [
    at,
    ...children.flatMap((child: TreeRef) =>
      child.type === "supervisor" ? below(childPath(tree, at, child.name), child) : [],
    ),
  ];
  return below(tree, root);
};
