/** What was used, asked of the log: by what it is told apart, since when, and of whom. */
import { Effect } from "effect";
import { addUsage } from "../adapters/usage.ts";
import type { HoldfastError } from "../protocol/errors.ts";
import { SUBTREE_SUMMED_MAX_WORKERS } from "../protocol/limits.ts";
import type { EventLog, WorkerRow } from "../store/port.ts";
import type { UsageBy } from "../store/usage.ts";
import { attempt, attemptAsync } from "./attempt.ts";
import type { Core } from "./core.ts";
import { withDescendants, workersBelowPath } from "./descendants.ts";
import type { UsageAsked } from "./facade.ts";
import type { Forest } from "./forest.ts";
import type { SubtreeUsage, UsageReply } from "./replies.ts";

const LABEL = "label:";
const byOf = (by: string): UsageBy =>
  by.startsWith(LABEL) ? { label: by.slice(LABEL.length) } : (by as Exclude<UsageBy, object>);

export const makeUsage =
  (core: Core, forest: Pick<Forest, "treeOf">) =>
  ({ ids, by, since_ms, subtree }: UsageAsked): Effect.Effect<UsageReply, HoldfastError> =>
    Effect.gen(function* () {
      const { log } = core.services;
      const named = yield* Effect.forEach(ids, (ref) => {
        const tree = forest.treeOf(ref)?.state();
        // A supervisor is all that stands below it.
        return tree?.supervisors.has(ref) === true
          ? attempt(() => withDescendants(log, workersBelowPath(log, tree.name, ref)))
          : Effect.map(core.find(ref), ({ id }) => [id]);
      });
      const asked = [...new Set(named.flat())];
      const worker_ids = subtree ? yield* attempt(() => withDescendants(log, asked)) : asked;
      const since = since_ms === undefined ? undefined : new Date(core.wallMs() - since_ms).toISOString();
      const of = ids.length === 0 ? {} : { worker_ids };
      const report = yield* attemptAsync(() => log.usageAside({ by: byOf(by), since, ...of }));
      return { ...report, by, since: since ?? null };
    });

const sumOf = (rows: readonly WorkerRow[]): SubtreeUsage =>
  rows
    .map(({ turns, tool_calls, turn_ms, unpriced_turns, usage }) => ({
      workers: 1,
      turns,
      tool_calls,
      turn_ms,
      unpriced_turns,
      usage,
    }))
    .reduce((a, b) => ({
      workers: a.workers + b.workers,
      turns: a.turns + b.turns,
      tool_calls: a.tool_calls + b.tool_calls,
      turn_ms: a.turn_ms + b.turn_ms,
      unpriced_turns: a.unpriced_turns + b.unpriced_turns,
      usage: addUsage(a.usage, b.usage),
    }));

/** Of a worker and all below it, for `info`: in one turn of the event loop, so bounded. */
export const subtreeUsage = (log: EventLog, row: WorkerRow): { readonly subtree?: SubtreeUsage | null } => {
  const found = new Set([row.id]);
  for (const id of found) {
    for (const below of log.spawnedBy(id)) found.add(below);
    if (found.size > SUBTREE_SUMMED_MAX_WORKERS) return { subtree: null };
  }
  return found.size === 1 ? {} : { subtree: sumOf([...found].flatMap((id) => log.worker(id) ?? [])) };
};
