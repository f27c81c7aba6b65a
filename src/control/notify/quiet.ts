/** Quiet hours: in them a notification waits. Pure, but for Node's table of time zones. */
import type { NoticeKind, QuietHours } from "../../protocol/notifications.ts";

const MINUTE_MS = 60_000;
const DAY_MIN = 1_440;

const minutesOf = (clock: string): number => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3));

/** The minute of the day on a clock of the zone. */
const minuteAt = (at_ms: number, zone: string): number => {
  const clock = new Intl.DateTimeFormat("en-GB", {
    timeZone: zone,
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
  return minutesOf(clock.format(at_ms));
};

/**
 * When the quiet hours in which this time lies end, in epoch milliseconds; undefined outside of them. A clock that is changed
 * before that moves the end, so it is asked again meanwhile.
 */
export const quietUntil = (
  quiet: QuietHours | undefined,
  kind: NoticeKind,
  at_ms: number,
): number | undefined => {
  if (quiet === undefined || quiet.except?.includes(kind) === true) return undefined;
  return endOf(quiet, at_ms);
};

/** Whether the quiet hours are now. */
export const isQuiet = (quiet: QuietHours | undefined, at_ms: number): boolean =>
  quiet !== undefined && endOf(quiet, at_ms) !== undefined;

const endOf = (quiet: QuietHours, at_ms: number): number | undefined => {
  const now = minuteAt(at_ms, quiet.zone);
  const since = (now - minutesOf(quiet.from) + DAY_MIN) % DAY_MIN;
  const length = (minutesOf(quiet.to) - minutesOf(quiet.from) + DAY_MIN) % DAY_MIN;
  if (since >= length) return undefined;
  return Math.floor(at_ms / MINUTE_MS) * MINUTE_MS + (length - since) * MINUTE_MS;
};
