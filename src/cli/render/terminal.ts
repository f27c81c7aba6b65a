/** Text that may reach a terminal: colours of our own where they are wanted, and no control character of an agent, ever. */

import stringWidth from "string-width";

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

/** Most texts are this: for them the tables of Unicode are not asked. */
const ASCII = /^[\x20-\x7e]*$/;

/** Columns that a text takes, colours not counted. */
export const width = (text: string): number => {
  const plain = text.replace(SEQUENCES, "");
  return ASCII.test(plain) ? plain.length : stringWidth(plain);
};

export const pad = (text: string, columns: number): string =>
  text + " ".repeat(Math.max(0, columns - width(text)));

/** Lines of whole words, of at most so many columns unless one word alone has more. */
export const wrap = (text: string, columns: number): readonly string[] => {
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`.trimStart();
    if (width(longer) > columns) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
};

/** Sentences as whole words in the width of a terminal; a line that is indented goes on so. Without a terminal they stay as they are. */
export const wrapLines = (text: string, columns: number | undefined): string =>
  columns === undefined
    ? text
    : text
        .split("\n")
        .map((line) => {
          const indent = /^ */.exec(line)![0];
          return wrap(line.slice(indent.length), columns - indent.length)
            .map((part) => indent + part)
            .join("\n");
        })
        .join("\n");

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });
const COLOUR = /(\x1b\[\d*m)/;

/** Colours whole, and what a person sees as one character: an emoji of several code points takes its columns at once. */
const piecesOf = (text: string): readonly string[] =>
  text
    .split(COLOUR)
    .flatMap((part) =>
      COLOUR.test(part) ? [part] : [...graphemes.segment(part)].map(({ segment }) => segment),
    );

/** The beginning of a text that takes at most so many columns; colours are not counted, and end with it. */
export const cut = (text: string, columns: number): string => {
  if (width(text) <= columns) return text;
  let taken = "";
  let used = 0;
  for (const piece of piecesOf(text)) {
    used += width(piece);
    if (used >= columns) break;
    taken += piece;
  }
  return `${taken.trimEnd()}…${taken.includes("\x1b") ? "\x1b[0m" : ""}`;
};

/** Less of a column says nothing. */
const LAST_MIN_COLUMNS = 12;
const COLUMN_MIN_COLUMNS = 6;
const GAP = "  ";

export interface Layout {
  /** Columns of the terminal; undefined where there is none: nothing is cut. */
  readonly fit?: number | undefined;
  /** Headings of the columns that a narrow terminal does without, the first of them first. */
  readonly spare?: readonly string[];
}

const lengthOf = (widths: readonly number[]): number =>
  widths.reduce((sum, each) => sum + each, 0) + GAP.length * Math.max(0, widths.length - 1);

/** The widths in which a row has room: a long last column gives way first, then always the widest. */
const fitted = (widths: readonly number[], fit: number): readonly number[] => {
  const narrowed = [...widths];
  const last = narrowed.length - 1;
  while (lengthOf(narrowed) > fit) {
    const widest = narrowed[last]! > LAST_MIN_COLUMNS ? last : narrowed.indexOf(Math.max(...narrowed));
    if (narrowed[widest]! <= COLUMN_MIN_COLUMNS) return narrowed;
    narrowed[widest]! -= 1;
  }
  return narrowed;
};

/**
 * Columns two spaces apart; no trailing spaces. The first row is the head. If they do not fit, the last column is cut; then
 * the spare columns are left off until the rest fits, or, of a table that has none, the last one; what is still too wide is cut.
 */
export const table = (rows: readonly (readonly string[])[], layout: Layout = {}): string => {
  const { fit = Number.POSITIVE_INFINITY, spare = [] } = layout;
  const [head = []] = rows;
  const widthOf = (column: number): number => Math.max(...rows.map((row) => width(row[column] ?? "")));
  /** The width of the columns where a last one of the head is cut as far as it may be. */
  const least = (shown: readonly number[]): number =>
    lengthOf(
      shown.map((column) => Math.min(widthOf(column), column === head.length - 1 ? LAST_MIN_COLUMNS : fit)),
    );
  let columns: readonly number[] = head.map((_, column) => column);
  for (const heading of spare) {
    if (least(columns) <= fit) break;
    columns = columns.filter((column) => neutralise(head[column]!) !== heading);
  }
  if (spare.length === 0 && least(columns) > fit) columns = columns.slice(0, -1);
  const widths = fitted(columns.map(widthOf), fit);
  return rows
    .map((row) =>
      columns
        .map((column, at) => pad(cut(row[column] ?? "", widths[at]!), widths[at]!))
        .join(GAP)
        .trimEnd(),
    )
    .join("\n");
};
