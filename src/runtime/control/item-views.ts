/** Items of the blackboard as answers show them, with deadlines in wall-clock time. */
import type { DecisionTime } from "../../control/lease.ts";
import { monotonicDeadline } from "../../control/lease.ts";
import type { BlackboardItem, ItemLease } from "../../protocol/blackboard.ts";
import type { Deadline } from "../../protocol/clock-stamp.ts";
import type { ItemView } from "../../protocol/replies/blackboard.ts";

const leftOf = (deadline: Deadline, now: DecisionTime): number =>
  monotonicDeadline(deadline, now) - now.mono_ms;

const timeOf = (deadline: Deadline, now: DecisionTime): string =>
  new Date(now.wall_ms + leftOf(deadline, now)).toISOString();

export const leaseEnd = ({ deadline }: ItemLease, now: DecisionTime): string => timeOf(deadline, now);

/** A lease that has run out is not shown, even if its alarm has not rung yet. */
export const viewOf = (item: BlackboardItem, now: DecisionTime): ItemView => {
  const { seq: _, deadline, lease, ...said } = item;
  const held = lease !== null && leftOf(lease.deadline, now) > 0 ? lease : null;
  return {
    ...said,
    state: held === null ? "free" : "claimed",
    expires_at: timeOf(deadline, now),
    lease:
      held === null ? null : { by: held.by, claimed_at: held.claimed_at, expires_at: leaseEnd(held, now) },
  };
};
