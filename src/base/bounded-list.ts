/** Lists in a decoder's state: each has a bound. */

/** The list with one more item at its end. At `max` items the oldest one is dropped. */
export const appended = <T>(list: readonly T[], item: T, max: number): readonly T[] =>
  list.length < max ? [...list, item] : [...list.slice(list.length - max + 1), item];
