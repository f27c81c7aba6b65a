/** The texts that can be searched for. */
import { expect, it } from "vitest";
import { searchProblem } from "../../src/protocol/search-text.ts";

it.each(["a", "ab*", "a b", '"ab cd"*', "é1*", "2 * 3", "x-ab*"])("%s", (text) =>
  expect(searchProblem(text)).toBeUndefined(),
);

it.each([
  ["", "no word"],
  ["?! *", "no word"],
  ["a*", "two letters"],
  ["ab c*", "two letters"],
  ['"a"*', "two letters"],
  ["/x*", "two letters"],
])("%j is refused: %s", (text, words) => expect(searchProblem(text)).toContain(words));
