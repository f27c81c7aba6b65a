/** Runs one command for many references. Each gets its own result, and a failure does not affect the others. */
import { Effect } from "effect";
import { REFS_AT_ONCE_MAX } from "../../base/limits.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import type { WorkerRow } from "../../store/views.ts";
import type { Core } from "../core.ts";
import { nothingDone } from "../reading/views.ts";
import type { PerWorker } from "../replies.ts";
import { type Forest, findSupervisor, type SupervisorPlace } from "../trees/forest.ts";

/** `ofTree` handles supervisors. Without it, only workers are found. */
export type ForEachRef = (
  refs: readonly string[],
  one: (row: WorkerRow) => Effect.Effect<PerWorker, HoldfastError>,
  ofTree?: (place: SupervisorPlace) => Effect.Effect<PerWorker, HoldfastError>,
) => Effect.Effect<readonly PerWorker[]>;

export const makeEach =
  ({ find }: Pick<Core, "find">, forest: Forest): ForEachRef =>
  (refs, one, ofTree) => {
    const answerTo = (ref: string): Effect.Effect<PerWorker, HoldfastError> => {
      const place = ofTree === undefined ? undefined : findSupervisor(forest, ref);
      return place === undefined || ofTree === undefined ? Effect.flatMap(find(ref), one) : ofTree(place);
    };
    return Effect.forEach(
      refs,
      (ref) =>
        Effect.catch(
          Effect.suspend(() => answerTo(ref)),
          (error) => Effect.succeed(nothingDone(ref, error)),
        ),
      { concurrency: REFS_AT_ONCE_MAX },
    );
  };
