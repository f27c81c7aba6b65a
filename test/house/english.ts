/** The rule of the house for English: no sentence begins with Who, What, Of, Where or their like unless it is a question. Pure. */

export interface Hit {
  /** The index of its first word in the text. */
  readonly at: number;
  readonly sentence: string;
}

const WORDS = "(?:Who(?:ever)?|What(?:ever)?|Whichever|Wherever|Of|Where)\\b";
/** The end of the sentence before, or what stands before the first one of a line: a mark of a list, a heading, a quote or a cell. */
const AFTER_A_SENTENCE = "[.!?][)\"'`*_\\]]*\\s+";
const LINE_OF_PROSE = "^[ \\t]*(?:[-*>] +|\\d+\\. +|#+ +|\\| *)?|\\| +|\\*\\*";
const LINE_OF_COMMENT = "^[ \\t]*(?:\\/\\*\\*?|\\*|\\/\\/|#|--)[ \\t]+(?:- +)?|(?:\\/\\/|\\/\\*\\*?|\\*\\*) ";
const STRING = "[\"'`]";

const PROSE = new RegExp(`(?:${LINE_OF_PROSE}|${AFTER_A_SENTENCE})[*_"(]*(${WORDS})`, "gm");
const CODE = new RegExp(
  `(?:${LINE_OF_COMMENT}|${STRING}|${AFTER_A_SENTENCE}(?:\\* +|\\/\\/ +)?)[*_(]*(${WORDS})`,
  "gm",
);

/** A help text begins with a small letter. */
const HELP = /(?:\bhelp:|\.describe\()\s*["`]((?:who|what|of|where)\b)/g;

/** So does the title of a test; one that begins with `of` continues the title above it. */
const TITLE =
  /\b(?:it|test|describe)(?:\.\w+)*(?:\([^"`\n]*\))?\(\s*["`]((?:who|what|which|where)(?:ever)?\b)/g;

/** A sentence ends with its mark, and a heading, a cell, a text or a comment without one where it ends itself. */
const END_OF_PROSE = /[.!?](?=[)"'`*_\]]*(?:\s|$))|\n[ \t]*(?:\n|[-*>|#]|\d+\.)| \||$/;
const END_OF_CODE =
  /[.!?](?=[)"'`*_\]]*(?:\s|$|[)"'`,;]))|\*\/|["`][,;)]|"\s|\n[ \t]*(?![ \t/*#-])|\n[ \t]*\*?[ \t]*\n|$/;

/** Fenced blocks of a page, blank in their places. */
const withoutFences = (page: string): string =>
  page.replace(/^( *)```[\s\S]*?^\1```/gm, (block) => block.replace(/[^\n]/g, " "));

const find = (text: string, start: RegExp, end: RegExp): readonly Hit[] =>
  [...text.matchAll(start)].flatMap((match) => {
    const at = match.index + match[0].length - match[1]!.length;
    const rest = text.slice(at);
    const stop = end.exec(rest)!;
    const isMark = /^[.!?]$/.test(stop[0]);
    const sentence = rest.slice(0, stop.index + (isMark ? 1 : 0));
    return stop[0] === "?" ? [] : [{ at, sentence }];
  });

export const inPage = (page: string): readonly Hit[] => find(withoutFences(page), PROSE, END_OF_PROSE);
/** Comments and texts of a source, in any of our languages. */
export const inSource = (source: string): readonly Hit[] => [
  ...find(source, CODE, END_OF_CODE),
  ...find(source, HELP, END_OF_CODE),
  ...find(source, TITLE, END_OF_CODE),
];
