import fc from "fast-check";
import { expect, it } from "vitest";
import { PersistentMap } from "../../src/base/persistent-map.ts";

const sorted = <V>(values: Iterable<V>): readonly V[] => [...values].sort();

it("holds what a map holds after the same changes, and the maps of before stay as they were", () => {
  const change = fc.tuple(
    fc.integer({ min: 0, max: 40 }).map((n) => `key ${n}`),
    fc.option(fc.integer(), { nil: undefined }),
  );
  fc.assert(
    fc.property(fc.array(change, { maxLength: 100 }), (changes) => {
      const model = new Map<string, number>();
      let map = PersistentMap.of<string, number>([]);
      const before: (readonly [PersistentMap<string, number>, readonly number[]])[] = [];
      for (const [key, value] of changes) {
        before.push([map, sorted(model.values())]);
        if (value === undefined) {
          map = map.without(key);
          model.delete(key);
        } else {
          map = map.with(key, value);
          model.set(key, value);
        }
        expect([map.get(key), map.has(key)]).toEqual([model.get(key), model.has(key)]);
        expect(sorted(map.values())).toEqual(sorted(model.values()));
      }
      for (const [old, values] of before) expect(sorted(old.values())).toEqual(values);
      expect(sorted(PersistentMap.of(model).values())).toEqual(sorted(model.values()));
    }),
  );
});

it("changes and leaves out by value", () => {
  const map = PersistentMap.of([
    ["a", 1],
    ["b", 2],
  ]);
  expect(sorted(map.map((value) => value * 2).values())).toEqual([2, 4]);
  expect(sorted(map.filter((value) => value > 1).values())).toEqual([2]);
});
