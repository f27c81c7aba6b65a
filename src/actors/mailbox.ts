/**
 * A worker's bounded mailbox with a control lane: signal > stop > supervision > user (style habit 15). Exits, timers and
 * stops ride the control lane and overtake everything else, so a flooded mailbox never delays a kill.
 * One consumer. A full lane refuses: the sender is told, nothing is dropped in silence.
 */
import { Effect } from "effect";
import { MAILBOX_CONTROL_MAX, MAILBOX_USER_MAX } from "../protocol/limits.ts";

export interface Mailbox<A> {
  /** False when the lane is full. */
  offer(lane: "control" | "user", message: A): boolean;
  readonly take: Effect.Effect<A>;
  size(): number;
}

export const makeMailbox = <A>(
  bounds = { control: MAILBOX_CONTROL_MAX, user: MAILBOX_USER_MAX },
): Mailbox<A> => {
  const lanes = { control: [] as A[], user: [] as A[] };
  let wake: (() => void) | undefined;
  const take: Effect.Effect<A> = Effect.suspend(() => {
    const lane = lanes.control.length > 0 ? lanes.control : lanes.user;
    if (lane.length > 0) return Effect.succeed(lane.shift() as A);
    return Effect.flatMap(
      Effect.callback<void>((resume) => {
        wake = () => resume(Effect.void);
        return Effect.sync(() => {
          wake = undefined;
        });
      }),
      () => take,
    );
  });
  return {
    offer: (name, message) => {
      if (lanes[name].length >= bounds[name]) return false;
      lanes[name].push(message);
      const resume = wake;
      wake = undefined;
      resume?.();
      return true;
    },
    take,
    size: () => lanes.control.length + lanes.user.length,
  };
};
