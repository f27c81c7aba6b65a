import { expect, it } from "vitest";
import { HOSTS_MAX } from "../../src/base/limits.ts";
import { hostsCursorOf, isHostsCursor, readHostsCursor } from "../../src/protocol/hosts-cursor.ts";

const places = (count: number) =>
  new Map(Array.from({ length: count }, (_, at) => [`store-${at}`, `epoch_${at}:${at}`]));

it.each([1, 2, HOSTS_MAX])("a cursor of %d logs is read as it was written", (count) => {
  expect(readHostsCursor(hostsCursorOf(places(count)))).toEqual(places(count));
});

it.each([
  ["more logs than hosts", hostsCursorOf(places(HOSTS_MAX + 1))],
  ["nothing", ""],
  ["a cursor of one log", "epoch:5"],
  ["a seq without its epoch", "store=5"],
  ["a store without a place", "store="],
  ["a store twice", "s=e:1,s=e:2"],
  ["an end that is cut off", "s=e:1,t=e"],
  ["a comma too many", "s=e:1,"],
  ["a part too many", "s=e:1=2"],
])("refuses %s", (_, text) => {
  expect(readHostsCursor(text)).toBeUndefined();
});

it("a seq is none", () => {
  expect([0, undefined, "e:1", "s=e:1"].map((from) => isHostsCursor(from))).toEqual([
    false,
    false,
    false,
    true,
  ]);
});
