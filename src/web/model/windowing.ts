/** The part of a long list that is drawn. Pure. */
import { WEB_OVERSCAN_ROWS } from "../../base/limits.ts";

export interface DrawnPart {
  readonly first: number;
  /** Behind the last one. */
  readonly end: number;
}

/** `top`: how far the list is scrolled; all in pixels. */
export const drawnPart = (count: number, row: number, top: number, height: number): DrawnPart => {
  const first = Math.max(0, Math.min(count, Math.floor(top / row)) - WEB_OVERSCAN_ROWS);
  const end = Math.min(count, Math.ceil((top + height) / row) + WEB_OVERSCAN_ROWS);
  return { first, end: Math.max(first, end) };
};

/** The scroll position at which a row is seen whole; the same one if it is. */
export const scrollFor = (index: number, row: number, top: number, height: number): number => {
  if (index * row < top) return index * row;
  const below = (index + 1) * row - height;
  return below > top ? below : top;
};
