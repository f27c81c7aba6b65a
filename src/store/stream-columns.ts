/** The column of each projection that says of which stream a row is. */
import { treeStream, workerStream } from "../protocol/records.ts";
import type { TABLES } from "./projections/projection.ts";

export const STREAM_COLUMNS: Readonly<
  Record<(typeof TABLES)[number], { readonly column: string; readonly streamOf: (key: string) => string }>
> = {
  p_workers: { column: "id", streamOf: workerStream },
  p_turns: { column: "worker_id", streamOf: workerStream },
  p_approvals: { column: "worker_id", streamOf: workerStream },
  p_messages: { column: "worker_id", streamOf: workerStream },
  p_trees: { column: "name", streamOf: treeStream },
  p_usage: { column: "worker_id", streamOf: workerStream },
  p_labels: { column: "worker_id", streamOf: workerStream },
};
