/**
 * One look over a text for all that begins in a known way. Each beginning is told by two characters of it that are rare side by side;
 * only where these stand is looked more closely. So a character costs one look into a table, and no rule looks twice at a run.
 */

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

const CODES = 128;

/** All that is not ASCII is one. */
const codeAt = (text: string, index: number): number => {
  const unit = text.charCodeAt(index);
  return unit < CODES ? unit : 0;
};

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

export const makeScanner = (rules: readonly Rule[], hints: readonly Hint[]): ((text: string) => Scanned) => {
  /** One bit for each pair. */
  const isPair = new Uint8Array((CODES * CODES) / 8);
  const byPair = new Map<number, Compiled[]>();
  const add = (tells: string, back: number, source: string, shown: Rule["shown"] | undefined): void => {
    const at = rarestPair(tells);
    const pair = codeAt(tells, at) * CODES + codeAt(tells, at + 1);
    const pattern = new RegExp(source, "y");
    const compiled = { tells, toTells: at + 1, toStart: at + 1 + back, pattern, shown };
    isPair[pair >> 3] = (isPair[pair >> 3] as number) | (1 << (pair & 7));
    byPair.set(pair, [...(byPair.get(pair) ?? []), compiled]);
  };
  for (const { tells, back = 0, match, shown } of rules) add(tells, back, match, shown);
  for (const [tells, then] of hints) add(tells, 0, escaped(tells) + then, undefined);

  return (text) => {
    let out = "";
    let done = 0;
    let hinted = false;
    let before = 0;
    /** The place at which each rule may look again. */
    let passed: Map<Compiled, number> | undefined;

    for (let index = 0; index < text.length; index += 1) {
      const code = codeAt(text, index);
      const pair = before * CODES + code;
      before = code;
      if ((((isPair[pair >> 3] as number) >> (pair & 7)) & 1) === 0) continue;
      for (const rule of byPair.get(pair) as Compiled[]) {
        const start = index - rule.toStart;
        if (start < done || !text.startsWith(rule.tells, index - rule.toTells)) continue;
        if (rule.shown === undefined ? hinted : (passed?.get(rule) ?? 0) > start) continue;
        rule.pattern.lastIndex = start;
        const match = rule.pattern.exec(text)?.[0];
        if (match === undefined) continue;
        const end = start + match.length;
        if (rule.shown === undefined) {
          hinted = true;
          continue;
        }
        const shown = rule.shown(match);
        if (shown === undefined) {
          passed ??= new Map();
          passed.set(rule, end);
          continue;
        }
        out += text.slice(done, start) + shown;
        done = end;
        index = Math.max(index, end - 1);
        before = 0;
        break;
      }
    }
    return { text: done === 0 ? text : out + text.slice(done), hinted };
  };
};
