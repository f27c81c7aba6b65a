/** Lists of facts, and the age of an event. */
import { type Paint, table } from "./terminal.ts";
import { duration } from "./units.ts";

export const age = (from: string | null, now: number): string =>
  from === null ? "–" : duration(Math.max(0, now - Date.parse(from)));

export const pairs = (
  paint: Paint,
  rows: readonly (readonly [string, string | null | undefined])[],
): string =>
  table(
    rows
      .filter((row): row is readonly [string, string] => Boolean(row[1]))
      .map(([key, value]) => [paint("dim", key), value]),
  );
