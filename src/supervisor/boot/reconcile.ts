/**
 * Boot: what to do with each recorded worker that has not ended, given what the process table and its run directory say.
 * Pure, total and idempotent: the actions lead to records after which it answers `leave`.
 */
import { isEnded } from "../../protocol/worker.ts";
import type { ChildState } from "../child/inputs.ts";

/** The word of the process table and the run directory on a worker's incarnation. */
export type Seen = "running" | "finished" | "lost" | "never_started" | "not_begun";

export type BootAction =
  | { readonly type: "leave" }
  /** Requested, never begun. */
  | { readonly type: "start" }
  /** Between two incarnations: what is left of its delay. */
  | { readonly type: "back_off"; readonly delay_ms: number }
  /** It waits for somebody, without a process. */
  | { readonly type: "wait" }
  /** Its agent runs: go on reading where the last daemon stopped. */
  | { readonly type: "adopt" }
  /** Its agent ended while nobody watched: the exit file knows how, or nobody does. */
  | { readonly type: "settle" };

export const reconcile = (child: ChildState, observed: Seen, nowMs: number): BootAction => {
  if (isEnded(child.state)) return { type: "leave" };
  if (!child.open) {
    if (child.due_ms !== null) return { type: "back_off", delay_ms: Math.max(0, child.due_ms - nowMs) };
    return child.state === "waiting" ? { type: "wait" } : { type: "start" };
  }
  return observed === "running" ? { type: "adopt" } : { type: "settle" };
};
