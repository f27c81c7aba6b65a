/**
 * Reads when a provider's limit resets, from the text of a CLI. Only known forms are read, each by the words
 * around it. A time of day stays one, because a decoder has no clock: `supervisor/restart/rate-limit` turns it
 * into a wait. Pure.
 *
 *   claude   Claude AI usage limit reached|1749924000
 *            You've hit your limit · resets 3pm (Europe/Berlin)      5-hour limit reached ∙ resets 12:30am
 *            … · resets Apr 3, 5pm (UTC)      … resets Feb 3 at 10am      Your limit will reset at 1pm (Etc/GMT+5).
 *   codex    try again in 5 days 3 hours 2 minutes      try again in 1.2s
 *            try again at 10:13 PM.      try again at Nov 3rd, 2025 10:13 PM.
 */

import type { WallTime } from "../../base/wall-time.ts";
import type { WorkerError } from "../../protocol/records.ts";

export type Reset = Pick<WorkerError, "retry_after_s" | "reset_at" | "resets">;

/** The part of a text that is searched, in UTF-16 units. */
const LOOKED_AT_MAX_UNITS = 8_192;

export const readReset = (text: string): Reset | undefined => {
  const head = text.slice(0, LOOKED_AT_MAX_UNITS);
  return inSoLong(head) ?? epochIn(head) ?? wallTimeIn(head);
};

/** From seconds since 1970; empty for a number that cannot be a date of these decades. */
export const resetAt = (epoch_s: unknown): { readonly reset_at: string } | undefined =>
  typeof epoch_s === "number" && epoch_s >= EPOCH_MIN_S && epoch_s <= EPOCH_MAX_S
    ? { reset_at: new Date(Math.ceil(epoch_s) * 1_000).toISOString() }
    : undefined;

const EPOCH_MIN_S = Date.UTC(2000, 0) / 1_000;
const EPOCH_MAX_S = Date.UTC(2100, 0) / 1_000;

const epochIn = (text: string): Reset | undefined => {
  const digits = /\busage limit reached\|(\d{10})\b/i.exec(text)?.[1];
  return digits === undefined ? undefined : resetAt(Number(digits));
};

const AGAIN_IN = /\btry again in ([0-9][0-9a-z ,.]{0,60})/i;
/** Parts in a row, each a whole word, so that "month" is not read as "m". */
const PART =
  /[ ,]{0,2}(?:and )?(\d{1,6}(?:\.\d{1,6})?) ?(ms|d(?:ays?)?|h(?:(?:ou)?rs?)?|m(?:in(?:ute)?s?)?|s(?:ec(?:ond)?s?)?)(?![a-z])/giy;
const SECONDS: Readonly<Record<string, number>> = { d: 86_400, h: 3_600, m: 60, s: 1, ms: 0.001 };

const inSoLong = (text: string): Reset | undefined => {
  const words = AGAIN_IN.exec(text)?.[1];
  if (words === undefined) return undefined;
  let seconds = 0;
  for (const [, count, word = "s"] of words.toLowerCase().matchAll(PART))
    seconds += Number(count) * (SECONDS[word] ?? SECONDS[word.charAt(0)] ?? 0);
  return seconds > 0 ? { retry_after_s: Math.ceil(seconds) } : undefined;
};

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WALL_TIME = new RegExp(
  [
    /\b(?:resets|will reset at|try again at) /,
    /(?:(?<month>[A-Z][a-z]{2,8})\.? (?<day>\d{1,2})(?:st|nd|rd|th)?(?:, (?<year>\d{4}))?(?:,| at)? )?/,
    /(?<hour>1[0-2]|[1-9])(?::(?<minute>[0-5]\d))? ?(?<half>am|pm)\b/,
    /(?: \((?<zone>[A-Za-z][A-Za-z0-9_+\-/]{1,63})\))?/,
  ]
    .map(({ source }) => source)
    .join(""),
  "i",
);

const wallTimeIn = (text: string): Reset | undefined => {
  const groups = WALL_TIME.exec(text)?.groups;
  if (groups === undefined) return undefined;
  const { hour, minute = "0", half = "", zone } = groups;
  const date = dateOf(groups);
  if (date === undefined) return undefined;
  const resets: WallTime = {
    ...date,
    hour: (Number(hour) % 12) + (half.toLowerCase() === "pm" ? 12 : 0),
    minute: Number(minute),
    ...(zone === undefined ? {} : { zone }),
  };
  return { resets };
};

/** Undefined if the words are not a date; then the time beside them may not be a time either. */
const dateOf = ({ month, day, year }: Record<string, string | undefined>) => {
  if (month === undefined) return {};
  const at = MONTHS.indexOf(month.slice(0, 3).toLowerCase());
  if (at < 0 || Number(day) < 1 || Number(day) > 31) return undefined;
  return { month: at + 1, day: Number(day), ...(year === undefined ? {} : { year: Number(year) }) };
};
