/** Times as people write them. */
import { describe, expect, it } from "vitest";
import { readInstant } from "../../src/base/instant.ts";

const NOON = new Date(2026, 10, 27, 12, 0).getTime();
const local = (...[day, hour, minute]: readonly [number, number, number]): string =>
  new Date(2026, 10, day, hour, minute).toISOString();

describe("a time", () => {
  it.each([
    ["2026-12-01T18:00:00Z", "2026-12-01T18:00:00.000Z"],
    ["2026-12-01T18:00Z", "2026-12-01T18:00:00.000Z"],
    ["2026-12-01t18:00:00.5+02:00", "2026-12-01T16:00:00.500Z"],
    ["2026-11-30 07:30", local(30, 7, 30)],
    ["1764547200", "2025-12-01T00:00:00.000Z"],
    ["1764547200123", "2025-12-01T00:00:00.123Z"],
    ["18:00", local(27, 18, 0)],
    ["12:00", local(28, 12, 0)],
    ["07:30", local(28, 7, 30)],
  ])("%s is %s", (text, value) => {
    expect(readInstant(text, NOON)).toEqual({ ok: true, value });
  });

  it.each(["", "soon", "24:00", "7:30", "2026-12-01", "2026-02-30T10:00Z", "2026-13-01T10:00Z", "12", "-1"])(
    "is not %j",
    (text) => {
      expect(readInstant(text, NOON)).toEqual({
        ok: false,
        problem: `needs a time such as 18:00, 2026-12-01T18:00Z or seconds since 1970, not "${text}"`,
      });
    },
  );
});
