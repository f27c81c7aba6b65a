/**
 * The bounded mailbox of one fiber, which takes messages in the order of arrival. A message wakes the fiber at once,
 * without a turn of the event loop in between. Effect's own queue costs more memory than the fiber itself.
 */
import { Effect } from "effect";
import { MAILBOX_MAX_EVENTS } from "../../base/limits.ts";

/** A class, not a closure, to save memory: a daemon may have a hundred thousand of them. */
export class Mailbox<A> {
  private readonly max: number;
  private messages: A[] | undefined;
  /** Wakes the fiber while it waits for a message. */
  private wake: ((next: Effect.Effect<A>) => void) | undefined;
  /** Once set, every `take` ends with it. */
  private verdict: Effect.Effect<never> | undefined;

  /** `max`: how many messages may wait. */
  constructor(max = MAILBOX_MAX_EVENTS) {
    this.max = max;
  }

  /** Adds a message. If the mailbox is full, its fiber dies: a lost message would leave it waiting for ever. */
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

  /** Makes the fiber die of this defect, at once or at its next take. Only the first defect counts. */
  break(defect: unknown): void {
    if (this.verdict === undefined) this.end(Effect.die(defect));
  }

  /** The number of waiting messages. */
  waiting(): number {
    return this.messages?.length ?? 0;
  }

  /** Takes the next message, or waits for it. */
  take(): Effect.Effect<A> {
    if (this.verdict !== undefined) return this.verdict;
    const next = this.messages?.shift();
    if (this.messages?.length === 0) this.messages = undefined;
    if (next !== undefined) return Effect.succeed(next);
    return Effect.callback((resume) => {
      this.wake = resume;
    });
  }

  /** The fiber has ended: drops all messages, now and later. */
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
