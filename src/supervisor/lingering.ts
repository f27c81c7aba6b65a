/**
 * An agent whose input was ended has nothing more to do, and some do not see it: those with a server of their own beside
 * them, and bridges that never look (agent-clis.md §9). Such a one is ended, and comes to what its last turn came to.
 */
import type { Run } from "../adapters/spawner.ts";
import { EXIT_AFTER_END_MS } from "../protocol/limits.ts";
import { isPaused } from "./pause.ts";
import type { Shell } from "./worker.ts";

/** `isBusy`: it is still in a turn. No stop is recorded, since nobody wanted one: a daemon that takes over begins anew. */
export const endLingering = (shell: Shell, run: Run, isBusy: () => boolean): void => {
  shell.bridge.alarms.after(EXIT_AFTER_END_MS, () => {
    if (shell.run !== run || shell.exit !== undefined || shell.journal.isClosed()) return;
    // Somebody ends it already, and has said how long it may take.
    if (shell.child().stop !== null) return;
    if (isBusy() || isPaused(shell.child())) endLingering(shell, run, isBusy);
    else shell.tell({ type: "STOP", grace_ms: shell.spec.grace_ms, signal: "SIGTERM" });
  });
};
