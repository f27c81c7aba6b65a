/** Lists in a decoder's state: each has a bound. */

/** The list with one more at its end, at most `max` long: who came first goes first. */
export const appended = <T>(list: readonly T[], item: T, max: number): readonly T[] =>
  list.length < max ? [...list, item] : [...list.slice(list.length - max + 1), item];
