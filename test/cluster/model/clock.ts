/** The time of the model, in true milliseconds, and all that will happen. */
interface Appointment {
  readonly at: number;
  readonly order: number;
  readonly what: () => void;
}

export class ModelClock {
  now = 0;
  private count = 0;
  private readonly heap: Appointment[] = [];

  after(ms: number, what: () => void): void {
    this.push({ at: this.now + ms, order: this.count++, what });
  }

  runUntil(end: number): void {
    for (let next = this.heap[0]; next !== undefined && next.at <= end; next = this.heap[0]) {
      this.pop();
      this.now = next.at;
      next.what();
    }
    this.now = end;
  }

  private isBefore(a: number, b: number): boolean {
    const [one, other] = [this.heap[a] as Appointment, this.heap[b] as Appointment];
    return one.at < other.at || (one.at === other.at && one.order < other.order);
  }

  private swap(a: number, b: number): void {
    const kept = this.heap[a] as Appointment;
    this.heap[a] = this.heap[b] as Appointment;
    this.heap[b] = kept;
  }

  private push(appointment: Appointment): void {
    let at = this.heap.push(appointment) - 1;
    for (let above = (at - 1) >> 1; at > 0 && this.isBefore(at, above); above = (at - 1) >> 1) {
      this.swap(at, above);
      at = above;
    }
  }

  private pop(): void {
    const last = this.heap.pop() as Appointment;
    if (this.heap.length === 0) return;
    this.heap[0] = last;
    for (let at = 0; ; ) {
      let least = at;
      for (const below of [2 * at + 1, 2 * at + 2])
        if (below < this.heap.length && this.isBefore(below, least)) least = below;
      if (least === at) return;
      this.swap(at, least);
      at = least;
    }
  }
}
