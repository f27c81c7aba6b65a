/** One page of a fleet. It is told by ids alone, so that workers may start and end between two pages and none is shown twice. */
import type { WorkerView } from "../runtime/api.ts";
import type { Replies } from "./replies.ts";

export const pageOf = (
  workers: readonly WorkerView[],
  limit: number = workers.length,
  after = "",
): Replies["agent/list"] => {
  const sorted = [...workers].sort((a, b) => (a.id < b.id ? -1 : 1));
  const rest = sorted.filter(({ id }) => id > after);
  const page = rest.slice(0, limit);
  const more = rest.length > page.length;
  return { workers: page, total: workers.length, ...(more && { cursor: page.at(-1)!.id }) };
};
