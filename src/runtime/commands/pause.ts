/** Pauses and unpauses workers: one by name, or every running one below a supervisor. */
import { Effect } from "effect";
import { canPause } from "../../actors/runtimes.ts";
import type { Worker } from "../../actors/worker/worker.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { isEnded } from "../../protocol/worker.ts";
import type { WorkerRow } from "../../store/views.ts";
import { isPaused, type PauseInput } from "../../supervisor/holds/pause.ts";
import { workersBelow } from "../../supervisor/tree/state.ts";
import type { PerWorker, RuntimeApi } from "../api.ts";
import { asker } from "../authority/asker.ts";
import type { Core } from "../core.ts";
import { ofSupervisor, perWorker } from "../reading/views.ts";
import type { SupervisorPlace } from "../trees/forest.ts";
import type { ForEachRef } from "./each.ts";

export const makePausing = (
  { rowOf, authority, services, roster: { live } }: Core,
  each: ForEachRef,
): Pick<RuntimeApi, "pause" | "unpause"> => {
  /** True if the input changed anything. */
  const told = (worker: Worker, input: PauseInput): Effect.Effect<boolean, HoldfastError> =>
    Effect.suspend(() => {
      const before = worker.child().holds;
      return Effect.map(worker.input(input), () => worker.child().holds !== before);
    });

  const inputOf = ({ pid }: WorkerRow, how: Parameters<RuntimeApi["pause"]>[1], by: string): PauseInput => ({
    type: "pause",
    by,
    reason: "operator",
    detail: how?.reason ?? "",
    pids: pid === null ? [] : [pid],
  });

  const below = (
    { tree, supervisor }: SupervisorPlace,
    inputFor: (row: WorkerRow) => PauseInput,
  ): Effect.Effect<PerWorker, HoldfastError> =>
    Effect.gen(function* () {
      const workers = workersBelow(tree.state(), supervisor)
        .flatMap(({ child }) => live.get(child.worker_id) ?? [])
        .filter((worker) => canPause(services, worker.spec));
      const changed = yield* Effect.forEach(workers, (worker) =>
        Effect.flatMap(rowOf(worker.id), (row) => told(worker, inputFor(row))),
      );
      return ofSupervisor(supervisor, changed.includes(true) ? "updated" : "noop", "running");
    });

  return {
    pause: (ids, how) =>
      each(
        ids,
        (row) =>
          Effect.gen(function* () {
            const by = yield* asker(authority.permit, how ?? {}, "pause", row);
            const worker = live.get(row.id);
            if (worker === undefined || !worker.child().open || worker.child().stop !== null)
              return yield* Effect.fail(nothingToPause(row));
            if (!canPause(services, worker.spec)) return yield* Effect.fail(unpausable(row));
            const changed = yield* told(worker, inputOf(row, how, by));
            // It has ended or is being stopped since.
            if (!isPaused(worker.child())) return yield* Effect.fail(nothingToPause(yield* rowOf(row.id)));
            return perWorker(yield* rowOf(row.id), changed ? "updated" : "noop");
          }),
        (place) =>
          Effect.flatMap(asker(authority.permitOn, how ?? {}, "pause", place.supervisor), (by) =>
            below(place, (row) => inputOf(row, how, by)),
          ),
      ),
    unpause: (ids, how = {}) =>
      each(
        ids,
        (row) =>
          Effect.gen(function* () {
            const by = yield* asker(authority.permit, how, "unpause", row);
            const worker = live.get(row.id);
            const changed = worker !== undefined && (yield* told(worker, { type: "unpause", by }));
            return perWorker(yield* rowOf(row.id), changed ? "updated" : "noop");
          }),
        (place) =>
          Effect.flatMap(asker(authority.permitOn, how, "unpause", place.supervisor), (by) =>
            below(place, () => ({ type: "unpause", by })),
          ),
      ),
  };
};

const unpausable = ({ id, spec }: WorkerRow): HoldfastError =>
  new HoldfastError("INVALID_REQUEST", `The runtime ${spec.runtime} of worker ${id} cannot pause a run.`, {
    suggestion: "`agent kill` ends it; a worker of the runtime process can be paused.",
  });

const nothingToPause = ({ id, state }: WorkerRow): HoldfastError =>
  new HoldfastError(
    "INVALID_STATE",
    isEnded(state)
      ? `Worker ${id} has ended; there is nothing to pause.`
      : `Worker ${id} is ${state.replaceAll("_", " ")}: no agent of it runs that could be paused.`,
    {
      suggestion: isEnded(state)
        ? "`agent restart` starts it again."
        : "See what it does with `agent info`; `agent kill` keeps it from being started.",
    },
  );
