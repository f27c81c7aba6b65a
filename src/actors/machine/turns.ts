/** One at a time, in the order of asking. Nobody is made to wait a turn of the event loop while nobody waits. */
export class Turns {
  private taken = false;
  private waiting: (() => void)[] | undefined;

  /** Undefined when it is one's turn at once. Whoever has taken a turn gives it back. */
  take(): Promise<void> | undefined {
    if (!this.taken) {
      this.taken = true;
      return undefined;
    }
    return new Promise((resolve) => {
      this.waiting ??= [];
      this.waiting.push(resolve);
    });
  }

  give(): void {
    const next = this.waiting?.shift();
    if (next === undefined) this.taken = false;
    else next();
  }
}
