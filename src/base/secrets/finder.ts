/**
 * Decides whether a text holds one of many parts, and skips most of its characters. A part of M characters contains M - 3
 * grams (four characters each), so one look in M - 3 characters meets one of them. A bit table excludes most grams of the
 * text; for the others, the parts with that gram are compared with the text. The answer is exact.
 */

import { COPY_UNITS, copiedView, copyFrom } from "./copied.ts";

const GRAM = 4;
/** With 64 bits for each gram and two hashes, one foreign gram in a thousand passes the table. */
const BITS_PER_GRAM = 64;
const TABLE_MIN_BITS = 4_096;
/** One look at a gram takes as long as the native search for one part in this many characters. */
const SEARCHED_PER_LOOK_CHARS = 100;

export type Finder = (text: string) => boolean;

/** @param parts each at least as long as a gram */
export const makeFinder = (parts: readonly string[]): Finder => {
  const shortestFirst = [...parts].sort((a, b) => a.length - b.length);
  // The shortest part sets the distance between two looks, so it is cheaper to search for a few short parts one by one.
  const cost = (alone: number): number => {
    const next = shortestFirst[alone];
    return alone / SEARCHED_PER_LOOK_CHARS + (next === undefined ? 0 : 1 / (next.length - GRAM + 1));
  };
  let alone = 0;
  for (let n = 1; n <= shortestFirst.length; n += 1) if (cost(n) < cost(alone)) alone = n;
  const few = shortestFirst.slice(0, alone);
  const many = indexOf(shortestFirst.slice(alone));
  return (text) => {
    for (const part of few) if (text.includes(part)) return true;
    return many !== undefined && holdsOne(many, text);
  };
};

/** The grams of the parts, sorted, each with its part and its place in the part. */
interface Index {
  readonly parts: readonly string[];
  /** Characters from one look to the next. */
  readonly step: number;
  /** Typed arrays, because each worker has an index and a private key has thousands of grams. */
  readonly grams: Int32Array;
  readonly partOf: Uint32Array;
  readonly placeIn: Uint32Array;
  readonly bits: Int32Array;
  /** Shifts a hash to the number of a bit. */
  readonly shift: number;
}

/** The low bytes of four characters. Other characters may have the same low bytes; the comparison tells them apart. */
const gramAt = (text: string, at: number): number =>
  (text.charCodeAt(at) & 0xff) |
  ((text.charCodeAt(at + 1) & 0xff) << 8) |
  ((text.charCodeAt(at + 2) & 0xff) << 16) |
  (text.charCodeAt(at + 3) << 24);

/** Two multiplicative hashes: Knuth's golden ratio in 32 bits, and a prime of xxHash. */
const FIRST = 0x9e37_79b1;
const SECOND = 0x85eb_ca77;

const indexOf = (parts: readonly string[]): Index | undefined => {
  if (parts.length === 0) return undefined;
  const step = Math.min(...parts.map((part) => part.length)) - GRAM + 1;
  const places = parts
    .flatMap((part, index) =>
      Array.from({ length: step }, (_, at) => ({ gram: gramAt(part, at), index, at })),
    )
    .sort((a, b) => a.gram - b.gram);
  const size = Math.ceil(Math.log2(Math.max(TABLE_MIN_BITS, places.length * BITS_PER_GRAM)));
  const shift = 32 - size;
  const bits = new Int32Array(2 ** size / 32);
  for (const { gram } of places)
    for (const hash of [Math.imul(gram, FIRST) >>> shift, Math.imul(gram, SECOND) >>> shift])
      bits[hash >> 5] = (bits[hash >> 5] as number) | (1 << (hash & 31));
  return {
    parts,
    step,
    grams: Int32Array.from(places, ({ gram }) => gram),
    partOf: Uint32Array.from(places, ({ index }) => index),
    placeIn: Uint32Array.from(places, ({ at }) => at),
    bits,
    shift,
  };
};

/** Shorter texts are read in place: the copy would take longer. */
const COPIED_MIN_UNITS = 128;

/** A separate loop for each way to read a gram, because it runs over all output of all agents. */
const holdsOne = (index: Index, text: string): boolean => {
  const { step, bits, shift } = index;
  let at = step - 1;
  if (text.length < COPIED_MIN_UNITS) {
    for (; at + GRAM <= text.length; at += step) {
      const gram = gramAt(text, at);
      if (isSet(bits, Math.imul(gram, FIRST) >>> shift) && holdsAt(index, text, at, gram)) return true;
    }
    return false;
  }
  while (at + GRAM <= text.length) {
    const from = text.length <= COPY_UNITS ? 0 : at;
    const last = copyFrom(text, from) - GRAM;
    for (; at <= last; at += step) {
      const gram = copiedView.getInt32(at - from, true);
      if (isSet(bits, Math.imul(gram, FIRST) >>> shift) && holdsAt(index, text, at, gram)) return true;
    }
  }
  return false;
};

const isSet = (bits: Int32Array, bit: number): boolean =>
  (((bits[bit >> 5] as number) >> (bit & 31)) & 1) !== 0;

const holdsAt = (index: Index, text: string, at: number, gram: number): boolean => {
  const { parts, grams, partOf, placeIn, bits, shift } = index;
  if (!isSet(bits, Math.imul(gram, SECOND) >>> shift)) return false;
  for (let n = firstOf(grams, gram); grams[n] === gram; n += 1)
    if (text.startsWith(parts[partOf[n] as number] as string, at - (placeIn[n] as number))) return true;
  return false;
};

/** The first index with this value or a greater one. */
const firstOf = (sorted: Int32Array, value: number): number => {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as number) < value) low = middle + 1;
    else high = middle;
  }
  return low;
};
