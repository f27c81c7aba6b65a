/** What may reach a terminal: colours of our own where they are wanted, and no control character of an agent, ever. */

export type Tone = "plain" | "dim" | "bold" | "good" | "warn" | "bad" | "name";
export type Paint = (tone: Tone, text: string) => string;

const SGR: Readonly<Record<Tone, string>> = {
  plain: "",
  dim: "2",
  bold: "1",
  good: "32",
  warn: "33",
  bad: "31",
  name: "36",
};

export const plainPaint: Paint = (_tone, text) => text;
export const colourPaint: Paint = (tone, text) =>
  tone === "plain" || text === "" ? text : `\x1b[${SGR[tone]}m${text}\x1b[0m`;

/** CSI and OSC sequences whole; what is left of other controls is shown as its picture (U+2400…), never passed on. */
const SEQUENCES = /\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)/g;
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

const picture = (char: string): string => {
  const code = char.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "\u2421" : "\ufffd";
};

/** Text of an agent made harmless for a terminal. Line ends and tabs stay; CR LF becomes LF. */
export const neutralise = (text: string): string =>
  text.replace(/\r\n/g, "\n").replace(SEQUENCES, "").replace(CONTROLS, picture);

/** The same on one line, at most `max` characters. */
export const oneLine = (text: string, max = 120): string => {
  const line = neutralise(text).replace(/\s+/g, " ").trim();
  const points = [...line.slice(0, max * 2 + 2)];
  return points.length > max ? `${points.slice(0, max - 1).join("")}…` : line;
};

const COLUMN_WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const ZERO_WIDTH = /\p{Mn}|\p{Me}|\u200d|\ufe0f/u;

/** Columns that a text takes, colours not counted. */
export const width = (text: string): number => {
  let columns = 0;
  for (const char of text.replace(SEQUENCES, ""))
    columns += ZERO_WIDTH.test(char) ? 0 : COLUMN_WIDE.test(char) ? 2 : 1;
  return columns;
};

export const pad = (text: string, columns: number): string =>
  text + " ".repeat(Math.max(0, columns - width(text)));

/** One of our colours, or one character. */
const PIECES = /\x1b\[\d*m|./gsu;

/** The beginning of a text that takes at most so many columns; colours are not counted, and end with it. */
export const cut = (text: string, columns: number): string => {
  if (width(text) <= columns) return text;
  let taken = "";
  let used = 0;
  for (const [piece] of text.matchAll(PIECES)) {
    used += width(piece);
    if (used >= columns) break;
    taken += piece;
  }
  return `${taken.trimEnd()}…${taken.includes("\x1b") ? "\x1b[0m" : ""}`;
};

/** Less of a column says nothing. */
const LAST_MIN_COLUMNS = 12;

/**
 * Columns two spaces apart; no trailing spaces. Where `fit` is given, the last column, which has no colours, is cut
 * there, and left off where too little of it would be seen.
 */
export const table = (rows: readonly (readonly string[])[], fit = Number.POSITIVE_INFINITY): string => {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => width(row[column] ?? ""))),
  );
  const room = fit - widths.slice(0, -1).reduce((sum, each) => sum + each + 2, 0);
  const isLast = (column: number): boolean => column === columns - 1;
  return rows
    .map((row) =>
      row
        .filter((_, column) => !isLast(column) || room >= Math.min(LAST_MIN_COLUMNS, widths[column]!))
        .map((cell, column) => (isLast(column) ? cut(cell, room) : pad(cell, widths[column]!)))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
};
