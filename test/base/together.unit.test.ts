/** Deeds that come at once: alike ones are asked as one, others a few at a time. */
import { describe, expect, it } from "vitest";
import { AtMost, Together } from "../../src/base/together.ts";

describe("questions of one kind", () => {
  it("that come while one is under way are asked as one, each with its answer, and not too many at once", async () => {
    const asked: (readonly number[])[] = [];
    const first = Promise.withResolvers<void>();
    const together = new Together<number, number>(3, async (all) => {
      asked.push(all);
      if (asked.length === 1) await first.promise;
      return all.map((one) => one * 10);
    });
    const one = together.add(1);
    await expect.poll(() => asked).toEqual([[1]]);
    const others = [2, 3, 4, 5].map((each) => together.add(each));
    first.resolve();
    expect(await Promise.all([one, ...others])).toEqual([10, 20, 30, 40, 50]);
    expect(asked).toEqual([[1], [2, 3, 4], [5]]);
  });

  it("fail together, and the next ones are asked all the same", async () => {
    let isAway = true;
    const together = new Together<number, number>(9, async (all) => {
      if (isAway) throw new Error("away");
      return all;
    });
    const failed = await Promise.allSettled([together.add(1), together.add(2)]);
    expect(failed.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    isAway = false;
    expect(await together.add(3)).toBe(3);
  });
});

it("so many deeds are under way at most, and one that fails leaves its place", async () => {
  const atMost = new AtMost(2);
  const ends: PromiseWithResolvers<void>[] = [];
  const deed = () => {
    const end = Promise.withResolvers<void>();
    ends.push(end);
    return end.promise;
  };
  const all = [1, 2, 3, 4].map(() => atMost.run(deed));
  const settled = Promise.allSettled(all);
  expect(ends).toHaveLength(2);
  ends[0]!.reject(new Error("failed"));
  await expect.poll(() => ends.length).toBe(3);
  ends[1]!.resolve();
  await expect.poll(() => ends.length).toBe(4);
  for (const end of ends) end.resolve();
  expect((await settled).map(({ status }) => status)).toEqual([
    "rejected",
    "fulfilled",
    "fulfilled",
    "fulfilled",
  ]);
});
