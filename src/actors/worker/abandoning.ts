/** The last resort for a worker whose supervision has failed: nothing is decoded and no restart policy applies. */
import { Effect, Option } from "effect";
import type { Run } from "../../adapters/spawner.ts";
import { KILL_REPEAT_MS } from "../../base/limits.ts";
import type { RunExit } from "../../protocol/incarnation.ts";
import { UNKNOWN_EXIT } from "../../protocol/incarnation.ts";
import type { SweepReport } from "../../protocol/records.ts";
import { ABANDONED } from "../../supervisor/child/exits.ts";
import { discard } from "./launching.ts";
import { durationOf } from "./limiting.ts";
import type { LiveWorker } from "./worker.ts";

export const abandon = (worker: LiveWorker, defect: unknown): Effect.Effect<void> =>
  Effect.gen(function* () {
    const { services, incarnation, id } = worker;
    services.defects.tell(`worker ${id} is abandoned: its supervision failed`, worker.masked(defect));
    const duration_ms = durationOf(worker);
    worker.detach();
    if (worker.starting !== undefined) discard(services, worker.starting);
    let exit = incarnation?.exit;
    let sweep: SweepReport | undefined;
    if (incarnation !== undefined) {
      const { run } = incarnation;
      yield* worker.call("the kill", () => run.kill(), undefined);
      exit ??= yield* exitInTime(run);
      sweep = yield* worker.call("the sweep", async () => run.posix?.sweep(), undefined);
      run.dispose();
    }
    const told = {
      exit: exit ?? UNKNOWN_EXIT,
      error: ABANDONED,
      ...(sweep === undefined ? {} : { sweep }),
    };
    yield* worker.journal.fact({ type: "abandoned", ...told, duration_ms }, [], worker.forgetCheckpoints());
  });

const exitInTime = (run: Run): Effect.Effect<RunExit | undefined> =>
  Effect.map(
    Effect.timeoutOption(
      Effect.promise(() => run.exited),
      KILL_REPEAT_MS,
    ),
    Option.getOrUndefined,
  );
