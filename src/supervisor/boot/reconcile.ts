/**
 * Decides at boot what to do with each recorded worker that has not ended, from the process table and its run directory.
 * Pure, total and idempotent: each action leads to records after which the answer is `leave`.
 */
import { isEnded } from "../../protocol/worker.ts";
import type { ChildState } from "../child/inputs.ts";

/** The state of an incarnation by the process table and the run directory. */
export type ObservedState = "running" | "finished" | "lost" | "never_started" | "not_begun";

export type BootAction =
  | { readonly type: "leave" }
  /** Requested, but never begun. */
  | { readonly type: "start" }
  /** Between two incarnations: the rest of the delay. */
  | { readonly type: "back_off"; readonly delay_ms: number }
  /** It waits for an answer or a message, without a process. */
  | { readonly type: "wait" }
  /** Its agent runs: continue reading where the last daemon stopped. */
  | { readonly type: "adopt" }
  /** Its agent ended while no daemon ran; only the exit file can tell how. */
  | { readonly type: "settle" };

export const reconcile = (child: ChildState, observed: ObservedState, nowMs: number): BootAction => {
  if (isEnded(child.state)) return { type: "leave" };
  if (!child.open) {
    if (child.due_ms !== null) return { type: "back_off", delay_ms: Math.max(0, child.due_ms - nowMs) };
    return child.state === "waiting" ? { type: "wait" } : { type: "start" };
  }
  return observed === "running" ? { type: "adopt" } : { type: "settle" };
};
