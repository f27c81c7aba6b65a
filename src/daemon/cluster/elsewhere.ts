/** Placed workers that other nodes run, as the placements and the copy have them (decision 0092). */
import type { AskedElsewhere, Copies, ElsewhereRow } from "../../cluster/postgres/copies.ts";
import type { LogRecord } from "../../protocol/records.ts";
import type { ElsewherePage, ElsewhereWorker } from "../../protocol/replies/cluster.ts";
import type { RequestData } from "../../protocol/requests.ts";
import type { WorkerSpec } from "../../protocol/worker.ts";
import { taskIn } from "../../runtime/reading/views.ts";

export const elsewherePage = async (
  copies: Pick<Copies, "elsewhere">,
  self: string,
  { worker, after, all, labels, kinds, tree, limit }: RequestData<"cluster/workers">,
): Promise<ElsewherePage> => {
  const asked: AskedElsewhere = { worker, self, after, all, labels, kinds, tree, limit: limit + 1 };
  const rows = await copies.elsewhere(asked);
  const shown = rows.slice(0, limit);
  const next = rows.length > limit ? (shown.at(-1)?.name ?? null) : null;
  return { workers: shown.map(workerOf), next };
};

const workerOf = ({ worker_id, spec: text, last, ...row }: ElsewhereRow): ElsewhereWorker => {
  const spec = JSON.parse(text) as WorkerSpec;
  return {
    source: "copy",
    ...row,
    id: worker_id,
    kind: spec.kind,
    task: taskIn(spec),
    labels: spec.labels,
    cwd: spec.cwd,
    restart: spec.restart,
    last: last === null ? null : lastOf(JSON.parse(last)),
  };
};

/** By the records that change the state of a worker. */
const lastOf = (record: LogRecord): ElsewhereWorker["last"] => {
  const { seq, recorded_at: at, incarnation = 0 } = record;
  const changed = { incarnation, at, seq };
  switch (record.type) {
    case "worker_spawn_requested":
      return { state: "pending", reason: "", ...changed };
    case "worker_state_changed":
      return { state: record.payload.to, reason: record.payload.reason, ...changed };
    case "worker_restart_scheduled":
      return { state: "backing_off", reason: record.payload.reason, ...changed };
    case "worker_ended":
      return { state: record.payload.state, reason: record.payload.reason, ...changed };
    default:
      return null;
  }
};
