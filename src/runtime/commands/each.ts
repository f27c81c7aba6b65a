/** One command for many references: each has its own answer, and the failure of one is no other's. */
import { Effect } from "effect";
import type { HoldfastError } from "../../protocol/errors.ts";
import type { WorkerRow } from "../../store/port.ts";
import type { Core } from "../core.ts";
import { nothingDone } from "../reading/views.ts";
import type { PerWorker } from "../replies.ts";
import { type Forest, findSupervisor, type Place } from "../trees/forest.ts";

/** `ofTree` is for supervisors; without it only workers are found. */
export type Each = (
  refs: readonly string[],
  one: (row: WorkerRow) => Effect.Effect<PerWorker, HoldfastError>,
  ofTree?: (place: Place) => Effect.Effect<PerWorker, HoldfastError>,
) => Effect.Effect<readonly PerWorker[]>;

export const makeEach =
  ({ find }: Pick<Core, "find">, forest: Forest): Each =>
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
      { concurrency: "unbounded" },
    );
  };
