/**
 * Things that are there for a moment, in no order. A Set would keep them alive: V8 gives a set a new table again and again, the old
 * table names the new one, and an old table that was moved to the old space keeps both until the whole heap is collected.
 */

/** A thing that a bag has, and the index at which the bag has it. */
export interface BagPlace<One> {
  readonly one: One;
  at: number;
}

export class Bag<One> {
  private readonly all: BagPlace<One>[] = [];

  add(one: One): BagPlace<One> {
    const place = { one, at: this.all.length };
    this.all.push(place);
    return place;
  }

  /** Once for each `add`. */
  remove(place: BagPlace<One>): void {
    const last = this.all.pop();
    if (last === undefined || last === place) return;
    this.all[place.at] = last;
    last.at = place.at;
  }

  /** All that are in it now, to be walked while it changes. */
  now(): readonly One[] {
    return this.all.map(({ one }) => one);
  }
}
