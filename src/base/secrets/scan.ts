/**
 * Scans a text once for all secrets with a known beginning. Each beginning has two characters that are rare side by side;
 * the rule is tried only where these two stand. So a character costs one table lookup, and no rule reads the same run twice.
 */

import { copied, copyFrom } from "./copied.ts";

export interface SecretRule {
  /** Literal text that each match contains. */
  readonly tells: string;
  /** The match begins this many characters before `tells`. */
  readonly back?: number;
  /** The regular expression of the match, from its beginning. */
  readonly match: string;
  /** The replacement. Undefined leaves the match as it is, and this rule does not search in it again. */
  readonly shown: (match: string) => string | undefined;
}

export interface ScanResult {
  readonly text: string;
  /** A rule that masks nothing (a hint) has matched. */
  readonly hinted: boolean;
}

/** A rule that masks nothing and only reports a match. */
export type Hint = readonly [tells: string, then: string];

export const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");

const BYTES = 256;

const isRare = (char: string): boolean => /[^a-z]|[jkqvwxz]/.test(char);
const commonness = (pair: string): number => [...pair].reduce((sum, char) => sum + (isRare(char) ? 1 : 4), 0);

/** The index of the second character of the pair that is the rarest side by side. */
const rarestPair = (text: string): number => {
  let best = 0;
  for (let at = 1; at + 1 < text.length; at += 1)
    if (commonness(text.slice(at, at + 2)) < commonness(text.slice(best, best + 2))) best = at;
  return best;
};

interface CompiledRule {
  readonly tells: string;
  /** Characters from behind the pair back to the beginning of `tells`, and back to the beginning of the match. */
  readonly toTells: number;
  readonly toStart: number;
  readonly source: string;
  /** Made when it is needed first: a command that starts reads few texts, and no secrets. */
  pattern?: RegExp;
  readonly shown: SecretRule["shown"] | undefined;
}

const patternOf = (rule: CompiledRule): RegExp => {
  rule.pattern ??= new RegExp(rule.source, "y");
  return rule.pattern;
};

/** The index of the second byte of the next known pair, or the end. */
const pairAt = (isPair: Int32Array, from: number, end: number): number => {
  let before = copied[from - 1] as number;
  for (let at = from; at < end; at += 1) {
    const pair = (before << 8) | (copied[at] as number);
    before = pair & 0xff;
    if ((((isPair[pair >> 5] as number) >> (pair & 31)) & 1) !== 0) return at;
  }
  return end;
};

export const makeScanner = (
  rules: readonly SecretRule[],
  hints: readonly Hint[],
): ((text: string) => ScanResult) => {
  /** One bit for each pair of bytes. */
  const isPair = new Int32Array((BYTES * BYTES) / 32);
  const byPair = new Map<number, CompiledRule[]>();
  const add = (tells: string, back: number, source: string, shown: SecretRule["shown"] | undefined): void => {
    const at = rarestPair(tells);
    const pair = tells.charCodeAt(at) * BYTES + tells.charCodeAt(at + 1);
    const compiled = { tells, toTells: at + 1, toStart: at + 1 + back, source, shown };
    isPair[pair >> 5] = (isPair[pair >> 5] as number) | (1 << (pair & 31));
    byPair.set(pair, [...(byPair.get(pair) ?? []), compiled]);
  };
  for (const { tells, back = 0, match, shown } of rules) add(tells, back, match, shown);
  for (const [tells, then] of hints) add(tells, 0, escaped(tells) + then, undefined);

  return (text) => {
    let out = "";
    let done = 0;
    let hinted = false;
    /** For each rule, the index from which it may match again. */
    let passed: Map<CompiledRule, number> | undefined;
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
      for (const rule of byPair.get(pair) as CompiledRule[]) {
        const start = index - rule.toStart;
        if (start < done || !text.startsWith(rule.tells, index - rule.toTells)) continue;
        if (rule.shown === undefined ? hinted : (passed?.get(rule) ?? 0) > start) continue;
        const pattern = patternOf(rule);
        pattern.lastIndex = start;
        const match = pattern.exec(text)?.[0];
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
