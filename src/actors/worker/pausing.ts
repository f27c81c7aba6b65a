/** A pause at an agent: carried out after it is on record, and again by a daemon that finds it there. */
import { Effect } from "effect";
import { crashPoint } from "../../base/crash-point.ts";
import { isPaused } from "../../supervisor/holds/pause.ts";
import { timeoutOf } from "./limiting.ts";
import type { Shell } from "./worker.ts";

/** Makes its processes what the records say. They may say another thing by now: the newest word counts. */
export const applyPause = (shell: Shell): Effect.Effect<void> =>
  Effect.gen(function* () {
    const { incarnation, journal, services, id } = shell;
    if (incarnation === undefined) return;
    const { run } = incarnation;
    if (isPaused(journal.child())) {
      crashPoint("pause-before-signal");
      yield* shell.call("SIGSTOP", () => run.pause(), []);
      if (isPaused(journal.child()) && run.process() === "running")
        services.report(`worker ${id} is paused, but its agent could not be stopped`);
      return;
    }
    shell.activityClock.rebase(journal.now());
    shell.tell({ type: "TIME_LEFT", timeout_ms: timeoutOf(shell) });
    crashPoint("unpause-before-signal");
    yield* shell.call("SIGCONT", () => run.unpause(), []);
  });
