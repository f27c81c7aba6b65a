/** Selects the workers for a list. Pure. */
import type { RestartPolicy, WorkerStatus } from "../protocol/worker.ts";
import { statusOf } from "../protocol/worker-status.ts";
import type { WorkerRow } from "../store/views.ts";

/** A worker is listed if it matches every field. An empty list matches all. */
export interface WorkerFilter {
  /** It has each of these labels with the given value. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly statuses?: readonly WorkerStatus[] | undefined;
  readonly kinds?: readonly string[] | undefined;
  /** It was requested at this time or later, in milliseconds since 1970. */
  readonly created_from_ms?: number | undefined;
  readonly restart?: RestartPolicy | undefined;
  /** Only archived workers. Default: none of them. */
  readonly archived?: boolean | undefined;
}

/** True if only ended workers can match. */
export const asksForEnded = ({ statuses = [], archived = false }: WorkerFilter): boolean =>
  archived ||
  statuses.some((status) => status === "completed" || status === "failed" || status === "cancelled");

const isIn = (value: string, list: readonly string[] = []): boolean =>
  list.length === 0 || list.includes(value);

export const isSelected = (row: WorkerRow, filter: WorkerFilter): boolean => {
  const { labels = {}, statuses, kinds, created_from_ms = 0, restart, archived = false } = filter;
  return (
    row.archived === archived &&
    isIn(row.kind, kinds) &&
    isIn(statusOf(row.state), statuses) &&
    (restart === undefined || row.spec.restart === restart) &&
    Object.entries(labels).every(([key, value]) => row.spec.labels[key] === value) &&
    Date.parse(row.created_at) >= created_from_ms
  );
};
