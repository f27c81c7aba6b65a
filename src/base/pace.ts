/**
 * Does a bounded number of works in one turn of the event loop, and the rest in later turns, in order. When ten thousand
 * agents end at once, requests are answered in between, and the memory for one end is free before the next ends need theirs.
 * A work waits only for its turn, not for earlier works to finish.
 */
export interface PacedWork {
  /** Called once for each `put`. */
  goOn(): void;
}

export class Pace {
  private readonly turnMax: number;
  private line: PacedWork[] = [];
  /** The number of works at the front of the line that have begun. */
  private served = 0;
  private begun = 0;
  private scheduled = false;

  constructor(turnMax: number) {
    this.turnMax = turnMax;
  }

  /** Begins the work at once if this turn has room and no other work waits. */
  put(paced: PacedWork): void {
    if (!this.scheduled) this.schedule();
    if (this.begun >= this.turnMax || this.line.length > 0) {
      this.line.push(paced);
      return;
    }
    this.begun += 1;
    paced.goOn();
  }

  private schedule(): void {
    this.scheduled = true;
    setImmediate(() => this.turn());
  }

  private turn(): void {
    this.scheduled = false;
    this.begun = 0;
    if (this.line.length > 0) this.schedule();
    while (this.begun < this.turnMax && this.line.length > 0) {
      const next = this.line[this.served] as PacedWork;
      this.begun += 1;
      this.served += 1;
      if (this.served === this.line.length) {
        this.line = [];
        this.served = 0;
      }
      next.goOn();
    }
  }
}
