/** The text of a search: words, phrases in double quotes, and beginnings of words with a star at their end. Pure. */

const WORD = /[\p{L}\p{N}]/u;
/** A star after one letter or digit: too many words begin so. */
const SHORT_BEGINNING = /(^|[^\p{L}\p{N}])[\p{L}\p{N}]"?\*/u;

/** Undefined where it can be searched for. */
export const searchProblem = (text: string): string | undefined => {
  if (!WORD.test(text)) return "there is no word in it: a word has letters or digits";
  return SHORT_BEGINNING.test(text)
    ? "a beginning of a word has at least two letters or digits before its star"
    : undefined;
};
