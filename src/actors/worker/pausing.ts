/** Carries out a pause: after it is on record, and again in a daemon that finds it on record. */
import { Effect } from "effect";
import { crashPoint } from "../../base/crash-point.ts";
import { isPaused } from "../../supervisor/holds/pause.ts";
import { timeoutOf } from "./limiting.ts";
import type { LiveWorker } from "./worker.ts";

/**
 * Stops or continues the processes as the records say now: a newer record may have replaced the one that asked for
 * this.
 */
export const applyPause = (worker: LiveWorker): Effect.Effect<void> =>
  Effect.gen(function* () {
    const { incarnation, journal, services, id } = worker;
    if (incarnation === undefined) return;
    const { run } = incarnation;
    if (isPaused(journal.child())) {
      crashPoint("pause-before-signal");
      yield* worker.call("SIGSTOP", async () => run.pause?.(), undefined);
      if (isPaused(journal.child()) && run.process() === "running")
        services.report(`worker ${id} is paused, but its agent could not be stopped`);
      return;
    }
    worker.activityClock.rebase(journal.now());
    worker.tell({ type: "TIME_LEFT", timeout_ms: timeoutOf(worker) });
    crashPoint("unpause-before-signal");
    yield* worker.call("SIGCONT", async () => run.unpause?.(), undefined);
  });
