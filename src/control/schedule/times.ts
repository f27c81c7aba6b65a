/** The times of a schedule that have come since it was last looked at, in bounded work, however long nobody looked. Pure. */
import type { CronLine } from "../../base/cron.ts";
import { SCHEDULE_SPAN_MS } from "../../base/limits.ts";

export interface PassedTimes {
  /** The newest ones, oldest first, in epoch milliseconds. */
  readonly times: readonly number[];
  /** The first that has come. */
  readonly first: number;
  /** How many have come before `times`; null where they were not all looked up. */
  readonly before: number | null;
}

const timesIn = (cron: CronLine, from_ms: number, to_ms: number): readonly number[] => {
  const times: number[] = [];
  for (let at = cron.next(from_ms); at !== undefined && at <= to_ms; at = cron.next(at)) times.push(at);
  return times;
};

/**
 * The newest `wanted` times in (from, to]; undefined where none has come. It looks at a short span before `to` first, and at longer ones
 * until they hold enough: so it looks up at most four times as many as are wanted.
 */
export const passedTimes = (
  cron: CronLine,
  { from_ms, to_ms }: { readonly from_ms: number; readonly to_ms: number },
  wanted: number,
): PassedTimes | undefined => {
  const first = cron.next(from_ms);
  if (first === undefined || first > to_ms) return undefined;
  for (let span = SCHEDULE_SPAN_MS; ; span *= 4) {
    const begin = Math.max(from_ms, to_ms - span);
    const times = timesIn(cron, begin, to_ms);
    const isAll = begin === from_ms;
    if (isAll || times.length >= wanted)
      return {
        times: times.slice(-wanted),
        first,
        before: isAll ? Math.max(0, times.length - wanted) : null,
      };
  }
};
