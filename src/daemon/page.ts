/**
 * One page of a fleet. Pages are delimited only by ids, so that workers may start and end between two pages
 * and none is listed twice.
 */
import type { ListSort } from "../protocol/words.ts";
import type { WorkerView } from "../runtime/api.ts";
import type { Replies } from "./replies.ts";

export const pageOf = (
  workers: readonly WorkerView[],
  limit: number = workers.length,
  after = "",
): Replies["agent/list"] => {
  const sorted = [...workers].sort((a, b) => compare(a.id, b.id));
  const rest = sorted.filter(({ id }) => id > after);
  const page = rest.slice(0, limit);
  const more = rest.length > page.length;
  return { workers: page, total: workers.length, ...(more && { cursor: page.at(-1)!.id }) };
};

/** The first workers in another order. An id cannot say where such a list continues. */
export const sortedPage = (
  workers: readonly WorkerView[],
  sort: ListSort,
  limit: number = workers.length,
): Replies["agent/list"] => {
  const isDown = sort.startsWith("-");
  const key = KEYS[(isDown ? sort.slice(1) : sort) as keyof typeof KEYS];
  const sorted = workers.toSorted((a, b) => {
    const [x, y] = [key(a), key(b)];
    // A worker without the value comes last, in both directions.
    if (x === null || y === null) return (x === null ? 1 : 0) - (y === null ? 1 : 0) || compare(a.id, b.id);
    return (isDown ? compare(y, x) : compare(x, y)) || compare(a.id, b.id);
  });
  return { workers: sorted.slice(0, limit), total: workers.length };
};

const KEYS = {
  created: ({ created_at }) => created_at,
  name: ({ name }) => name,
  kind: ({ kind }) => kind,
  status: ({ status }) => status,
  restarts: ({ restarts }) => restarts,
  cost: ({ usage }) =>
    usage.cost_usd === null && usage.estimated_usd === undefined
      ? null
      : (usage.cost_usd ?? 0) + (usage.estimated_usd ?? 0),
  ended: ({ ended_at }) => ended_at,
} satisfies Record<string, (worker: WorkerView) => string | number | null>;

const compare = (a: string | number, b: string | number): number => (a < b ? -1 : a > b ? 1 : 0);
