import { expect, test } from "vitest";
import {
  PLACED_MARKER,
  parsePlacedMarker,
  placedMarkerOf,
} from "../../../src/adapters/process/placed-marker.ts";

test("a placed run says its node, worker, term and policy of a partition in one variable", () => {
  const run = { node: "build", worker: "01J0", term: 7, on_partition: "stop" } as const;
  expect(PLACED_MARKER).toBe("HOLDFAST_PLACED");
  expect(placedMarkerOf(run)).toBe("build/01J0/7/stop");
  expect(parsePlacedMarker(placedMarkerOf(run))).toEqual(run);
  expect(parsePlacedMarker("a b/w/0/continue")).toEqual({
    node: "a b",
    worker: "w",
    term: 0,
    on_partition: "continue",
  });
});

test.each([
  "",
  "build/w/7",
  "build/w/7/stop/more",
  "build/w/7/Stop",
  "build/w/-1/stop",
  "build/w/07/stop",
  "/w/7/stop",
  "build//7/stop",
  "build/w/7/stop\n",
])("%j is no marker of a placed run", (text) => {
  expect(parsePlacedMarker(text)).toBeUndefined();
});
