/**
 * Instants of times on a wall: what a provider means by "3pm (Europe/Berlin)". Pure but for the zones that Node brings. When the clock goes back, a time comes twice, and the later one is meant: nobody is to come too early. When it goes forward, a time that
 * there is not is as long after midnight as it says.
 */
import type { WallTime } from "../../base/wall-time.ts";

const DAY_MS = 24 * 3_600_000;

/** The time that a wall shows in a zone, as if it were UTC: epoch milliseconds. Undefined where there is no such zone. */
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

/** The last instant at which the wall shows this. */
const instantOf = (shown: number, shownAt: (at_ms: number) => number): number => {
  // The offsets of a day before and after: the right ones, whatever happens in between.
  const offsets = [shown - DAY_MS, shown + DAY_MS].map((at) => shownAt(at) - at);
  const candidates = offsets.map((offset) => shown - offset);
  const right = candidates.filter((at) => shownAt(at) === shown);
  return Math.max(...(right.length > 0 ? right : candidates));
};

/**
 * The instant that is meant now. A time of day is the next one, or the one that has passed not longer than `past_ms` ago; a date
 * without a year is the nearest one. Undefined where the zone is unknown or there is no such date.
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
