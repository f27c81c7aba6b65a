/**
 * Explains the state of a worker or a supervisor: the decisions about it in order, from records alone. They include the
 * decisions of the supervisors above it, which cause the restart of a whole group.
 */
import { WHY_RECORDS_MAX } from "../../base/limits.ts";
import type { LogRecord, RecordType } from "../../protocol/records.ts";
import type { EventLog } from "../../store/event-log.ts";
import { type SupervisorState, type TreeState, workersBelow } from "../../supervisor/tree/state.ts";

/** Records of a worker that tell decisions and their causes. */
const OF_A_WORKER: readonly RecordType[] = [
  "worker_spawn_requested",
  "worker_spec_changed",
  "worker_queued",
  "worker_state_changed",
  "worker_workspace_assigned",
  "worker_ready",
  "worker_paused",
  "worker_unpaused",
  "worker_question",
  "worker_answered",
  "worker_question_withdrawn",
  "approval_requested",
  "approval_answered",
  "approval_withdrawn",
  "worker_adopted",
  "worker_run_finding",
  "worker_cancel_requested",
  "worker_signal_sent",
  "worker_limit_reached",
  "session_conflict",
  "session_abandoned",
  "worker_exited",
  "worker_completed",
  "worker_failed",
  "worker_cancelled",
  "worker_restart_scheduled",
  "supervisor_escalated",
  "worker_ended",
];
/** Records of a supervisor's children: pauses and ends. */
const OF_ITS_CHILDREN: readonly RecordType[] = [
  "worker_paused",
  "worker_unpaused",
  "worker_exited",
  "worker_restart_scheduled",
  "worker_ended",
];
const OF_A_TREE: readonly RecordType[] = [
  "tree_applied",
  "supervisor_state_changed",
  "supervisor_restart_scheduled",
  "supervisor_escalated",
  "supervisor_asked",
  "worker_question",
  "worker_answered",
  "worker_question_withdrawn",
];

export interface Decisions {
  readonly records: readonly LogRecord[];
  /** The number of older records that are not shown. */
  readonly omitted: number;
}

export const whyWorker = (
  log: EventLog,
  id: string,
  supervisor: string,
  tree: TreeState | undefined,
): Decisions =>
  newest([
    ...log.stream(id, OF_A_WORKER),
    ...(tree === undefined ? [] : ofSupervisors(log, tree, above(tree, supervisor))),
  ]);

export const whySupervisor = (log: EventLog, tree: TreeState, path: string): Decisions => {
  const children = workersBelow(tree, path).filter((member) => member.supervisor === path);
  return newest([
    ...children.flatMap(({ child }) => log.stream(child.worker_id, OF_ITS_CHILDREN)),
    ...ofSupervisors(log, tree, above(tree, path)),
  ]);
};

/**
 * Names of the workers directly below a supervisor, by id: their paths, or the spawned names under a dynamic supervisor.
 */
export const namesBelow = ({ config, children }: SupervisorState): Readonly<Record<string, string>> =>
  Object.fromEntries(
    children.flatMap(({ worker_id, name, path }) =>
      worker_id === null ? [] : [[worker_id, config.strategy === "dynamic" ? name : path]],
    ),
  );

/** The supervisor and its ancestors, up to the top of the file. */
const above = (tree: TreeState, path: string): ReadonlySet<string> => {
  const found = new Set<string>();
  for (let at: string | null = path; at !== null; at = tree.supervisors.get(at)?.parent ?? null)
    found.add(at);
  return found;
};

const ofSupervisors = (log: EventLog, tree: TreeState, paths: ReadonlySet<string>): readonly LogRecord[] => {
  const records = log.treeStream(tree.name, OF_A_TREE);
  const asked = new Set(
    records.flatMap(({ type, payload }) =>
      type === "worker_question" && payload.about === "budget" && paths.has(payload.owner)
        ? [payload.question_id]
        : [],
    ),
  );
  return records.filter(({ type, payload }) => {
    if (type === "tree_applied") return true;
    if ("question_id" in payload) return asked.has(payload.question_id ?? "");
    return "supervisor" in payload && paths.has(payload.supervisor);
  });
};

const newest = (records: readonly LogRecord[]): Decisions => {
  const sorted = [...records].sort((a, b) => a.seq - b.seq);
  return { records: sorted.slice(-WHY_RECORDS_MAX), omitted: Math.max(0, sorted.length - WHY_RECORDS_MAX) };
};
