/**
 * Which pieces of code become one file. A bundler puts modules that the same programs load into one piece, which makes hundreds
 * of small files where many programs share code. Joined, a program loads fewer files, and some code that it does not need.
 */

/** The price of a further file at the start of a program, as so many bytes of code. */
const FILE_COSTS_BYTES = 10_000;
/** One join makes no program load more than this in vain, whatever others gain. */
const VAIN_MAX_BYTES = 25_000;

export interface Piece {
  readonly name: string;
  readonly bytes: number;
  /** The pieces that it loads at once. */
  readonly imports: readonly string[];
  /** The packages that it loads from their own folders. */
  readonly packages: readonly string[];
  /** How much the start of the program that begins with this piece counts. Undefined for a piece that no program begins with. */
  readonly weight?: number | undefined;
}

interface Group {
  readonly bytes: number;
  readonly packages: string;
  /** For each program: whether it loads this group. */
  readonly loadedBy: readonly boolean[];
}

/** The name of a group for each piece that no program begins with. Groups do not load each other in a circle. */
export const joined = (pieces: readonly Piece[]): ReadonlyMap<string, string> => {
  const imports = new Map(pieces.map((piece) => [piece.name, new Set(piece.imports)]));
  const starts = pieces.filter(({ weight }) => weight !== undefined);
  const weights = starts.map(({ weight = 0 }) => weight);
  const loaded = starts.map(({ name }) => loadedFrom(name, imports));
  const shared = pieces.filter(({ weight }) => weight === undefined);
  const groups = new Map<string, Group>();
  for (const { name, bytes, packages } of shared) {
    const loadedBy = loaded.map((names) => names.has(name));
    groups.set(name, { bytes, packages: [...packages].sort().join(" "), loadedBy });
  }
  const groupOf = new Map(shared.map(({ name }) => [name, name]));
  for (;;) {
    const pair = bestPair(groups, weights, imports);
    if (pair === undefined) return groupOf;
    const [kept, gone] = pair;
    const [one, other] = [groups.get(kept)!, groups.get(gone)!];
    const loadedBy = one.loadedBy.map((isLoaded, program) => isLoaded || other.loadedBy[program]!);
    groups.set(kept, { ...one, bytes: one.bytes + other.bytes, loadedBy });
    groups.delete(gone);
    for (const [name, group] of groupOf) if (group === gone) groupOf.set(name, kept);
    joinImports(imports, kept, gone);
    for (const name of loadedFrom(kept, imports)) {
      const group = groups.get(name);
      if (group === undefined) continue;
      const also = group.loadedBy.map((isLoaded, program) => isLoaded || loadedBy[program]!);
      groups.set(name, { ...group, loadedBy: also });
    }
  }
};

type Imports = Map<string, Set<string>>;

const joinImports = (imports: Imports, kept: string, gone: string): void => {
  for (const name of imports.get(gone)!) imports.get(kept)!.add(name);
  imports.delete(gone);
  for (const names of imports.values()) if (names.delete(gone)) names.add(kept);
  imports.get(kept)!.delete(kept);
};

const loadedFrom = (name: string, imports: Imports): ReadonlySet<string> => {
  const loaded = new Set([name]);
  for (const each of loaded) for (const next of imports.get(each) ?? []) loaded.add(next);
  return loaded;
};

/** The two groups that save most as one file. Undefined: no two save anything. */
const bestPair = (
  groups: ReadonlyMap<string, Group>,
  weights: readonly number[],
  imports: Imports,
): readonly [string, string] | undefined => {
  let best: readonly [string, string] | undefined;
  let most = 0;
  const all = [...groups];
  const loaded = new Map([...imports.keys()].map((name) => [name, loadedFrom(name, imports)]));
  /** By way of a third: as one file they would be a circle. */
  const behind = (name: string): readonly Group[] =>
    [...loaded.get(name)!].flatMap((each) => groups.get(each) ?? []);
  const isBehind = (from: string, to: string): boolean =>
    [...imports.get(from)!].some((next) => next !== to && loaded.get(next)!.has(to));
  for (const [index, [left, one]] of all.entries())
    for (const [right, other] of all.slice(index + 1)) {
      // Somebody's bundler keeps the import of a package beside the one function that it wants.
      if (one.packages !== other.packages) continue;
      if (!one.loadedBy.some((isLoaded, program) => isLoaded && other.loadedBy[program])) continue;
      const saved = savedBy(behind(left), behind(right), weights);
      if (saved <= most || isBehind(left, right) || isBehind(right, left)) continue;
      best = [left, right];
      most = saved;
    }
  return best;
};

/** Bytes that programs save by a file less, without those that they load in vain. Each list begins with the group, and goes on with what it loads. */
const savedBy = (left: readonly Group[], right: readonly Group[], weights: readonly number[]): number => {
  let saved = 0;
  for (const [program, weight] of weights.entries()) {
    const [hasLeft, hasRight] = [left[0]!.loadedBy[program], right[0]!.loadedBy[program]];
    if (hasLeft && hasRight) saved += weight * FILE_COSTS_BYTES;
    else if (hasLeft || hasRight) {
      const vain = bytesNew(hasLeft ? right : left, program);
      if (vain > VAIN_MAX_BYTES) return 0;
      saved -= weight * vain;
    }
  }
  return saved;
};

const bytesNew = (groups: readonly Group[], program: number): number =>
  groups.reduce((sum, { bytes, loadedBy }) => sum + (loadedBy[program] ? 0 : bytes), 0);
