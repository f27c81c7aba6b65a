/**
 * Interprets times on a wall clock: what a provider means by "3pm (Europe/Berlin)". Pure except for Node's table of zones.
 * When the clock goes back, a time occurs twice and the later one is taken, so that no worker returns too early. When it
 * goes forward, a time that is skipped is taken as that long after midnight.
 */
import type { WallTime } from "../../base/wall-time.ts";

const DAY_MS = 24 * 3_600_000;

/** Gives the wall time in a zone, as if it were UTC, in epoch milliseconds. Undefined if the zone is unknown. */
const shownIn = (zone: string): ((at_ms: number) => number) | undefined => {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat("en-US-u-hc-h23", {
      timeZone: zone,
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
  } catch {
    return undefined;
  }
  return (at_ms) => {
    const part = new Map(format.formatToParts(at_ms).map(({ type, value }) => [type, Number(value)]));
    const of = (type: Intl.DateTimeFormatPartTypes) => part.get(type) ?? 0;
    return Date.UTC(of("year"), of("month") - 1, of("day"), of("hour"), of("minute"), of("second"));
  };
};

/** The last instant at which the wall clock shows this time. */
const instantOf = (shown: number, shownAt: (at_ms: number) => number): number => {
  // The offsets a day before and after: one of them is right, whatever changes in between.
  const offsets = [shown - DAY_MS, shown + DAY_MS].map((at) => shownAt(at) - at);
  const candidates = offsets.map((offset) => shown - offset);
  const right = candidates.filter((at) => shownAt(at) === shown);
  return Math.max(...(right.length > 0 ? right : candidates));
};

/**
 * The instant that a provider means now. A time of day is the next one, or one that passed at most `past_ms` ago. A date
 * without a year is the nearest one. Undefined if the zone is unknown or the date does not exist.
 */
export const meantBy = (
  wall: WallTime,
  now: { readonly ms: number; readonly zone: string },
  past_ms: number,
): number | undefined => {
  const shownAt = shownIn(wall.zone ?? now.zone);
  if (shownAt === undefined) return undefined;
  const today = new Date(shownAt(now.ms));
  const at = (year: number, month: number, day: number): number | undefined => {
    const shown = new Date(Date.UTC(year, month, day, wall.hour, wall.minute));
    return shown.getUTCMonth() === month || wall.day === undefined
      ? instantOf(shown.getTime(), shownAt)
      : undefined;
  };
  const year = today.getUTCFullYear();
  if (wall.month === undefined || wall.day === undefined)
    return [-1, 0, 1, 2]
      .flatMap((days) => at(year, today.getUTCMonth(), today.getUTCDate() + days) ?? [])
      .find((instant) => instant > now.ms - past_ms);
  const { month, day } = wall;
  const years = wall.year === undefined ? [year - 1, year, year + 1] : [wall.year];
  const instants = years.flatMap((one) => at(one, month - 1, day) ?? []);
  return instants.sort((a, b) => Math.abs(a - now.ms) - Math.abs(b - now.ms))[0];
};
