/**
 * Ends an agent that runs on after its work is done: because something it started runs in the background after its only
 * prompt was answered, or because it does not notice that its input has ended.
 */

import type { Run } from "../../adapters/spawner.ts";
import { BACKGROUND_WAIT_MAX_MS, EXIT_AFTER_END_MS } from "../../base/limits.ts";
import { isPaused } from "../../supervisor/holds/pause.ts";
import type { Alarm } from "../machine/alarms.ts";
import type { Conversation } from "./conversation.ts";
import type { Speaker } from "./speaker.ts";

/** True if the alarm's run still runs and nobody has stopped it. */
const isWanted = (worker: Speaker, run: Run): boolean =>
  worker.incarnation?.run === run &&
  worker.incarnation.exit === undefined &&
  // A stop under way has its own grace.
  worker.child().stop === null;

/**
 * Ends an agent that does not notice the end of its input, such as one with a server of its own or a bridge that never
 * looks. Its outcome is that of its last turn. `isBusy`: it is still in a turn. No stop is recorded,
 * since nobody asked for one: a daemon that takes over starts this wait anew.
 */
export const endLingering = (worker: Speaker, run: Run, isBusy: () => boolean): void => {
  worker.shared.alarms.after(EXIT_AFTER_END_MS, () => {
    if (!isWanted(worker, run)) return;
    if (isBusy() || isPaused(worker.child())) endLingering(worker, run, isBusy);
    else worker.tell({ type: "STOP", grace_ms: worker.spec.grace_ms, signal: "SIGTERM" });
  });
};

/**
 * The agent's only prompt is answered, but the decoder has not ended its input: something that it started runs on, may
 * ask for permission, and begins another turn when done. After BACKGROUND_WAIT_MAX_MS without that, calls `end`.
 */
export const awaitBackground = (worker: Speaker, run: Conversation, end: () => void): Alarm =>
  worker.shared.alarms.after(BACKGROUND_WAIT_MAX_MS, () => {
    if (isWanted(worker, run) && !run.input.isStdinClosed()) end();
  });
