/** A conversation that nobody talks to rests: its agent is ended in order, its session is kept, and the next message wakes it. */
import { crashPoint } from "../../base/crash-point.ts";
import { isPassivated } from "../../supervisor/child/session-decisions.ts";
import { isPaused } from "../../supervisor/holds/pause.ts";
import type { Shell } from "./worker.ts";

/** It has waited for a message for as long as its spec says. */
export const isRestDue = ({ spec, mail, approvals, journal }: Shell, now: number): boolean => {
  const since = spec.passivate_ms === 0 ? undefined : mail?.waitsSince();
  if (since === undefined || now - since < spec.passivate_ms) return false;
  // Something of it in the background waits for a person.
  if ((approvals?.waiting() ?? 0) > 0) return false;
  const child = journal.child();
  return child.stop === null && !isPaused(child);
};

/** The next tick finds again what the store refuses. */
export const passivate = async ({ journal, spec }: Shell): Promise<void> => {
  await journal.input({ type: "passivate", grace_ms: spec.grace_ms }).catch(() => undefined);
};

/** In place of the first signal: it ends by itself once it has read the end of its input. KILL follows after its grace. */
export const endInput = async (shell: Shell): Promise<void> => {
  const { run } = shell;
  if (run === undefined || run.isStdinClosed()) return;
  crashPoint("passivate-before-end");
  void shell.call("ending its input", () => run.closeStdin(), undefined);
};

/** It waits without a process, and so without a slot; a message may have come while it was being stopped, or no daemon ran. */
export const restOrWake = async ({ journal, bridge, id }: Shell): Promise<void> => {
  bridge.rested(id);
  if (!isPassivated(journal.child())) return;
  const open = await journal.ask((log) => log.openMessages(id));
  if (open.length > 0) await journal.fact({ type: "wake" });
};
