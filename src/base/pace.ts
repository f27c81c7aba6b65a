/**
 * So much work in one turn of the event loop, and the rest in the next ones, in order: when ten thousand agents end at
 * once, requests are heard in between, and what one end needs of memory is free again before the next ones need it.
 * Nothing waits for an earlier work to be finished, only for its turn.
 */
export interface Paced {
  /** Its turn. Called once for each time that it was put in line. */
  goOn(): void;
}

export class Pace {
  private readonly turnMax: number;
  private line: Paced[] = [];
  /** How far the line has been served. */
  private served = 0;
  private begun = 0;
  private scheduled = false;

  constructor(turnMax: number) {
    this.turnMax = turnMax;
  }

  /** At once, where this turn has room and nobody waits. */
  put(paced: Paced): void {
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
      const next = this.line[this.served] as Paced;
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
