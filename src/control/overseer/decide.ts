/** Several agents as one decision: all of them start, or none does. Pure. */

/** Why an agent may not start, as protocol-v1 notes 2.10 name it; and what stands for one that only its group keeps from starting. */
export type DenialReason =
  | "depth_limit_exceeded"
  | "local_limit_exceeded"
  | "resource_exhausted"
  | "policy_violation"
  | "spawn_failed"
  | "unknown_role"
  | "not_started";

/** An agent that somebody asks for. */
export interface RequestedAgent {
  readonly role: string;
  readonly task: string;
}

export interface Refusal {
  readonly reason: DenialReason;
  readonly message: string;
  readonly suggestion: string;
}

export interface DeniedAgent extends RequestedAgent {
  readonly reason: DenialReason;
  readonly message: string;
}

export interface SpawnDecision {
  readonly accepted: boolean;
  readonly denied: readonly DeniedAgent[];
  /** The next step of the one that asks; null where all start. */
  readonly suggestion: string | null;
}

const NOT_STARTED = "Another one of its group was denied, so none of them was started.";

/** `refusals` stand in the order of `requested`; undefined is no objection. */
export const decideSpawn = (
  requested: readonly RequestedAgent[],
  refusals: readonly (Refusal | undefined)[],
): SpawnDecision => {
  const first = refusals.find((refusal) => refusal !== undefined);
  if (first === undefined) return { accepted: true, denied: [], suggestion: null };
  const denied = requested.map(({ role, task }, at): DeniedAgent => {
    const { reason, message } = refusals[at] ?? { reason: "not_started", message: NOT_STARTED };
    return { role, task, reason, message };
  });
  const others = refusals.filter((refusal) => refusal === undefined).length;
  const rest = others === 0 ? "" : " Or ask again for the others alone.";
  return { accepted: false, denied, suggestion: `${first.suggestion}${rest}` };
};

/** The depth limit of an agent: the tightest of its role's, its own, and those above it. Undefined where none was asked for. */
export const depthLimit = (
  asked: { readonly levels?: number | undefined; readonly local_max_depth?: number | undefined },
  /** The agents above it, and the tightest limit of them. */
  above: { readonly depth: number; readonly bound: number },
): number | undefined => {
  const { levels, local_max_depth } = asked;
  if (levels === undefined && local_max_depth === undefined) return undefined;
  const ofRole = levels === undefined ? above.bound : above.depth + levels;
  return Math.min(above.bound, ofRole, local_max_depth ?? above.bound);
};
