/**
 * Work for the end of a turn of the event loop. Answers that are written together wake their clients once: a client that sleeps between
 * two answers makes the kernel wake its processor for each, which costs more than the answer.
 */
export class TurnsEnd {
  private readonly failed: (cause: unknown) => void;
  private waiting: (() => unknown)[] = [];

  /** `failed` is told what a work threw; the others are done. */
  constructor(failed: (cause: unknown) => void) {
    this.failed = failed;
  }

  add(work: () => unknown): void {
    if (this.waiting.push(work) === 1) setImmediate(() => this.run());
  }

  private run(): void {
    const { waiting } = this;
    this.waiting = [];
    for (const work of waiting)
      try {
        work();
      } catch (cause) {
        this.failed(cause);
      }
  }
}
