/** Times on a wall: zones, the night in which the clock goes back, the one in which it goes forward, and the turn of a year. */
import { describe, expect, it } from "vitest";
import type { WallTime } from "../../../src/base/wall-time.ts";
import { meantBy } from "../../../src/supervisor/clocks/wall-time.ts";

const PAST_MS = 600_000;
const meant = (wall: WallTime, now: string, zone = "UTC"): string | undefined => {
  const at = meantBy(wall, { ms: Date.parse(now), zone }, PAST_MS);
  return at === undefined ? undefined : new Date(at).toISOString().slice(0, 16);
};
const at = (hour: number, minute: number, zone?: string): WallTime => ({
  hour,
  minute,
  ...(zone === undefined ? {} : { zone }),
});

describe("a time of day", () => {
  it.each<[string, WallTime, string, string, string | undefined]>([
    ["is today's where it is to come", at(15, 0), "2026-11-22T12:00Z", "UTC", "2026-11-22T15:00"],
    ["is tomorrow's where it has passed", at(9, 0), "2026-11-22T12:00Z", "UTC", "2026-11-23T09:00"],
    ["is the one that has just passed", at(12, 0), "2026-11-22T12:09Z", "UTC", "2026-11-22T12:00"],
    ["is tomorrow's again soon after", at(12, 0), "2026-11-22T12:11Z", "UTC", "2026-11-23T12:00"],
    ["has just passed over midnight", at(23, 55), "2026-11-22T00:02Z", "UTC", "2026-11-21T23:55"],
    ["is of its zone", at(15, 0, "Europe/Berlin"), "2026-11-22T12:00Z", "UTC", "2026-11-22T14:00"],
    ["is of the machine's without one", at(15, 0), "2026-11-22T12:00Z", "Asia/Tokyo", "2026-11-23T06:00"],
    [
      "may be another day over there",
      at(2, 30, "Pacific/Auckland"),
      "2026-11-22T12:00Z",
      "UTC",
      "2026-11-22T13:30",
    ],
    ["of a zone with half an hour", at(0, 0, "Asia/Kolkata"), "2026-11-22T12:00Z", "UTC", "2026-11-22T18:30"],
    [
      "of a zone that counts backwards",
      at(13, 0, "Etc/GMT+5"),
      "2026-11-22T12:00Z",
      "UTC",
      "2026-11-22T18:00",
    ],
    ["of no zone that there is", at(13, 0, "Mars/Olympus"), "2026-11-22T12:00Z", "UTC", undefined],
    // Berlin: on 29 March 2026 02:00 becomes 03:00, on 25 October 03:00 becomes 02:00.
    [
      "before the clock goes forward",
      at(1, 30, "Europe/Berlin"),
      "2026-03-28T23:00Z",
      "UTC",
      "2026-03-29T00:30",
    ],
    ["after it went forward", at(5, 0, "Europe/Berlin"), "2026-03-28T23:00Z", "UTC", "2026-03-29T03:00"],
    [
      "that there is not in that night",
      at(2, 30, "Europe/Berlin"),
      "2026-03-28T23:00Z",
      "UTC",
      "2026-03-29T01:30",
    ],
    ["after the clock went back", at(5, 0, "Europe/Berlin"), "2026-10-24T22:00Z", "UTC", "2026-10-25T04:00"],
    [
      "that comes twice is the later one",
      at(2, 30, "Europe/Berlin"),
      "2026-10-24T22:00Z",
      "UTC",
      "2026-10-25T01:30",
    ],
    ["of the last day of a year", at(1, 0), "2026-12-31T23:00Z", "UTC", "2027-01-01T01:00"],
  ])("%s", (_, wall, now, zone, expected) => {
    expect(meant(wall, now, zone)).toBe(expected);
  });
});

describe("a date", () => {
  const day = (month: number, date: number, more: object = {}): WallTime => ({
    month,
    day: date,
    ...at(17, 0, "UTC"),
    ...more,
  });
  it.each<[string, WallTime, string, string | undefined]>([
    ["is of this year", day(11, 25), "2026-11-22T12:00Z", "2026-11-25T17:00"],
    ["is of the next one where that is nearer", day(1, 2), "2026-12-30T12:00Z", "2027-01-02T17:00"],
    ["is of the last one where that is nearer", day(12, 30), "2027-01-02T12:00Z", "2026-12-30T17:00"],
    ["that has passed is not of next year", day(11, 20), "2026-11-22T12:00Z", "2026-11-20T17:00"],
    ["is of the year that it says", day(11, 3, { year: 2025 }), "2026-11-22T12:00Z", "2025-11-03T17:00"],
    ["that there is not in any year near", day(2, 30), "2026-02-22T12:00Z", undefined],
    ["that there is in a leap year alone", day(2, 29), "2028-02-22T12:00Z", "2028-02-29T17:00"],
  ])("%s", (_, wall, now, expected) => {
    expect(meant(wall, now)).toBe(expected);
  });
});
