/**
 * The bounded mailbox of one fiber, which alone takes from it, in the order of arrival. A message wakes the fiber at once,
 * without a turn of the event loop in between. Effect's own queue costs more memory than the fiber.
 */
import { Effect } from "effect";
import { MAILBOX_MAX_EVENTS } from "../../base/limits.ts";

/** A class: there is one for each of a hundred thousand workers. */
export class Mailbox<A> {
  private readonly max: number;
  private messages: A[] | undefined;
  /** Wakes the fiber, which waits for a message. */
  private wake: ((next: Effect.Effect<A>) => void) | undefined;
  /** Every take ends like this from now on. */
  private verdict: Effect.Effect<never> | undefined;

  /** `max`: messages that may wait. */
  constructor(max = MAILBOX_MAX_EVENTS) {
    this.max = max;
  }

  /** A mailbox over its bound breaks its fiber: a message that was lost would leave it waiting for ever. */
  post(message: A): void {
    if (this.verdict !== undefined) return;
    if (this.wake !== undefined) {
      this.answer(Effect.succeed(message));
      return;
    }
    this.messages ??= [];
    this.messages.push(message);
    if (this.messages.length > this.max)
      this.break(new Error(`More than ${this.max} messages wait for one fiber.`));
  }

  /** The fiber dies of this defect, at once or at its next take. Only the first one counts. */
  break(defect: unknown): void {
    if (this.verdict === undefined) this.end(Effect.die(defect));
  }

  /** Messages that wait. */
  waiting(): number {
    return this.messages?.length ?? 0;
  }

  /** The next message. */
  take(): Effect.Effect<A> {
    if (this.verdict !== undefined) return this.verdict;
    const next = this.messages?.shift();
    if (this.messages?.length === 0) this.messages = undefined;
    if (next !== undefined) return Effect.succeed(next);
    return Effect.callback((resume) => {
      this.wake = resume;
    });
  }

  /** The fiber is over: nothing is kept for it any more. */
  close(): void {
    this.end(Effect.never);
  }

  private end(verdict: Effect.Effect<never>): void {
    this.verdict = verdict;
    this.messages = undefined;
    this.answer(verdict);
  }

  private answer(next: Effect.Effect<A>): void {
    const { wake } = this;
    this.wake = undefined;
    wake?.(next);
  }
}
