import { expect, it } from "vitest";
import { Bag } from "../../src/base/bag.ts";

it("has what was added and not removed, in any order of removals", () => {
  for (const order of [
    ["a", "b", "c"],
    ["c", "b", "a"],
    ["b", "a", "c"],
    ["b", "c", "a"],
  ]) {
    const bag = new Bag<string>();
    const places = new Map(["a", "b", "c"].map((one) => [one, bag.add(one)]));
    const left = new Set(places.keys());
    for (const one of order) {
      bag.remove(places.get(one)!);
      left.delete(one);
      expect(new Set(bag.now())).toEqual(left);
      expect(bag.now()).toHaveLength(left.size);
    }
    bag.add("d");
    expect(bag.now()).toEqual(["d"]);
  }
});
