/**
 * Runs that nobody knows (architecture §5): processes with the marker of this store whose worker has no record, or whose
 * incarnation is over. They are what a failed sweep left, a daemon that died in the middle of one, or a log that was taken
 * back to an older copy. Looked for at boot and on a period; what two looks in a row find is recorded, then ended.
 */
import { Effect } from "effect";
import { containing } from "../../actors/defects.ts";
import { attempt, attemptAsync } from "../../actors/machine/attempt.ts";
import type { LivingRun } from "../../adapters/spawner.ts";
import { ORPHAN_CONFIRM_MS, ORPHAN_PERIOD_MS } from "../../base/limits.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import { DAEMON_STREAM } from "../../protocol/records.ts";
import { isEnded, type WorkerState } from "../../protocol/worker.ts";
import type { WorkerRow } from "../../store/views.ts";
import type { Core } from "../core.ts";

export type OrphanReason = "no_record" | "ended";

/**
 * Why nobody knows a run; undefined for one that is supervised, or about to be. The record of an incarnation is written
 * before its process is made, and its end after its processes are gone: what lives between the two is in its rightful state.
 */
export const orphanedBy = (
  { incarnation }: Pick<LivingRun, "incarnation">,
  row: Pick<WorkerRow, "incarnation" | "state"> | undefined,
): OrphanReason | undefined => {
  if (row === undefined) return "no_record";
  if (incarnation > row.incarnation) return "no_record";
  return incarnation < row.incarnation || isBetween(row.state) ? "ended" : undefined;
};

/** Its newest incarnation is over, and the next one, if there is one, has not begun. */
const isBetween = (state: WorkerState): boolean =>
  isEnded(state) || state === "backing_off" || state === "waiting" || state === "pending";

const keyOf = ({ worker_id, incarnation }: LivingRun): string => `${worker_id}/${incarnation}`;

/** Runs for as long as the runtime. A look that fails is told, and the next one looks again. */
export const watchOrphans = (core: Core): Effect.Effect<never> => {
  const { views, spawner, report, defects } = core.services;
  /** The processes that are still there. */
  const recorded = new Set<string>();
  const unending = new Set<string>();
  let suspects: ReadonlySet<string> = new Set();

  const endOne = (run: LivingRun, why: OrphanReason): Effect.Effect<void, HoldfastError> =>
    Effect.gen(function* () {
      const { worker_id, incarnation, pids } = run;
      const payload = { worker_id, incarnation, pids, why, clock: core.now().clock };
      if (!recorded.has(keyOf(run)))
        yield* core.commit([{ type: "run_orphaned", stream: DAEMON_STREAM, payload }], { holds: true });
      recorded.add(keyOf(run));
      const { survivors } = yield* attemptAsync(() => spawner.end(run));
      if (survivors.length === 0 || unending.has(keyOf(run))) return;
      unending.add(keyOf(run));
      report(`run ${keyOf(run)}, which no record knows, cannot be ended: pid ${survivors.join(", ")}`);
    });

  const look = Effect.gen(function* () {
    const living = yield* attemptAsync(() => spawner.living());
    const found = yield* attempt(() =>
      living.flatMap((run) => {
        // A row may have been edited: who is supervised is known without it.
        const supervised = core.roster.live.get(run.worker_id)?.child();
        const why = orphanedBy(run, supervised ?? views.worker(run.worker_id));
        return why === undefined ? [] : [{ run, why }];
      }),
    );
    const confirmed = found.filter(({ run }) => suspects.has(keyOf(run)));
    suspects = new Set(found.map(({ run }) => keyOf(run)));
    for (const known of [recorded, unending])
      for (const key of known) if (!suspects.has(key)) known.delete(key);
    yield* Effect.forEach(confirmed, ({ run, why }) => endOne(run, why), { discard: true });
  });

  const told = (error: HoldfastError) =>
    Effect.sync(() => report(`the search for runs without a record failed: ${error.message}`, error));
  const next = Effect.suspend(() => Effect.sleep(suspects.size > 0 ? ORPHAN_CONFIRM_MS : ORPHAN_PERIOD_MS));
  const contained = containing(defects, "looking for runs that nobody knows", Effect.catch(look, told));
  return Effect.forever(Effect.andThen(contained, next));
};
