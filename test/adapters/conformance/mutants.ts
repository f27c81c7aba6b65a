/**
 * Runs that no CLI has printed so: what a recorded run looks like when it is cut, in another order, said twice, of a type of
 * tomorrow or of other types of values. All choices are by a seed, so that the same run has the same mutants each time.
 */
import type { Printed } from "./expected/printed.ts";
import { readLine } from "./expected/printed.ts";
import type { Recorded } from "./expected/readers.ts";

export interface Mutant {
  readonly name: string;
  readonly lines: readonly Printed[];
  /** The last line is cut: it has no end. */
  readonly torn?: true;
  /** Nothing that went well is told in it, whatever the exit. */
  readonly hopeless?: true;
  /** The run itself, and a line of a type of tomorrow. */
  readonly harmless?: true;
  /** Every line of the run, one of them twice. */
  readonly repeats?: true;
}

/** How many of each are made of one run. */
const TORN = 6;
const DROPPED = 6;
const SWAPPED = 8;
const DOUBLED = 8;
const INSERTED = 2;
const RETYPED = 16;
const REMOVED = 8;

const OTHER_VALUES: readonly unknown[] = [
  null,
  7,
  -1,
  1e300,
  true,
  false,
  "x",
  "",
  [],
  {},
  [null],
  { type: "text" },
];

/** Numbers from 0 to 1 (Park and Miller's minimal standard generator). */
export const seeded = (seed: number) => (): number => {
  seed = (seed * 48_271) % 2_147_483_647;
  return seed / 2_147_483_647;
};

export const seedOf = (name: string): number =>
  [...name].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) % 2_147_483_646, 7) + 1;

type Holder = Record<string, unknown>;

/** Every member of every object and list: the holder and its key. */
const membersOf = (value: unknown): readonly (readonly [Holder, string])[] =>
  typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([key, member]) => [
        [value as Holder, key] as const,
        ...membersOf(member),
      ])
    : [];

/** Members are laid over those of an object, at every depth. */
const overlaid = (value: object, over: object): object => {
  const all: Holder = { ...value };
  for (const [key, member] of Object.entries(over)) {
    const own = all[key];
    const both = typeof member === "object" && typeof own === "object" && own !== null;
    all[key] = both ? overlaid(own, member) : member;
  }
  return all;
};

const written = (value: unknown): Printed => readLine(JSON.stringify(value));

export const mutantsOf = (run: readonly Printed[], of: Recorded, random: () => number): readonly Mutant[] => {
  if (run.length === 0) return [];
  const index = (below: number): number => Math.floor(random() * below);
  const some = <T>(most: number, make: (at: number) => T): readonly T[] =>
    Array.from({ length: most }, () => make(index(run.length)));
  const without = (at: number): readonly Printed[] => run.toSpliced(at, 1);

  const torn = some(TORN, (at): Mutant => {
    const { text } = run[at]!;
    const piece = readLine(text.slice(0, index(text.length)));
    const lines = piece.text.trim() === "" ? run.slice(0, at) : [...run.slice(0, at), piece];
    return { name: `cut in line ${at} at ${piece.text.length}`, lines, torn: true };
  });
  const dropped = [run.length - 1, ...some(DROPPED, (at) => at)].map(
    (at): Mutant => ({ name: `without line ${at}`, lines: without(at) }),
  );
  const swapped = some(SWAPPED, (at): Mutant => {
    const next = Math.min(at + 1, run.length - 1);
    return { name: `lines ${at} and ${next} swapped`, lines: run.with(at, run[next]!).with(next, run[at]!) };
  });
  const doubled = [run.length - 1, ...some(DOUBLED, (at) => at)].map(
    (at): Mutant => ({ name: `line ${at} twice`, lines: run.toSpliced(at, 0, run[at]!), repeats: true }),
  );
  const inserted = some(
    INSERTED,
    (at): Mutant => ({
      name: `a type of tomorrow before line ${at}`,
      lines: run.toSpliced(at, 0, of.tomorrow),
      harmless: true,
    }),
  );
  const changed = (how: string, most: number, change: (holder: Holder, key: string) => void) =>
    some(most, (at): Mutant => {
      const value = structuredClone(run[at]!.value);
      const members = membersOf(value);
      const [holder, key] = members[index(members.length)] ?? [{}, ""];
      change(holder, key);
      return { name: `${how} ${key} of line ${at}`, lines: run.with(at, written(value ?? null)) };
    });
  const retyped = changed("another value for", RETYPED, (holder, key) => {
    holder[key] = OTHER_VALUES[index(OTHER_VALUES.length)];
  });
  const removed = changed("without", REMOVED, (holder, key) => {
    if (Array.isArray(holder)) holder.splice(Number(key), 1);
    else delete holder[key];
  });
  return [
    ...torn,
    ...dropped,
    ...swapped,
    ...doubled,
    ...inserted,
    ...retyped,
    ...removed,
    {
      name: "without any end of a turn",
      lines: run.filter(({ value }) => !of.isTerminal(value)),
      hopeless: true,
    },
    {
      name: "every end of a turn a bad one",
      lines: run.map((line) =>
        line.value !== undefined && of.isTerminal(line.value)
          ? written(overlaid(line.value, of.failing))
          : line,
      ),
      hopeless: true,
    },
  ];
};
