/** A pause at an agent: carried out after it is on record, and again by a daemon that finds it there. */
import { crashPoint } from "../../base/crash-point.ts";
import { isPaused } from "../../supervisor/holds/pause.ts";
import { timeoutOf } from "./limiting.ts";
import type { Shell } from "./worker.ts";

/** Makes its processes what the records say. They may say another thing by now: the newest word counts. */
export const applyPause = async (shell: Shell): Promise<void> => {
  const { run, journal, services, id } = shell;
  if (run === undefined) return;
  if (isPaused(journal.child())) {
    crashPoint("pause-before-signal");
    await shell.call("SIGSTOP", () => run.pause(), []);
    if (isPaused(journal.child()) && run.process() === "running")
      services.report(`worker ${id} is paused, but its agent could not be stopped`);
    return;
  }
  shell.vitals.rebase(journal.now());
  shell.tell({ type: "TIME_LEFT", timeout_ms: timeoutOf(shell) });
  crashPoint("unpause-before-signal");
  await shell.call("SIGCONT", () => run.unpause(), []);
};
