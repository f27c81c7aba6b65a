/**
 * An agent whose work is done and that runs on: one that has answered its only prompt while something of it works in the
 * background, and one that does not see that its input was ended.
 */

import type { Run } from "../../adapters/spawner.ts";
import { BACKGROUND_WAIT_MAX_MS, EXIT_AFTER_END_MS } from "../../base/limits.ts";
import { isPaused } from "../../supervisor/holds/pause.ts";
import type { Alarm } from "../machine/alarms.ts";
import type { Speaker } from "./speaker.ts";

/** The run that an alarm was armed for is there and nobody has stopped it. */
const isWanted = (worker: Speaker, run: Run): boolean =>
  worker.incarnation?.run === run &&
  worker.incarnation.exit === undefined &&
  // Somebody ends it already, and has said how long it may take.
  worker.child().stop === null;

/**
 * An agent whose input was ended has nothing more to do, and some do not see it: those with a server of their own beside
 * them, and bridges that never look (agent-clis.md §9). Such a one is ended, and comes to what its last turn came to.
 * `isBusy`: it is still in a turn. No stop is recorded, since nobody wanted one: a daemon that takes over begins anew.
 */
export const endLingering = (worker: Speaker, run: Run, isBusy: () => boolean): void => {
  worker.bridge.alarms.after(EXIT_AFTER_END_MS, () => {
    if (!isWanted(worker, run)) return;
    if (isBusy() || isPaused(worker.child())) endLingering(worker, run, isBusy);
    else worker.tell({ type: "STOP", grace_ms: worker.spec.grace_ms, signal: "SIGTERM" });
  });
};

/**
 * Its only prompt is answered, and its decoder has not ended its input: something that it began runs on, may ask for
 * permission, and begins another turn when it is done. If that never comes, `end` is called; not while a person is asked.
 */
export const awaitBackground = (worker: Speaker, run: Run, end: () => void): Alarm =>
  worker.bridge.alarms.after(BACKGROUND_WAIT_MAX_MS, () => {
    if (isWanted(worker, run) && !run.isStdinClosed()) end();
  });
