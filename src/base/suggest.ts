/** The nearest of some words to a mistyped one, by edit distance with swaps (optimal string alignment). */

const distance = (a: string, b: string): number => {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replace = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      let best = Math.min(replace, last[j]! + 1, row[j - 1]! + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, before[j - 2]! + 1);
      row.push(best);
    }
    before = last;
    last = row;
  }
  return last[b.length]!;
};

/**
 * The candidate with the fewest edits; undefined if none is near. Allowed are one edit for up to five letters, two for up to
 * nine, three beyond, and `slack` more. One or two letters match only candidates that begin with them. Among equals the
 * longest wins, since people omit letters more often than they add them.
 */
export const nearest = (word: string, candidates: readonly string[], slack = 0): string | undefined => {
  const typed = word.toLowerCase().slice(0, 64);
  const bound = slack + (typed.length <= 5 ? 1 : typed.length <= 9 ? 2 : 3);
  let found: { name: string; edits: number } | undefined;
  for (const name of candidates) {
    const edits = typed.length >= 3 && name.startsWith(typed) ? 1 : distance(typed, name.toLowerCase());
    if (
      edits <= bound &&
      (typed.length > 2 || name.toLowerCase().startsWith(typed.charAt(0))) &&
      edits < name.length &&
      (found === undefined ||
        edits < found.edits ||
        (edits === found.edits && name.length > found.name.length))
    )
      found = { name, edits };
  }
  return found?.name;
};

/** Shorter words have too many neighbours for certainty. */
const CERTAIN_MIN_LETTERS = 4;

/** The only candidate that can be meant: one edit away, and no other within two. */
export const certainly = (word: string, candidates: readonly string[]): string | undefined => {
  if (word.length < CERTAIN_MIN_LETTERS || word.length > 64) return undefined;
  const near = candidates
    .map((name) => ({ name, edits: distance(word.toLowerCase(), name) }))
    .filter(({ edits }) => edits <= 2);
  return near.length === 1 && near[0]!.edits <= 1 ? near[0]!.name : undefined;
};

/** Words of docker and systemd for the restart policies. */
const CALLED_ELSEWHERE: Readonly<Record<string, string>> = {
  always: "permanent",
  "unless-stopped": "permanent",
  "on-failure": "transient",
  no: "temporary",
};

/** The candidate for another tool's word. The word may end in a count, as in `on-failure:5`. */
const translated = (word: string, candidates: readonly string[]): string | undefined => {
  const [name = ""] = word.split(":");
  const meant = Object.hasOwn(CALLED_ELSEWHERE, name) ? CALLED_ELSEWHERE[name]! : "";
  return candidates.includes(meant) ? meant : undefined;
};

/** `; did you mean X?`, or nothing. */
export const didYouMean = (word: string, candidates: readonly string[], prefix = ""): string => {
  const name = translated(word, candidates) ?? nearest(word, candidates);
  return name === undefined ? "" : `; did you mean ${prefix}${name}?`;
};
