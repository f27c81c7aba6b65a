/**
 * Finds orphaned runs (architecture §5): processes with the marker of this store whose worker has no record, or whose
 * incarnation is over. They come from a failed sweep, a daemon that died during one, or a log that was replaced by an older
 * copy. The search runs at boot and on a period. A run that two searches in a row find is recorded, then ended.
 */
import { Effect } from "effect";
import { containing } from "../../actors/defects.ts";
import { attempt, attemptAsync } from "../../actors/machine/attempt.ts";
import { runtimesOf } from "../../actors/runtimes.ts";
import type { LivingRun, RuntimeSpawner } from "../../adapters/spawner.ts";
import { ORPHAN_CONFIRM_MS, ORPHAN_PERIOD_MS } from "../../base/limits.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import { DAEMON_STREAM } from "../../protocol/records.ts";
import { isEnded, type WorkerState } from "../../protocol/worker.ts";
import type { WorkerRow } from "../../store/views.ts";
import type { Core } from "../core.ts";

export type OrphanReason = "no_record" | "ended";

/**
 * Why a run is an orphan; undefined for one that is supervised or about to be. The record of an incarnation is written
 * before its process is started, and its end after its processes are gone, so a process between the two is no orphan.
 */
export const orphanedBy = (
  { incarnation }: Pick<LivingRun, "incarnation">,
  row: Pick<WorkerRow, "incarnation" | "state"> | undefined,
): OrphanReason | undefined => {
  if (row === undefined) return "no_record";
  if (incarnation > row.incarnation) return "no_record";
  return incarnation < row.incarnation || isBetween(row.state) ? "ended" : undefined;
};

/** True if the newest incarnation is over and no next one has begun. */
const isBetween = (state: WorkerState): boolean =>
  isEnded(state) || state === "backing_off" || state === "waiting" || state === "pending";

const keyOf = ({ worker_id, incarnation }: LivingRun): string => `${worker_id}/${incarnation}`;

interface Orphan {
  readonly run: LivingRun;
  readonly why: OrphanReason;
  readonly runtime: RuntimeSpawner;
}

/** Runs as long as the runtime. A failed search is reported, and the next one tries again. */
export const watchOrphans = (core: Core): Effect.Effect<never> => {
  const { views, report, defects } = core.services;
  const runtimes = runtimesOf(core.services).map(([, runtime]) => runtime);
  /** Runs whose orphaning is on record. */
  const recorded = new Set<string>();
  const unending = new Set<string>();
  let suspects: ReadonlySet<string> = new Set();

  const endOne = ({ run, why, runtime }: Orphan): Effect.Effect<void, HoldfastError> =>
    Effect.gen(function* () {
      const { worker_id, incarnation, pids } = run;
      const payload = { worker_id, incarnation, pids, why, clock: core.now().clock };
      if (!recorded.has(keyOf(run)))
        yield* core.commit([{ type: "run_orphaned", stream: DAEMON_STREAM, payload }], { holds: true });
      recorded.add(keyOf(run));
      const { survivors } = yield* attemptAsync(() => runtime.end(run));
      if (survivors.length === 0 || unending.has(keyOf(run))) return;
      unending.add(keyOf(run));
      report(`run ${keyOf(run)}, which no record knows, cannot be ended: pid ${survivors.join(", ")}`);
    });

  const look = Effect.gen(function* () {
    const living = yield* Effect.forEach(runtimes, (runtime) =>
      Effect.map(
        attemptAsync(() => runtime.living()),
        (runs) => runs.map((run) => ({ run, runtime })),
      ),
    );
    const found = yield* attempt(() =>
      living.flat().flatMap(({ run, runtime }) => {
        // Prefer the supervised state: a row in the log file may have been edited.
        const supervised = core.roster.live.get(run.worker_id)?.child();
        const why = orphanedBy(run, supervised ?? views.worker(run.worker_id));
        return why === undefined ? [] : [{ run, why, runtime }];
      }),
    );
    const confirmed = found.filter(({ run }) => suspects.has(keyOf(run)));
    suspects = new Set(found.map(({ run }) => keyOf(run)));
    for (const known of [recorded, unending])
      for (const key of known) if (!suspects.has(key)) known.delete(key);
    yield* Effect.forEach(confirmed, endOne, { discard: true });
  });

  const told = (error: HoldfastError) =>
    Effect.sync(() => report(`the search for runs without a record failed: ${error.message}`, error));
  const next = Effect.suspend(() => Effect.sleep(suspects.size > 0 ? ORPHAN_CONFIRM_MS : ORPHAN_PERIOD_MS));
  const contained = containing(defects, "looking for runs that nobody knows", Effect.catch(look, told));
  return Effect.forever(Effect.andThen(contained, next));
};
