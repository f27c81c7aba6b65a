/** Draws frames on the alternate screen of a terminal, and writes only the lines that differ. Pure. */

export const ENTER_SCREEN = "\x1b[?1049h\x1b[?25l\x1b[2J";
export const LEAVE_SCREEN = "\x1b[?25h\x1b[?1049l";

/** The bytes that turn one frame into the next; empty if they are equal. A frame of another size is drawn anew. */
export const drawn = (before: readonly string[], after: readonly string[]): string => {
  const isAnew = before.length !== after.length;
  const lines = after.flatMap((line, at) =>
    !isAnew && before[at] === line ? [] : [`\x1b[${at + 1};1H${line}\x1b[K`],
  );
  return `${isAnew && lines.length > 0 ? "\x1b[2J" : ""}${lines.join("")}`;
};
