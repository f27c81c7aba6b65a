/** Builds the answers of queries from projected rows and the live supervisors. Pure. */

import type { FiberView } from "../../actors/supervisor/supervisor.ts";
import { PROGRAM_KIND } from "../../adapters/kinds.ts";
import { RUN_FINDINGS_SHOWN_MAX, TASK_MAX_CHARS } from "../../base/limits.ts";
import { commandLine } from "../../base/shell.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import type { WorkerError } from "../../protocol/records.ts";
import type { WorkerSpec } from "../../protocol/worker.ts";
import { statusOf } from "../../protocol/worker-status.ts";
import type { EventLog } from "../../store/event-log.ts";
import type { WorkerRow } from "../../store/views.ts";
import { decayedWindow, inWindow } from "../../supervisor/restart/window.ts";
import { type SupervisorState, supervisorOf, type TreeState, topOf } from "../../supervisor/tree/state.ts";
import type { PerWorker, SpawnReply, WorkerView } from "../api.ts";
import type { BudgetView, TreeNode, TreeSupervisor, TreeWorker, WorkerInfo } from "../replies.ts";

const taskOf = ({ spec }: WorkerRow): string => {
  const known = TASKS.get(spec);
  if (known !== undefined) return known;
  const task = taskIn(spec);
  TASKS.set(spec, task);
  return task;
};

/** Tasks by spec. The store keeps the spec objects in memory, a worker is shown many times, and its spec seldom changes. */
const TASKS = new WeakMap<WorkerSpec, string>();

/**
 * The task in one line: the prompt, or without one the command line. Cut before it is searched, because a prompt may be a
 * megabyte.
 */
export const taskIn = (spec: Pick<WorkerSpec, "kind" | "prompt" | "argv">): string => {
  const text = spec.kind === PROGRAM_KIND || spec.prompt === undefined ? commandLine(spec.argv) : spec.prompt;
  const line = text
    .slice(0, TASK_MAX_CHARS * 4)
    .trim()
    .replace(/\s+/g, " ");
  const points = [...line];
  return points.length > TASK_MAX_CHARS ? `${points.slice(0, TASK_MAX_CHARS - 1).join("")}…` : line;
};

/**
 * The error of a worker. The row of one that was killed between two incarnations has the error of the last one, but the
 * kill ended it.
 */
export const errorOf = (row: WorkerRow): WorkerError | null =>
  row.state === "cancelled" && row.error?.code !== "WORKER_CANCELLED"
    ? {
        code: "WORKER_CANCELLED",
        message: `Killed before its next start${row.reason === "killed" ? "" : `: ${row.reason}`}.`,
      }
    : row.error;

/** The refused calls; absent if there were none. */
export const deniedOf = ({ denied }: WorkerRow): Pick<WorkerView, "denied"> =>
  denied.length === 0 ? {} : { denied };

export const viewOf = (row: WorkerRow, heartbeat_at: string | null): WorkerView => ({
  id: row.id,
  name: row.name,
  kind: row.kind,
  task: taskOf(row),
  status: statusOf(row.state),
  state: row.state,
  reason: row.reason,
  incarnation: row.incarnation,
  restarts: row.restarts,
  pid: row.pid,
  pgid: row.pgid,
  backend_kind: row.backend_kind,
  supervisor: row.supervisor,
  parent: row.parent,
  session_id: row.session_id,
  labels: row.spec.labels,
  created_at: row.created_at,
  started_at: row.started_at,
  ended_at: row.ended_at,
  heartbeat_at,
  ...(row.archived ? { archived: true } : {}),
  exit_code: row.exit_code,
  signal: row.signal,
  error: errorOf(row),
  turns: row.turns,
  usage: row.usage,
  tool_calls: row.tool_calls,
  ...deniedOf(row),
  turn_ms: row.turn_ms,
  unpriced_turns: row.unpriced_turns,
});

export const replyOf = (row: WorkerRow, effect: SpawnReply["effect"]): SpawnReply => ({
  id: row.id,
  name: row.name,
  kind: row.kind,
  status: statusOf(row.state),
  effect,
});

export const perWorker = (row: WorkerRow, effect: PerWorker["effect"]): PerWorker => ({
  id: row.id,
  name: row.name,
  ok: true,
  effect,
  status: statusOf(row.state),
  error: null,
});

/** The result for a worker for which the call failed. */
export const nothingDone = (ref: string, { code, message, suggestion }: HoldfastError): PerWorker => ({
  id: ref,
  name: null,
  ok: false,
  effect: "noop",
  status: null,
  error: { code, message, suggestion },
});

/** How the sweep of the newest end searched; undefined for a worker that never ran, and in a log of an early version. */
export const checkedBy = (log: Pick<EventLog, "stream">, id: string): PerWorker["checked_by"] => {
  const record = log.stream(id, ["worker_exited"]).at(-1);
  return record?.type === "worker_exited" ? record.payload.sweep?.checked_by : undefined;
};

/** The findings in the worker's run directories; absent if there are none. */
export const runFindingsOf = (
  log: Pick<EventLog, "stream">,
  id: string,
): Pick<WorkerInfo, "run_findings"> => {
  const found = log
    .stream(id, ["worker_run_finding"])
    .slice(-RUN_FINDINGS_SHOWN_MAX)
    .flatMap((record) =>
      record.type === "worker_run_finding"
        ? [{ incarnation: record.incarnation ?? 0, ...record.payload }]
        : [],
    );
  return found.length === 0 ? {} : { run_findings: found };
};

/** A supervisor of a file in an answer per worker: its path is its id. */
export const ofSupervisor = (
  path: string,
  effect: PerWorker["effect"],
  status: PerWorker["status"],
): PerWorker => ({ id: path, name: path, ok: true, effect, status, error: null });

export interface WindowView {
  readonly used: number;
  readonly max: number;
  readonly period_ms: number;
}

export const supervisorWindow = ({ restarts, config }: SupervisorState, nowMs: number): WindowView => ({
  used: decayedWindow(restarts, nowMs, config).length,
  max: config.max_restarts,
  period_ms: config.period_ms,
});

export const windowOf = (row: WorkerRow, restarts: readonly number[], nowMs: number): WindowView => ({
  used: inWindow(restarts, nowMs, row.spec.restart_period_ms).length,
  max: row.spec.max_restarts,
  period_ms: row.spec.restart_period_ms,
});

const spending = (budget: BudgetView | undefined): Pick<TreeSupervisor, "budget" | "question"> => {
  if (budget === undefined) return {};
  const { question_id } = budget;
  return { budget, ...(question_id === undefined ? {} : { question: { question_id, about: "budget" } }) };
};

/** A row with the facts that only the live daemon knows. */
type LiveRow = WorkerRow & Pick<WorkerView, "paused" | "question">;

/** The same tree, with the id of the fiber of each worker and supervisor that has one. */
export const withFibers = (fibers: FiberView, root: TreeSupervisor): TreeSupervisor => {
  const ids = new Map<string, number>();
  const collect = ({ name, fiber, children }: FiberView): void => {
    ids.set(name, fiber);
    children.forEach(collect);
  };
  const fiberOf = (id: string): { readonly fiber?: number } => {
    const fiber = ids.get(id);
    return fiber === undefined ? {} : { fiber };
  };
  const worker = (node: TreeWorker): TreeWorker => ({
    ...node,
    ...fiberOf(node.id),
    children: node.children.map(worker),
  });
  const supervisor = (node: TreeSupervisor): TreeSupervisor => ({
    ...node,
    ...fiberOf(node.id),
    children: node.children.map((child) => (child.type === "worker" ? worker(child) : supervisor(child))),
  });
  collect(fibers);
  return supervisor(root);
};

/** The root supervisor with its trees and workers. Workers that an agent spawned are below the agent's worker. */
export const treeOf = (
  rows: readonly LiveRow[],
  trees: readonly TreeState[],
  windows: (row: WorkerRow) => WindowView,
  budgetOf: (path: string) => BudgetView | undefined,
  nowMs: number,
): TreeSupervisor => {
  const known = new Map(rows.map((row) => [row.id, row]));
  const rest = rows.filter((row) => row.supervisor === "root");
  const below = Map.groupBy(rest, (row) => (row.parent !== null && known.has(row.parent) ? row.parent : ""));
  const worker = (row: LiveRow, inTree?: { readonly name: string | null }): TreeWorker => ({
    id: row.id,
    name: (inTree ?? row).name,
    type: "worker",
    kind: row.kind,
    task: taskOf(row),
    status: statusOf(row.state),
    state: row.state,
    reason: row.reason,
    pid: row.pid,
    backend_kind: row.backend_kind,
    incarnation: row.incarnation,
    restarts: row.restarts,
    ...(row.paused === undefined ? {} : { paused: row.paused }),
    ...(row.question === undefined ? {} : { question: row.question }),
    ...(inTree === undefined ? { window: windows(row) } : { tombstone: row.tombstone }),
    children: (below.get(row.id) ?? []).map((one) => worker(one)),
  });
  const supervisor = (tree: TreeState, state: SupervisorState): TreeSupervisor => ({
    id: state.path,
    name: state.path.split("/").at(-1) as string,
    type: "supervisor",
    strategy: state.config.strategy,
    phase: state.phase,
    reason: state.reason,
    tombstone: state.tombstone,
    ...(state.parent === null ? { file: tree.file } : {}),
    ...(state.operation === null ? {} : { scope: state.operation.scope }),
    window: supervisorWindow(state, nowMs),
    ...spending(budgetOf(state.path)),
    children: state.children.flatMap((ref): readonly TreeNode[] => {
      if (ref.worker_id === null) return [supervisor(tree, supervisorOf(tree, ref.path))];
      const row = known.get(ref.worker_id);
      // A worker of the file is named by its place in the file; one of a dynamic supervisor by the name it was spawned
      // with, or has none.
      const { name } = state.config.strategy === "dynamic" ? (row ?? ref) : ref;
      return row === undefined ? [] : [worker(row, { name })];
    }),
  });
  return {
    id: "root",
    name: "root",
    type: "supervisor",
    strategy: "one_for_one",
    children: [
      ...trees.map((tree) => supervisor(tree, topOf(tree))),
      ...(below.get("") ?? []).map((one) => worker(one)),
    ],
  };
};
