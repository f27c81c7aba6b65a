/** Events in simulated time, earliest first, those of one instant in the order in which they were made: a binary heap. */
interface Event {
  readonly at: number;
  readonly order: number;
  readonly fire: () => void;
  /** False: whoever wanted it is no more. */
  readonly wanted: () => boolean;
}

export class Timeline {
  /** Milliseconds since the simulation began: nobody in it sees them. */
  now_ms = 0;
  readonly #heap: Event[] = [];
  #made = 0;

  after(delay_ms: number, wanted: () => boolean, fire: () => void): void {
    const heap = this.#heap;
    const event = { at: this.now_ms + Math.max(0, delay_ms), order: this.#made++, fire, wanted };
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const up = (at - 1) >> 1;
      const parent = heap[up] as Event;
      if (!isBefore(event, parent)) break;
      heap[at] = parent;
      at = up;
    }
    heap[at] = event;
  }

  /** The next event that somebody wants, not later than `until_ms`. */
  step(until_ms = Number.POSITIVE_INFINITY): boolean {
    for (;;) {
      const first = this.#heap[0];
      if (first === undefined || first.at > until_ms) return false;
      this.#pop();
      if (!first.wanted()) continue;
      this.now_ms = Math.max(this.now_ms, first.at);
      first.fire();
      return true;
    }
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop() as Event;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let down = 2 * at + 1;
      if (down >= heap.length) break;
      if (down + 1 < heap.length && isBefore(heap[down + 1] as Event, heap[down] as Event)) down++;
      if (!isBefore(heap[down] as Event, last)) break;
      heap[at] = heap[down] as Event;
      at = down;
    }
    heap[at] = last;
  }
}

const isBefore = (one: Event, other: Event): boolean =>
  one.at < other.at || (one.at === other.at && one.order < other.order);
