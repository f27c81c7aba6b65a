/** Workers and trees as the daemon tells them, for the frames and keys of `agent top`. */
import { EMPTY, type TopState, viewed } from "../../../src/cli/top/state.ts";
import type { TreeNode, TreeSupervisor, TreeWorker, WorkerView } from "../../../src/runtime/replies.ts";

export const NOW = Date.UTC(2026, 10, 20, 12);

interface Given extends Omit<Partial<WorkerView>, "usage"> {
  readonly usage?: Partial<WorkerView["usage"]>;
}

export const workerView = (id: string, { usage, ...given }: Given): WorkerView => ({
  id,
  name: null,
  kind: "command",
  task: "sleep 1",
  status: given.state === "backing_off" ? "pending" : "running",
  state: "running",
  reason: "the agent runs",
  incarnation: 1,
  restarts: 0,
  pid: 1,
  pgid: 1,
  backend_kind: "subprocess",
  supervisor: "root",
  parent: null,
  session_id: null,
  labels: {},
  created_at: new Date(NOW - 60_000).toISOString(),
  started_at: new Date(NOW - 60_000).toISOString(),
  ended_at: null,
  heartbeat_at: null,
  exit_code: null,
  signal: null,
  error: null,
  turns: 0,
  usage: {
    input_tokens: 0,
    output_tokens: 0,
    cached_tokens: 0,
    cache_write_tokens: 0,
    reasoning_tokens: 0,
    cost_usd: null,
    estimated_cost_usd: null,
    ...usage,
  } as WorkerView["usage"],
  tool_calls: 0,
  denied: [],
  turn_ms: 0,
  unpriced_turns: 0,
  ...given,
});

export const workerNode = (worker: WorkerView): TreeWorker => ({
  id: worker.id,
  name: worker.name,
  type: "worker",
  kind: worker.kind,
  task: worker.task,
  status: worker.status,
  state: worker.state,
  reason: worker.reason,
  pid: worker.pid,
  backend_kind: worker.backend_kind,
  incarnation: worker.incarnation,
  restarts: worker.restarts,
  children: [],
});

export const supervisorNode = (
  id: string,
  children: TreeNode[],
  more: Partial<TreeSupervisor> = {},
): TreeSupervisor => ({
  id,
  name: id,
  type: "supervisor",
  strategy: "one_for_one",
  children,
  ...more,
});

export const stateOf = (
  root: TreeSupervisor,
  workers: readonly WorkerView[],
  more: Partial<TopState> = {},
): TopState => {
  const { selected = undefined, ...rest } = more;
  return { ...viewed({ ...EMPTY, selected }, { root, workers }, new Map()), ...rest };
};
