/** Times of cron lines over a year in two zones, against facts about their clocks that are written down here. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CronLine, isTimeZone, readCron } from "../../src/base/cron.ts";
import { CRON_MAX_CHARS } from "../../src/base/limits.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const at = (text: string): number => Date.parse(text);
const iso = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString();

const cron = (text: string, zone: string): CronLine => {
  const read = readCron(text, zone);
  if (!read.ok) throw new Error(read.problem);
  return read.value;
};

const times = (line: CronLine, from: number, to: number): readonly number[] => {
  const found: number[] = [];
  for (let next = line.next(from); next !== undefined && next < to; next = line.next(next)) found.push(next);
  return found;
};

/** The clocks of 2026: hours behind UTC in winter and in summer, and the instants at which they change. */
const ZONES = [
  {
    zone: "Europe/Berlin",
    winter: 1,
    summer: 2,
    forward: "2026-03-29T01:00:00Z",
    back: "2026-10-25T01:00:00Z",
    skipped: "2026-03-29",
    doubled: "2026-10-25",
  },
  {
    zone: "America/New_York",
    winter: -5,
    summer: -4,
    forward: "2026-03-08T07:00:00Z",
    back: "2026-11-01T06:00:00Z",
    skipped: "2026-03-08",
    doubled: "2026-11-01",
  },
] as const;

describe.each(ZONES)("a year in $zone", ({ zone, winter, summer, forward, back, skipped, doubled }) => {
  const begin = at("2026-01-01T00:00:00Z") - winter * HOUR_MS;
  const end = at("2027-01-01T00:00:00Z") - winter * HOUR_MS;
  /** A time on the wall as an instant: in the gap as much later, of two the first. */
  const instantOf = (wall: number): number => {
    const inSummer = wall - summer * HOUR_MS;
    const inWinter = wall - winter * HOUR_MS;
    const isBeforeBack = inSummer < at(back);
    return inWinter >= at(forward) && isBeforeBack && inSummer >= at(forward) ? inSummer : inWinter;
  };
  const days = Array.from({ length: 365 }, (_, day) => at("2026-01-01T00:00:00Z") + day * DAY_MS);
  const daily = (hour: number, minute: number): readonly number[] =>
    days.map((day) => instantOf(day + hour * HOUR_MS + minute * 60_000));

  it.each([
    ["30 2 * * *", 2, 30],
    ["0 2 * * *", 2, 0],
    ["30 1 * * *", 1, 30],
    ["0 3 * * *", 3, 0],
    ["59 23 * * *", 23, 59],
    ["@daily", 0, 0],
  ] as const)("%s comes once on each of its 365 days", (line, hour, minute) => {
    expect(times(cron(line, zone), begin - 1, end).map(iso)).toEqual(daily(hour, minute).map(iso));
  });

  it("a time of the day that is skipped comes as much later", () => {
    const hour = 2;
    const before = at(`${skipped}T00:00:00Z`) - winter * HOUR_MS;
    expect(iso(cron(`30 ${hour} * * *`, zone).next(before))).toBe(iso(at(forward) + HOUR_MS / 2));
  });

  it("a line of every hour, and of every quarter, comes in each of them, whatever the clock does", () => {
    for (const change of [forward, back]) {
      const week = Math.floor(at(change) / DAY_MS) * DAY_MS - 7 * DAY_MS;
      const hours = times(cron("0 * * * *", zone), week - 1, week + 14 * DAY_MS);
      expect(hours).toEqual(Array.from({ length: 14 * 24 }, (_, n) => week + n * HOUR_MS));
    }
    const around = at(`${doubled}T00:00:00Z`) - 12 * HOUR_MS;
    expect(times(cron("*/15 * * * *", zone), around - 1, around + 2 * DAY_MS)).toHaveLength(2 * 96);
  });

  it("weekdays and months count by the clock on the wall", () => {
    const mondays = times(cron("0 9 * * 1", zone), begin - 1, end);
    expect(mondays).toHaveLength(52);
    const first = times(cron("0 0 1 * *", zone), begin - 1, end);
    expect(first).toHaveLength(12);
    expect(times(cron("0 0 13 * 5", zone), begin - 1, end), "the 13th or a Friday").toHaveLength(52 + 12 - 3);
  });

  it("several times of one line that are skipped come as one", () => {
    const line = cron("*/15 2 * * *", zone);
    const day = at(`${skipped}T00:00:00Z`) - winter * HOUR_MS;
    expect(times(line, day - 1, day + 12 * HOUR_MS).map(iso)).toEqual([iso(at(forward))]);
  });
});

describe("the next time", () => {
  const lines = ["30 2 * * *", "15,45 2 * * 0", "*/15 1-3 * * *", "0 */2 * * *", "30 0 * * *", "5 2 29 3 *"];
  const zones = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "UTC"];
  const changes = ["2026-03-08", "2026-03-29", "2026-04-05", "2026-09-06", "2026-10-04", "2026-10-25"];

  it("is the same one, whenever one asks: also inside the hour that a clock has skipped to", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...lines),
        fc.constantFrom(...zones),
        fc.constantFrom(...changes),
        fc.integer({ min: -12 * 60, max: 24 * 60 }),
        (text, zone, day, minutes) => {
          const line = cron(text, zone);
          const asked = at(`${day}T00:00:00Z`) + minutes * 60_000;
          const all = times(line, at(`${day}T00:00:00Z`) - DAY_MS, at(`${day}T00:00:00Z`) + 3 * DAY_MS);
          const next = all.find((one) => one > asked);
          if (next !== undefined) expect(iso(line.next(asked))).toBe(iso(next));
        },
      ),
      { numRuns: 150 },
    );
  });

  it("comes with seconds, too", () => {
    expect(iso(cron("*/20 * * * * *", "UTC").next(at("2026-01-01T00:00:20Z")))).toBe(
      "2026-01-01T00:00:40.000Z",
    );
  });

  it("does not come where no day is as the line asks", () => {
    expect(cron("0 0 30 2 *", "UTC").next(at("2026-01-01T00:00:00Z"))).toBeUndefined();
    expect(iso(cron("0 0 29 2 *", "UTC").next(at("2026-01-01T00:00:00Z")))).toBe("2028-02-29T00:00:00.000Z");
  });
});

describe("a line that is wrong", () => {
  it.each([
    ["* * *", "needs five fields: minute, hour, day, month and weekday, or six fields with the second first"],
    ["61 * * * *", 'has a field "61" that is wrong: expected a value between 0 and 59'],
    ["0 0 L * *", 'has a field "L" that is wrong: expected a positive integer'],
    ["*/0 * * * *", 'has a field "*/0" that is wrong: expected step value to be greater than 0'],
    ["@often", "knows @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually"],
    ["*".repeat(CRON_MAX_CHARS + 1), `may have at most ${CRON_MAX_CHARS} characters`],
  ])("%s", (text, problem) => {
    expect(readCron(text, "UTC")).toEqual({ ok: false, problem });
  });

  it("names of months and days are right, and so are more spaces", () => {
    for (const text of ["0 9 * jan mon-fri", " 0  9 * * 7 ", "@Weekly"])
      expect(readCron(text, "UTC").ok).toBe(true);
  });
});

it("knows the zones of the IANA", () => {
  expect(["UTC", "Europe/Berlin", "Mars/Olympus", ""].map(isTimeZone)).toEqual([true, true, false, false]);
});
