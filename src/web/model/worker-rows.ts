/** The workers as the rows of a table: filtered and sorted. Pure. */
import type { WorkerView } from "../../protocol/replies/workers.ts";
import { isShown, type RowFilter } from "./tree-rows.ts";

export const dollarsOf = ({ cost_usd, estimated_usd }: WorkerView["usage"]): number =>
  (cost_usd ?? 0) + (estimated_usd ?? 0);
export const tokensOf = ({ input_tokens, output_tokens }: WorkerView["usage"]): number =>
  input_tokens + output_tokens;

/** A column by which the table sorts, and the value in it. */
const COLUMNS = {
  name: (worker: WorkerView) => (worker.name ?? worker.id).toLowerCase(),
  kind: (worker: WorkerView) => worker.kind,
  state: (worker: WorkerView) => worker.state,
  restarts: (worker: WorkerView) => worker.restarts,
  turns: (worker: WorkerView) => worker.turns,
  tokens: (worker: WorkerView) => tokensOf(worker.usage),
  cost: (worker: WorkerView) => dollarsOf(worker.usage),
  since: (worker: WorkerView) => worker.created_at,
} as const;
export type ColumnName = keyof typeof COLUMNS;

const isColumn = (text: string): text is ColumnName => Object.hasOwn(COLUMNS, text);

/** `sort`: a column, with a minus the other way round. An unknown one sorts by the newest. */
export const workerRows = (
  workers: readonly WorkerView[],
  filter: RowFilter,
  sort = "-since",
): readonly WorkerView[] => {
  const name = sort.replace(/^-/, "");
  const read = COLUMNS[isColumn(name) ? name : "since"];
  const sign = sort.startsWith("-") ? -1 : 1;
  const compare = (a: string | number, b: string | number): number => (a < b ? -1 : a > b ? 1 : 0);
  return workers
    .filter((worker) => isShown(worker, filter))
    .map((worker) => ({ worker, value: read(worker) }))
    .sort((a, b) => sign * compare(a.value, b.value) || compare(a.worker.id, b.worker.id))
    .map(({ worker }) => worker);
};
