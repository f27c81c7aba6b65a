/**
 * The words of a search, of a record, and of the excerpt in which they are marked. A word is a run of letters and digits,
 * without case and accents. Pure.
 */
import {
  SEARCH_EXCERPT_BEFORE_CHARS,
  SEARCH_EXCERPT_MAX_CHARS,
  SEARCH_TEXT_MAX_CHARS,
} from "../base/limits.ts";
import type { SearchMark } from "./search.ts";

/** Consecutive words. With `isBeginning`, the last one matches as a prefix. */
interface Phrase {
  readonly words: readonly string[];
  readonly isBeginning: boolean;
}

/** The same characters that the tokenizer `unicode61` of FTS5 accepts. */
const WORD = /[\p{L}\p{N}\p{Co}]+/gu;
/** How many characters of a text are searched at once for the first match. */
const LOOK_CHARS = 2_048;
const PIECE = /"([^"]*)"?(\*?)|(\S+)/g;

const folded = (word: string): string =>
  word
    .normalize("NFD")
    .replace(/\p{Mn}/gu, "")
    .toLowerCase();
const wordsIn = (text: string): readonly string[] => text.match(WORD) ?? [];

/** The phrases of a search; empty if it has neither letters nor digits. */
const phrasesOf = (text: string): readonly Phrase[] =>
  [...text.matchAll(PIECE)].flatMap(([, quoted, star, plain = ""]) => {
    const words = wordsIn(quoted ?? plain);
    const isBeginning = quoted === undefined ? plain.endsWith("*") : star === "*";
    return words.length === 0 ? [] : [{ words, isBeginning }];
  });

/** The search as a query of FTS5, for one column or all; undefined if it has no words. */
export const matchOf = (text: string, column?: string): string | undefined => {
  const phrases = phrasesOf(text).map(
    ({ words, isBeginning }) => `"${words.join(" ")}"${isBeginning ? "*" : ""}`,
  );
  if (phrases.length === 0) return undefined;
  return column === undefined ? phrases.join(" ") : `{${column}} : (${phrases.join(" AND ")})`;
};

/** The id of a worker, or the name of a type, as one word of the index. */
export const nameWord = (name: string): string => name.replace(/[^\p{L}\p{N}]/gu, "").toLowerCase();

/** Fields that only identify or count something, which nobody would search for. */
const UNSEARCHED =
  /^(id|kind|agent_kind|schema|clock|boot_id|type|channel|stream|at|ts|sha256|digest|signal|checksum|base64)$|_(id|ids|at|digest|sha256|kind)$/;

const gather = (value: unknown, texts: string[], chars: number): number => {
  if (chars >= SEARCH_TEXT_MAX_CHARS) return chars;
  if (typeof value === "string") {
    texts.push(
      chars + value.length > SEARCH_TEXT_MAX_CHARS ? value.slice(0, SEARCH_TEXT_MAX_CHARS - chars) : value,
    );
    return chars + value.length;
  }
  if (typeof value !== "object" || value === null) return chars;
  let sum = chars;
  for (const [key, part] of Object.entries(value))
    if (Array.isArray(value) || !UNSEARCHED.test(key)) sum = gather(part, texts, sum);
  return sum;
};

/** The text of a record's payload: its strings in order, at most SEARCH_TEXT_MAX_CHARS characters. */
export const textOf = (payload: unknown): string => {
  const texts: string[] = [];
  gather(payload, texts, 0);
  return texts.join("\n");
};

interface PlacedWord {
  readonly word: string;
  readonly from: number;
  readonly to: number;
}

const placedWords = (text: string, from: number, to: number): readonly PlacedWord[] =>
  [...text.slice(from, to).matchAll(WORD)].map(([word], at, all) => {
    const begin = from + (all[at]?.index ?? 0);
    return { word: folded(word), from: begin, to: begin + word.length };
  });

/** The places of all phrases in a part of a text. */
const marksIn = (words: readonly PlacedWord[], phrases: readonly Phrase[]): readonly SearchMark[] => {
  const wanted = phrases.map(({ words: of, isBeginning }) => ({ of: of.map(folded), isBeginning }));
  return words.flatMap(({ from, to }, at): readonly SearchMark[] => {
    const isMatch = wanted.some(({ of, isBeginning }) =>
      of.some((_, inPhrase) => {
        const first = at - inPhrase;
        return of.every((word, next) => {
          const there = words[first + next]?.word;
          const isLast = next === of.length - 1;
          return isLast && isBeginning ? there?.startsWith(word) === true : there === word;
        });
      }),
    );
    return isMatch ? [[from, to]] : [];
  });
};

/** All words of a search, as they are compared. */
export const wordsOfSearch = (search: string): readonly string[] =>
  phrasesOf(search).flatMap(({ words }) => words.map(folded));

/** True if a text has each phrase of a search. */
export const hasAll = (text: string, search: string): boolean => {
  const words = placedWords(text, 0, text.length);
  return phrasesOf(search).every((phrase) => marksIn(words, [phrase]).length > 0);
};

/** Joins marks with no space between them. */
const joined = (marks: readonly SearchMark[], text: string): readonly SearchMark[] => {
  const all: SearchMark[] = [];
  for (const [from, to] of marks) {
    const last = all.at(-1);
    if (last !== undefined && !/\s/.test(text.slice(last[1], from))) all[all.length - 1] = [last[0], to];
    else all.push([from, to]);
  }
  return all;
};

/** The place of the first match; 0 without one. A long text is searched in overlapping parts. */
const firstMatch = (text: string, phrases: readonly Phrase[]): number => {
  for (let from = 0; from < text.length; from += LOOK_CHARS / 2) {
    const [first] = marksIn(placedWords(text, from, from + LOOK_CHARS), phrases);
    if (first !== undefined) return first[0];
  }
  return 0;
};

/** The beginning of a word near a place. Does not cut a surrogate pair. */
const beginOf = (text: string, at: number): number => {
  if (at <= 0) return 0;
  const space = text.slice(at, at + SEARCH_EXCERPT_BEFORE_CHARS / 2).search(/\s/);
  return space >= 0 ? at + space + 1 : at + (isSecondHalf(text, at) ? 1 : 0);
};

/** True if the UTF-16 unit at a place is the second half of a character. */
const isSecondHalf = (text: string, at: number): boolean => (text.charCodeAt(at) & 0xfc00) === 0xdc00;

/** The part of a text around the first match, in one line, and the places of the words in it. */
export const excerptOf = (
  text: string,
  search: string,
): { readonly text: string; readonly marks: readonly SearchMark[] } => {
  const phrases = phrasesOf(search);
  const begin = beginOf(text, firstMatch(text, phrases) - SEARCH_EXCERPT_BEFORE_CHARS);
  const head = begin > 0 ? "…" : "";
  const last = Math.min(text.length, begin + SEARCH_EXCERPT_MAX_CHARS - 2);
  const end = last - (isSecondHalf(text, last) ? 1 : 0);
  const shift = head.length - begin;
  const marks = joined(marksIn(placedWords(text, begin, end), phrases), text);
  return {
    // Each space character becomes one blank, so that the places stay the same.
    text: `${head}${text.slice(begin, end).replace(/\s/g, " ")}${end < text.length ? "…" : ""}`,
    marks: marks.map(([from, to]) => [from + shift, to + shift]),
  };
};
