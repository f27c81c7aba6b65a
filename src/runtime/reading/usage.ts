/** Queries of usage: grouping, period and workers. */
import { Effect } from "effect";
import { attempt, attemptAsync } from "../../actors/machine/attempt.ts";
import { SUBTREE_SUMMED_MAX_WORKERS } from "../../base/limits.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import type { EventLog } from "../../store/event-log.ts";
import type { UsageBy, UsageScope } from "../../store/usage-report.ts";
import type { Views, WorkerRow } from "../../store/views.ts";
import type { UsageAsked } from "../api.ts";
import type { Core } from "../core.ts";
import { pathsBelow } from "../fold.ts";
import type { UsageReply, WorkerInfo } from "../replies.ts";
import type { Forest } from "../trees/forest.ts";

/** The daemon's own supervisor, above all workers there ever were. */
const ROOT = "root";
const LABEL = "label:";
const byOf = (by: string): UsageBy =>
  by.startsWith(LABEL) ? { label: by.slice(LABEL.length) } : (by as Exclude<UsageBy, object>);

/**
 * The supervisors at and below a path; undefined if it names no supervisor. An earlier tree of the same name does not
 * count.
 */
const supervisorsAt = (
  log: EventLog,
  forest: Pick<Forest, "treeOf">,
  ref: string,
): UsageScope["supervisors"] | undefined => {
  const tree = forest.treeOf(ref)?.state();
  if (tree === undefined || !tree.supervisors.has(ref)) return undefined;
  const { since, paths } = pathsBelow(log, tree.name, ref);
  return [...paths].map((path) => ({ path, since }));
};

export const makeUsage =
  (core: Core, forest: Pick<Forest, "treeOf">) =>
  ({ ids, by, since_ms, subtree }: UsageAsked): Effect.Effect<UsageReply, HoldfastError> =>
    Effect.gen(function* () {
      const { log, views } = core.services;
      const [workers, supervisors]: [string[], UsageScope["supervisors"][number][]] = [[], []];
      // A worker may have this name, too.
      const isRoot = (ref: string): boolean => ref === ROOT && views.named(ROOT).length === 0;
      const isAll = ids.length === 0 || ids.some(isRoot);
      for (const ref of ids.filter((each) => !isRoot(each))) {
        const below = yield* attempt(() => supervisorsAt(log, forest, ref));
        if (below === undefined) workers.push((yield* core.find(ref)).id);
        else supervisors.push(...below);
      }
      const since = since_ms === undefined ? undefined : new Date(core.wallMs() - since_ms).toISOString();
      const among = isAll ? {} : { among: { workers, supervisors, descendants: subtree } };
      const report = yield* attemptAsync(() => views.usageAside({ by: byOf(by), since, ...among }));
      return { ...report, by, since: since ?? null };
    });

/** The usage of a worker and everything below it, for `info`. */
export const subtreeUsage = (views: Views, { id }: WorkerRow): Pick<WorkerInfo, "subtree"> => {
  if (views.spawnedBy(id).length === 0) return {};
  return { subtree: views.subtree(id, SUBTREE_SUMMED_MAX_WORKERS) ?? null };
};
