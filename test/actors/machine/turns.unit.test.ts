import { expect, it } from "vitest";
import { Turns } from "../../../src/actors/machine/turns.ts";

it("one at a time, in the order of asking", async () => {
  const turns = new Turns();
  const order: number[] = [];
  const work = async (n: number): Promise<void> => {
    await turns.take();
    order.push(n);
    await new Promise((resolve) => setImmediate(resolve));
    order.push(n);
    turns.give();
  };
  await Promise.all([1, 2, 3].map(work));
  expect(order).toEqual([1, 1, 2, 2, 3, 3]);
});

it("whoever finds it free has it at once, also after others have waited", async () => {
  const turns = new Turns();
  expect(turns.take()).toBeUndefined();
  const second = turns.take();
  turns.give();
  await second;
  turns.give();
  expect(turns.take()).toBeUndefined();
});
