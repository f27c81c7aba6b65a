/**
 * A bounded cache for values that are often read and seldom change. When it is full, the oldest value that was not used
 * goes first.
 */

export interface BoundedCache<K, V> {
  get(key: K): V | undefined;
  /** `weight` counts towards the bound. */
  set(key: K, value: V, weight: number): void;
  forget(key: K): void;
  clear(): void;
}

interface KeptValue<V> {
  readonly value: V;
  readonly weight: number;
  /** True if it was used since it was stored or last spared. */
  isUsed: boolean;
}

export const makeKept = <K, V>(max: number): BoundedCache<K, V> => {
  const kept = new Map<K, KeptValue<V>>();
  let sum = 0;
  const forget = (key: K): void => {
    const known = kept.get(key);
    if (known === undefined) return;
    sum -= known.weight;
    kept.delete(key);
  };
  /** A used value moves to the end of the line here, so that a read itself changes no order. */
  const makeRoom = (newest: K): void => {
    for (const [key, known] of kept) {
      if (sum <= max) return;
      kept.delete(key);
      if (key !== newest && !known.isUsed) sum -= known.weight;
      else {
        known.isUsed = false;
        kept.set(key, known);
      }
    }
  };
  return {
    get: (key) => {
      const known = kept.get(key);
      if (known === undefined) return undefined;
      known.isUsed = true;
      return known.value;
    },
    set: (key, value, weight) => {
      forget(key);
      if (weight > max) return;
      kept.set(key, { value, weight, isUsed: false });
      sum += weight;
      makeRoom(key);
    },
    forget,
    clear: () => {
      kept.clear();
      sum = 0;
    },
  };
};
