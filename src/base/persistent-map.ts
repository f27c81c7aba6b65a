/**
 * A map that never changes: each change makes another one, which shares all but the path to the changed entry with it. So one change in a
 * map of thousands costs no copy. Entries come in no certain order. The library behind it is Effect's HashMap.
 */
import { HashMap, Option } from "effect";

export class PersistentMap<K, V> {
  private readonly entries: HashMap.HashMap<K, V>;

  private constructor(entries: HashMap.HashMap<K, V>) {
    this.entries = entries;
  }

  static of<K, V>(entries: Iterable<readonly [K, V]>): PersistentMap<K, V> {
    return new PersistentMap(HashMap.fromIterable(entries));
  }

  get(key: K): V | undefined {
    return Option.getOrUndefined(HashMap.get(this.entries, key));
  }

  has(key: K): boolean {
    return HashMap.has(this.entries, key);
  }

  values(): Iterable<V> {
    return HashMap.values(this.entries);
  }

  with(key: K, value: V): PersistentMap<K, V> {
    return new PersistentMap(HashMap.set(this.entries, key, value));
  }

  without(key: K): PersistentMap<K, V> {
    return new PersistentMap(HashMap.remove(this.entries, key));
  }

  map(change: (value: V) => V): PersistentMap<K, V> {
    return new PersistentMap(HashMap.map(this.entries, change));
  }

  filter(isKept: (value: V) => boolean): PersistentMap<K, V> {
    return new PersistentMap(HashMap.filter(this.entries, isKept));
  }
}
