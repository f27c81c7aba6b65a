import { expect, test } from "vitest";
import { shutdownOrder } from "../../../src/supervisor/restart/shutdown-order.ts";

const worker = (id: string, order: number, parent?: string) => ({ id, order, spec: { parent } });
const waves = (...workers: ReturnType<typeof worker>[]) =>
  shutdownOrder(workers).map((wave) => wave.map(({ id }) => id));

test("workers without an order among each other are one wave, the last started first", () => {
  expect(waves(worker("a", 1), worker("b", 2), worker("c", 3))).toEqual([["c", "b", "a"]]);
  expect(waves()).toEqual([]);
});

test("spawns of an agent are stopped before it, at any depth", () => {
  expect(
    waves(worker("a", 1), worker("child", 2, "a"), worker("b", 3), worker("grandchild", 4, "child")),
  ).toEqual([["grandchild"], ["child"], ["b", "a"]]);
});

test("a parent that has ended already orders nobody", () => {
  expect(waves(worker("a", 1, "gone"), worker("b", 2))).toEqual([["b", "a"]]);
});
