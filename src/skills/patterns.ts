/**
 * Regular expressions from anybody. RE2 takes time in proportion to the text and to the size of its program, and a short
 * pattern can have a large program; so the size has a bound.
 */
import { RE2JS } from "re2js";
import { PATTERN_PROGRAM_MAX } from "../base/limits.ts";

/** Fails with an error whose message says why the pattern cannot be used. */
export const compilePattern = (text: string, flags = 0): RE2JS => {
  const pattern = RE2JS.compile(text, flags);
  if (pattern.programSize() <= PATTERN_PROGRAM_MAX) return pattern;
  throw new RangeError(`its program has more than ${PATTERN_PROGRAM_MAX} steps; repeat less in it`);
};
