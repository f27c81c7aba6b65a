/** Many deeds at once: alike ones as one, and others a few at a time. */

interface WaitingQuestion<Asked, Answer> {
  readonly asked: Asked;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (cause: unknown) => void;
}

/** Questions that come at the same time, or while one is under way, are asked as one. A failure is that of each of them. */
export class Together<Asked, Answer> {
  private readonly max: number;
  private readonly ask: (all: readonly Asked[]) => Promise<readonly Answer[]>;
  private waiting: WaitingQuestion<Asked, Answer>[] = [];
  private isBusy = false;

  /** `ask` answers in the order of its questions, which are at most `max`. */
  constructor(max: number, ask: (all: readonly Asked[]) => Promise<readonly Answer[]>) {
    this.max = max;
    this.ask = ask;
  }

  add(asked: Asked): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ asked, resolve, reject });
      this.next();
    });
  }

  private next(): void {
    if (this.isBusy || this.waiting.length === 0) return;
    this.isBusy = true;
    setImmediate(() => void this.round());
  }

  private async round(): Promise<void> {
    const all = this.waiting.splice(0, this.max);
    try {
      const answers = await this.ask(all.map(({ asked }) => asked));
      for (const [at, { resolve }] of all.entries()) resolve(answers[at] as Answer);
    } catch (cause) {
      for (const { reject } of all) reject(cause);
    }
    this.isBusy = false;
    this.next();
  }
}

/** At most so many deeds at a time; the others wait in their order. */
export class AtMost {
  private left: number;
  private readonly waiting: (() => void)[] = [];

  constructor(max: number) {
    this.left = max;
  }

  async run<Result>(deed: () => Promise<Result>): Promise<Result> {
    if (this.left > 0) this.left -= 1;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      return await deed();
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.left += 1;
      else next();
    }
  }
}
