/**
 * One look over a text for all that begins in a known way. Each beginning is told by two characters of it that are rare side by side;
 * only where these stand is looked more closely. So a character costs one look into a table, and no rule looks twice at a run.
 */

import { copied, copyFrom } from "./copied.ts";

export interface Rule {
  /** Text that a match has in it as it is written. */
  readonly tells: string;
  /** So many characters before it a match begins. */
  readonly back?: number;
  /** A source of a regular expression for the match, from its beginning on. */
  readonly match: string;
  /** Undefined leaves the match as it is, and nothing of it is looked through by this rule again. */
  readonly shown: (match: string) => string | undefined;
}

export interface Scanned {
  readonly text: string;
  /** A rule that masks nothing (a hint) has found something. */
  readonly hinted: boolean;
}

/** A rule that only tells that it was found. */
export type Hint = readonly [tells: string, then: string];

export const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");

const BYTES = 256;

const isRare = (char: string): boolean => /[^a-z]|[jkqvwxz]/.test(char);
const commonness = (pair: string): number => [...pair].reduce((sum, char) => sum + (isRare(char) ? 1 : 4), 0);

/** The place in a text where the two characters stand that are the rarest side by side. */
const rarestPair = (text: string): number => {
  let best = 0;
  for (let at = 1; at + 1 < text.length; at += 1)
    if (commonness(text.slice(at, at + 2)) < commonness(text.slice(best, best + 2))) best = at;
  return best;
};

interface Compiled {
  readonly tells: string;
  /** From the second character of the pair back to where it is told, and on to where the match begins. */
  readonly toTells: number;
  readonly toStart: number;
  readonly pattern: RegExp;
  readonly shown: Rule["shown"] | undefined;
}

/** The place of the second byte of the next pair that tells something, or the end. */
const pairAt = (isPair: Int32Array, from: number, end: number): number => {
  let before = copied[from - 1] as number;
  for (let at = from; at < end; at += 1) {
    const pair = (before << 8) | (copied[at] as number);
    before = pair & 0xff;
    if ((((isPair[pair >> 5] as number) >> (pair & 31)) & 1) !== 0) return at;
  }
  return end;
};

export const makeScanner = (rules: readonly Rule[], hints: readonly Hint[]): ((text: string) => Scanned) => {
  /** One bit for each pair. */
  const isPair = new Int32Array((BYTES * BYTES) / 32);
  const byPair = new Map<number, Compiled[]>();
  const add = (tells: string, back: number, source: string, shown: Rule["shown"] | undefined): void => {
    const at = rarestPair(tells);
    const pair = tells.charCodeAt(at) * BYTES + tells.charCodeAt(at + 1);
    const pattern = new RegExp(source, "y");
    const compiled = { tells, toTells: at + 1, toStart: at + 1 + back, pattern, shown };
    isPair[pair >> 5] = (isPair[pair >> 5] as number) | (1 << (pair & 31));
    byPair.set(pair, [...(byPair.get(pair) ?? []), compiled]);
  };
  for (const { tells, back = 0, match, shown } of rules) add(tells, back, match, shown);
  for (const [tells, then] of hints) add(tells, 0, escaped(tells) + then, undefined);

  return (text) => {
    let out = "";
    let done = 0;
    let hinted = false;
    /** The place at which each rule may look again. */
    let passed: Map<Compiled, number> | undefined;
    let from = 0;
    let end = 0;
    let index = 1;

    while (index < text.length) {
      if (index >= end) {
        from = index - 1;
        end = copyFrom(text, from);
      }
      index = from + pairAt(isPair, index - from, end - from);
      if (index === end) continue;
      const pair = (copied[index - from - 1] as number) * BYTES + (copied[index - from] as number);
      for (const rule of byPair.get(pair) as Compiled[]) {
        const start = index - rule.toStart;
        if (start < done || !text.startsWith(rule.tells, index - rule.toTells)) continue;
        if (rule.shown === undefined ? hinted : (passed?.get(rule) ?? 0) > start) continue;
        rule.pattern.lastIndex = start;
        const match = rule.pattern.exec(text)?.[0];
        if (match === undefined) continue;
        if (rule.shown === undefined) {
          hinted = true;
          continue;
        }
        const shown = rule.shown(match);
        if (shown === undefined) {
          passed ??= new Map();
          passed.set(rule, start + match.length);
          continue;
        }
        out += text.slice(done, start) + shown;
        done = start + match.length;
        index = Math.max(index, done - 1);
        break;
      }
      index += 1;
    }
    return { text: done === 0 ? text : out + text.slice(done), hinted };
  };
};
