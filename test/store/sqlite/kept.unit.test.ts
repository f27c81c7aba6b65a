import { describe, expect, it } from "vitest";
import { makeKept } from "../../../src/store/sqlite/kept.ts";

describe("a cache", () => {
  it("stays within its bound: who was used longest ago goes, by weight", () => {
    const kept = makeKept<string, number>(10);
    kept.set("a", 1, 4);
    kept.set("b", 2, 4);
    expect(kept.get("a")).toBe(1);
    kept.set("c", 3, 4);
    expect([kept.get("a"), kept.get("b"), kept.get("c")]).toEqual([1, undefined, 3]);
    kept.set("d", 4, 10);
    expect([kept.get("a"), kept.get("c"), kept.get("d")]).toEqual([undefined, undefined, 4]);
  });

  it("keeps nothing that is heavier than all it may hold, and counts a key once", () => {
    const kept = makeKept<string, number>(10);
    kept.set("big", 1, 11);
    expect(kept.get("big")).toBeUndefined();
    for (let n = 0; n < 5; n += 1) kept.set("same", n, 6);
    kept.set("other", 9, 4);
    expect([kept.get("same"), kept.get("other")]).toEqual([4, 9]);
    kept.forget("same");
    kept.set("third", 3, 6);
    expect([kept.get("same"), kept.get("other"), kept.get("third")]).toEqual([undefined, 9, 3]);
    kept.clear();
    expect(kept.get("other")).toBeUndefined();
  });
});
