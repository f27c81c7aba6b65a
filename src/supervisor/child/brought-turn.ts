/** Decides about the turn in which a worker ended on another node of a cluster, as after a crash here. Pure. */
import type { Now } from "../clocks/now.ts";
import type { ChildState, Decision } from "./inputs.ts";
import { type InterruptedTurn, policyFor } from "./interruption.ts";
import { privately } from "./verdict.ts";

/** Undefined: it goes on. Otherwise it waits for an answer, or has ended. */
export const decideBroughtTurn = (
  child: ChildState,
  turn: InterruptedTurn,
  now: Now,
): Decision | undefined => {
  const then = policyFor(child.on_interrupted, turn);
  if (then === "continue") return undefined;
  const interrupted = { ...turn, then };
  return privately(child, { type: "over", completed: false, failure: undefined, interrupted }, now);
};
