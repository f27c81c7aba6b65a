/**
 * Cron lines as crontab(5) and Kubernetes have them, in a time zone of the IANA, by Effect's `Cron`. Pure except for Node's table of zones.
 * A time that does not exist, because the clock goes forward, comes as much later as the clock has jumped; where that skips several
 * times of one line, they come as one. A time that exists twice comes once, the first time; a line of every hour runs in both hours.
 */
import * as Cron from "effect/Cron";
import * as DateTime from "effect/DateTime";
import * as Result from "effect/Result";
import type { Reading } from "./durations.ts";
import { CRON_MAX_CHARS, ZONE_GAP_MAX_MS } from "./limits.ts";

/** The words of crontab(5). */
const WORDS: Readonly<Record<string, string>> = {
  "@hourly": "0 * * * *",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@weekly": "0 0 * * 0",
  "@monthly": "0 0 1 * *",
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
};

const FIELDS = "minute, hour, day, month and weekday, or six fields with the second first";

export interface CronLine {
  /** The first time after this one, in epoch milliseconds; undefined where none comes any more. */
  readonly next: (after_ms: number) => number | undefined;
}

export const isTimeZone = (zone: string): boolean => {
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone });
    return true;
  } catch {
    return false;
  }
};

/** The problem is the rest of a sentence that begins with the line. `zone` is a name that `isTimeZone` accepts. */
export const readCron = (text: string, zone: string): Reading<CronLine> => {
  if (text.length > CRON_MAX_CHARS)
    return { ok: false, problem: `may have at most ${CRON_MAX_CHARS} characters` };
  const line = WORDS[text.trim().toLowerCase()] ?? text.trim();
  const fields = line.split(/\s+/);
  if (line.startsWith("@")) return { ok: false, problem: `knows ${Object.keys(WORDS).join(", ")}` };
  if (fields.length !== 5 && fields.length !== 6)
    return { ok: false, problem: `needs five fields: ${FIELDS}` };
  const once = Cron.parse(line, zone);
  if (Result.isFailure(once)) return { ok: false, problem: saidOf(once.failure) };
  const isOfEveryHour = once.success.hours.size === 0 || once.success.hours.size === 24;
  const cron = isOfEveryHour ? Cron.parseUnsafe(line, zone, { onDstOverlap: "both" }) : once.success;
  const from = (after_ms: number): number => Cron.next(cron, after_ms).getTime();
  const next = (after_ms: number): number | undefined => {
    try {
      const gap = gapBefore(zone, after_ms);
      // Asked inside the shifted time, Effect's Cron does not know what was shifted there; asked before the gap, it does.
      const shifted = gap === undefined ? after_ms : from(gap - 1);
      return shifted > after_ms ? shifted : from(after_ms);
    } catch {
      return undefined;
    }
  };
  return { ok: true, value: { next } };
};

/** The instant at which the clock of the zone went forward last, if a time that it skipped may still be to come. */
const gapBefore = (zone: string, at_ms: number): number | undefined => {
  const offsetAt = (ms: number): number =>
    DateTime.zonedOffset(DateTime.makeZonedUnsafe(ms, { timeZone: zone }));
  let before = at_ms - ZONE_GAP_MAX_MS;
  let after = at_ms;
  const skipped = offsetAt(after) - offsetAt(before);
  if (skipped <= 0) return undefined;
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (offsetAt(middle) === offsetAt(at_ms)) after = middle;
    else before = middle;
  }
  return at_ms < after + skipped ? after : undefined;
};

const saidOf = ({ message, input }: { readonly message: string; readonly input?: string }): string =>
  `has a field "${input ?? ""}" that is wrong: ${message.charAt(0).toLowerCase()}${message.slice(1)}`;
