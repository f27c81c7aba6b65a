/** The workers that a list is asked for. Pure. */
import type { RestartPolicy, WorkerStatus } from "../protocol/worker.ts";
import { statusOf } from "../protocol/worker-status.ts";
import type { WorkerRow } from "../store/views.ts";

/** A worker is listed if it agrees with each of these; an empty list asks for nothing. */
export interface WorkerFilter {
  /** It has each of these labels with this value. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly statuses?: readonly WorkerStatus[] | undefined;
  readonly kinds?: readonly string[] | undefined;
  /** It was asked for at this time or later: milliseconds since 1970. */
  readonly created_from_ms?: number | undefined;
  readonly restart?: RestartPolicy | undefined;
}

/** Which it can only be answered with ended workers. */
export const asksForEnded = ({ statuses = [] }: WorkerFilter): boolean =>
  statuses.some((status) => status === "completed" || status === "failed" || status === "cancelled");

const isIn = (value: string, list: readonly string[] = []): boolean =>
  list.length === 0 || list.includes(value);

export const isSelected = (row: WorkerRow, filter: WorkerFilter): boolean => {
  const { labels = {}, statuses, kinds, created_from_ms = 0, restart } = filter;
  return (
    isIn(row.kind, kinds) &&
    isIn(statusOf(row.state), statuses) &&
    (restart === undefined || row.spec.restart === restart) &&
    Object.entries(labels).every(([key, value]) => row.spec.labels[key] === value) &&
    Date.parse(row.created_at) >= created_from_ms
  );
};
