/** Points in time as people write them. The client loads this file, so it has no imports that cost time. */
import type { Reading } from "./durations.ts";

const EPOCH = /^\d{9,13}$/;
const SECONDS_DIGITS = 10;
const TIME_OF_DAY = /^([01]\d|2[0-3]):([0-5]\d)$/;
const DATE_AND_TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?$/i;
/** `new Date` moves February 30 to March 2. */
const isDate = (text: string): boolean =>
  new Date(`${text.slice(0, 10)}T00:00Z`).toJSON()?.startsWith(text.slice(0, 10)) === true;

const nextTimeOfDay = (hour: number, minute: number, now_ms: number): number => {
  const today = new Date(now_ms);
  const on = (days: number): number =>
    new Date(today.getFullYear(), today.getMonth(), today.getDate() + days, hour, minute).getTime();
  return on(0) > now_ms ? on(0) : on(1);
};

const millisecondsOf = (text: string, now_ms: number): number | undefined => {
  if (EPOCH.test(text)) return Number(text) * (text.length > SECONDS_DIGITS ? 1 : 1000);
  const [, hour, minute] = TIME_OF_DAY.exec(text) ?? [];
  if (hour !== undefined) return nextTimeOfDay(Number(hour), Number(minute), now_ms);
  if (!DATE_AND_TIME.test(text) || !isDate(text)) return undefined;
  const at = Date.parse(text.toUpperCase().replace(" ", "T"));
  return Number.isNaN(at) ? undefined : at;
};

/**
 * `2026-12-01T18:00`, with or without seconds and a zone; `18:00`, the next one; or seconds or milliseconds since 1970. A
 * time without a zone is the machine's. The value is an ISO time in UTC.
 */
export const readInstant = (text: string, now_ms: number): Reading<string> => {
  const at = millisecondsOf(text.trim(), now_ms);
  return at === undefined
    ? {
        ok: false,
        problem: `needs a time such as 18:00, 2026-12-01T18:00Z or seconds since 1970, not "${text}"`,
      }
    : { ok: true, value: new Date(at).toISOString() };
};
