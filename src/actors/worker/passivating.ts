/** Passivates an idle conversation: its agent is ended in order, its session is kept, and the next message wakes it. */
import { Effect } from "effect";
import { crashPoint } from "../../base/crash-point.ts";
import { isPassivated } from "../../supervisor/child/session-decisions.ts";
import { isPaused } from "../../supervisor/holds/pause.ts";
import type { LiveWorker } from "./worker.ts";

/** True if the agent has waited for a message as long as its spec allows. */
export const isRestDue = ({ spec, mail, approvals, journal }: LiveWorker, now: number): boolean => {
  const since = spec.passivate_ms === 0 ? undefined : mail?.waitsSince();
  if (since === undefined || now - since < spec.passivate_ms) return false;
  // A background task of the agent may wait for a person.
  if ((approvals?.waiting() ?? 0) > 0) return false;
  const child = journal.child();
  return child.stop === null && !isPaused(child);
};

/** If the store refuses, the next tick tries again. */
export const passivate = ({ journal, spec }: LiveWorker): Effect.Effect<void> =>
  Effect.ignore(journal.input({ type: "passivate", grace_ms: spec.grace_ms }));

/**
 * Replaces the first signal: the agent ends by itself once it has read the end of its input. KILL follows after the
 * grace.
 */
export const endInput = (worker: LiveWorker): Effect.Effect<void> =>
  Effect.suspend(() => {
    const input = worker.incarnation?.run.input;
    if (input === undefined || input.isStdinClosed()) return Effect.void;
    crashPoint("passivate-before-end");
    return worker.call("ending its input", () => input.closeStdin(), undefined);
  });

/**
 * Gives up the slot of a worker that waits without a process. Wakes it if a message came while it was being stopped or
 * while no daemon ran.
 */
export const restOrWake = ({ journal, shared, id }: LiveWorker): Effect.Effect<void> =>
  Effect.gen(function* () {
    shared.rested(id);
    if (!isPassivated(journal.child())) return;
    const open = yield* journal.ask(({ views }) => views.openMessages(id));
    if (open.length > 0) yield* journal.fact({ type: "wake" });
  });
