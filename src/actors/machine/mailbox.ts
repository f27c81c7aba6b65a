/**
 * A worker's bounded mailbox with a control lane: signal > stop > supervision > user (style habit 15). Exits, timers and
 * stops ride the control lane and overtake everything else, so a flooded mailbox never delays a kill.
 * One consumer. A full lane refuses: the sender is told, nothing is dropped in silence. An empty one holds no memory.
 */
import { MAILBOX_CONTROL_MAX, MAILBOX_USER_MAX } from "../../base/limits.ts";

export type Lane = "control" | "user";

export class Mailbox<A> {
  private control: A[] | undefined;
  private user: A[] | undefined;

  /** False when the lane is full. */
  offer(lane: Lane, message: A): boolean {
    this[lane] ??= [];
    if (this[lane].length >= LANE_MAX[lane]) return false;
    this[lane].push(message);
    return true;
  }

  /** The next message, the control lane first; undefined when there is none. */
  take(): A | undefined {
    const lane = this.control === undefined ? "user" : "control";
    const messages = this[lane];
    if (messages === undefined) return undefined;
    if (messages.length === 1) this[lane] = undefined;
    return messages.shift();
  }

  size(): number {
    return (this.control?.length ?? 0) + (this.user?.length ?? 0);
  }
}

const LANE_MAX: Readonly<Record<Lane, number>> = { control: MAILBOX_CONTROL_MAX, user: MAILBOX_USER_MAX };
