/** Items that come by themselves, for a reader that asks for each. A reader that is behind holds up the sender. */
import { REMOTE_BUFFER_MAX_ITEMS } from "../../base/limits.ts";

export class Pull<A> implements AsyncIterator<A> {
  private readonly items: A[] = [];
  private end: { readonly error?: unknown } | undefined;
  private wakeReader: (() => void) | undefined;
  private wakeSender: (() => void) | undefined;
  private readonly onReturn: () => void;

  /** `onReturn` is called once the reader wants no more. */
  constructor(onReturn: () => void) {
    this.onReturn = onReturn;
  }

  /** A promise if the sender has to wait. */
  push(item: A): Promise<void> | undefined {
    this.items.push(item);
    this.wakeReader?.();
    if (this.items.length < REMOTE_BUFFER_MAX_ITEMS) return undefined;
    return new Promise((resolve) => {
      this.wakeSender = resolve;
    });
  }

  finish(error?: unknown): void {
    this.end ??= { error };
    this.wakeReader?.();
    this.wakeSender?.();
  }

  async next(): Promise<IteratorResult<A>> {
    while (this.items.length === 0 && this.end === undefined)
      await new Promise<void>((resolve) => {
        this.wakeReader = resolve;
      });
    if (this.items.length === 0) {
      if (this.end?.error !== undefined) throw this.end.error;
      return { done: true, value: undefined };
    }
    const value = this.items.shift() as A;
    this.wakeSender?.();
    return { done: false, value };
  }

  async return(): Promise<IteratorResult<A>> {
    this.items.length = 0;
    this.finish();
    this.onReturn();
    return { done: true, value: undefined };
  }
}
