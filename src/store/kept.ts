/** Values that are read again and again and seldom change, kept in memory within a bound: the least recently used one goes first. */

export interface Kept<K, V> {
  get(key: K): V | undefined;
  /** `weight` counts towards the bound. */
  set(key: K, value: V, weight: number): void;
  forget(key: K): void;
  clear(): void;
}

export const makeKept = <K, V>(max: number): Kept<K, V> => {
  /** In the order of their last use. */
  const kept = new Map<K, { readonly value: V; readonly weight: number }>();
  let sum = 0;
  const forget = (key: K): void => {
    sum -= kept.get(key)?.weight ?? 0;
    kept.delete(key);
  };
  return {
    get: (key) => {
      const known = kept.get(key);
      if (known === undefined) return undefined;
      kept.delete(key);
      kept.set(key, known);
      return known.value;
    },
    set: (key, value, weight) => {
      forget(key);
      kept.set(key, { value, weight });
      sum += weight;
      for (const oldest of kept.keys()) {
        if (sum <= max) break;
        forget(oldest);
      }
    },
    forget,
    clear: () => {
      kept.clear();
      sum = 0;
    },
  };
};
