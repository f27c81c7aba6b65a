import { expect, it } from "vitest";
import { isoTime } from "../../src/base/iso-time.ts";

it("says each instant as Date does, in whatever order they come", () => {
  const instants = [
    0, -1, -16, 1_700_000_000_000, 1_700_000_000_001, 1_700_000_000_016, 1_700_000_000_000, 0,
  ];
  expect(instants.map(isoTime)).toEqual(instants.map((ms) => new Date(ms).toISOString()));
});
