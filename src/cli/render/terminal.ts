/** Text that may reach a terminal: our own colours if wanted, and never a control character of an agent. */

import stringWidth from "fast-string-width";

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

/** Removes whole CSI and OSC sequences. A remaining control character is shown as its picture (U+2400…), never passed on. */
const SEQUENCES = /\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)/g;
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

const picture = (char: string): string => {
  const code = char.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "\u2421" : "\ufffd";
};

/** Makes an agent's text harmless for a terminal. Line ends and tabs stay; CR LF becomes LF. */
export const neutralise = (text: string): string =>
  text.replace(/\r\n/g, "\n").replace(SEQUENCES, "").replace(CONTROLS, picture);

/** Makes a text harmless as one line of at most `max` characters. */
export const oneLine = (text: string, max = 120): string => {
  const line = neutralise(text).replace(/\s+/g, " ").trim();
  const points = [...line.slice(0, max * 2 + 2)];
  return points.length > max ? `${points.slice(0, max - 1).join("")}…` : line;
};

/** A quick test that most texts pass: ASCII and the signs of our own tables. Only others need the tables of Unicode. */
const NARROW = /^[\x20-\x7e\u00b7\u2013\u2014\u2026\u25b8]*$/;

/** The columns of a text, without its colours. */
export const width = (text: string): number => {
  if (NARROW.test(text)) return text.length;
  const plain = text.replace(SEQUENCES, "");
  return NARROW.test(plain) ? plain.length : stringWidth(plain);
};

export const pad = (text: string, columns: number): string =>
  text + " ".repeat(Math.max(0, columns - width(text)));

/** Splits a text into lines of whole words. A line has at most this many columns, unless one word is longer. */
export const wrap = (text: string, columns: number): readonly string[] => {
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`.trimStart();
    if (width(longer) > columns) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
};

/** Wraps sentences to the width of a terminal, with the indentation of each line. Without a terminal the text stays as it is. */
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

let segmenter: Intl.Segmenter | undefined;
/** The segmenter, made when a text needs it: its tables take 20 ms to load, a third of the client's start. */
const graphemes = (): Intl.Segmenter => {
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  return segmenter;
};
const COLOUR = /(\x1b\[\d*m)/;

/** Splits a text into colours and visible characters: an emoji of several code points is one piece. */
const piecesOf = (text: string): readonly string[] =>
  text
    .split(COLOUR)
    .flatMap((part) =>
      COLOUR.test(part) ? [part] : [...graphemes().segment(part)].map(({ segment }) => segment),
    );

/** The beginning of a text within this many columns. Colours do not count, and are closed at its end. */
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

/** A narrower last column would say nothing. */
const LAST_MIN_COLUMNS = 12;
const COLUMN_MIN_COLUMNS = 6;
const GAP = "  ";

export interface TableLayout {
  /** Columns of the terminal; without one, nothing is cut. */
  readonly fit?: number | undefined;
  /** Headings of columns that a narrow terminal leaves out, in this order. */
  readonly spare?: readonly string[];
}

const lengthOf = (widths: readonly number[]): number =>
  widths.reduce((sum, each) => sum + each, 0) + GAP.length * Math.max(0, widths.length - 1);

/** The widths for a row: a long last column shrinks first, then always the widest. */
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
 * Columns two spaces apart, without trailing spaces. The first row is the head. If the table is too wide, the last column is
 * cut; then spare columns are left out one by one or, without spare columns, the last one; the rest is cut.
 */
export const table = (rows: readonly (readonly string[])[], layout: TableLayout = {}): string => {
  const { fit = Number.POSITIVE_INFINITY, spare = [] } = layout;
  const [head = []] = rows;
  const widthOf = (column: number): number => Math.max(...rows.map((row) => width(row[column] ?? "")));
  /** The width with the last column cut as far as possible. */
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
