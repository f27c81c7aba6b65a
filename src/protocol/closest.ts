/** The nearest of some known words to a mistyped one: for "did you mean". */

/** Undefined where more than a third of the letters would have to change. */
export const closest = (word: string, known: readonly string[]): string | undefined => {
  const allowed = Math.floor(word.length / 3);
  const ranked = known.map((candidate) => ({ candidate, edits: editDistance(word, candidate) }));
  const best = ranked.sort((a, b) => a.edits - b.edits)[0];
  return best !== undefined && best.edits <= allowed ? best.candidate : undefined;
};

/** Insertions, deletions and substitutions (Levenshtein), one row of the table at a time. */
const editDistance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(next[j - 1]! + 1, row[j]! + 1, change));
    }
    row = next;
  }
  return row[b.length]!;
};
