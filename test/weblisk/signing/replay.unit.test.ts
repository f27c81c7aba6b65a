import { expect, it, test } from "vitest";
import { checkTimestamp, SeenIds } from "../../../src/weblisk/signing/replay.ts";

const NOW = 1_713_264_000;

test.each([0, 1, -1, 300, -300])("%i seconds from now passes", (off) =>
  expect(() => checkTimestamp(NOW + off, NOW)).not.toThrow(),
);
test.each([301, -301, 600, -600])(
  "%i seconds from now is refused, and the sentence names the timestamp",
  (off) =>
    expect(() => checkTimestamp(NOW + off, NOW)).toThrowError(
      expect.objectContaining({ code: "INVALID_SIGNATURE", message: expect.stringContaining("timestamp") }),
    ),
);
test.each([undefined, "1713264000", 1.5, Number.NaN])("%s is no timestamp", (wrong) =>
  expect(() => checkTimestamp(wrong, NOW)).toThrowError(expect.objectContaining({ code: "INVALID_REQUEST" })),
);

it("an id comes once, until its time is over; a table that is made of the entries knows the same", () => {
  const table = new SeenIds({ max: 10, keep_s: 600 });
  expect(table.note("a", NOW)).toBe("new");
  expect(table.note("a", NOW + 600)).toBe("seen");
  expect(new SeenIds({ max: 10, keep_s: 600 }, table.entries()).note("a", NOW + 600)).toBe("seen");
  expect(table.note("a", NOW + 601)).toBe("new");
});

it("a full table refuses rather than forget", () => {
  const table = new SeenIds({ max: 2, keep_s: 600 });
  expect([table.note("a", NOW), table.note("b", NOW + 1), table.note("c", NOW + 1)]).toEqual([
    "new",
    "new",
    "full",
  ]);
  expect([table.note("a", NOW + 1), table.note("c", NOW + 601)]).toEqual(["seen", "new"]);
});
