/** A text cut where its matches begin and end. Pure. */

export interface MarkedPart {
  readonly text: string;
  readonly isMatch: boolean;
}

/** `marks`: beginnings and ends in UTF-16 units, in the order of the text. One that overlaps the one before it is left out. */
export const markedParts = (
  text: string,
  marks: readonly (readonly [number, number])[],
): readonly MarkedPart[] => {
  const parts: MarkedPart[] = [];
  let at = 0;
  const add = (end: number, isMatch: boolean): void => {
    if (end > at) parts.push({ text: text.slice(at, end), isMatch });
    at = Math.max(at, end);
  };
  for (const [from, to] of marks) {
    if (from < at) continue;
    add(Math.min(from, text.length), false);
    add(Math.min(to, text.length), true);
  }
  add(text.length, false);
  return parts;
};
