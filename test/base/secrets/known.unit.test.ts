/** The search for known values is the same as one regular expression over all their spellings, which looks at every character. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KNOWN_SECRET_MIN_CHARS } from "../../../src/base/limits.ts";
import { COPY_UNITS } from "../../../src/base/secrets/copied.ts";
import { makeFinder } from "../../../src/base/secrets/finder.ts";
import { knownSecrets, spellingsOf } from "../../../src/base/secrets/known.ts";
import { escaped } from "../../../src/base/secrets/scan.ts";

/** All spellings that are looked for. */
const partsOf = (secrets: readonly string[]): readonly string[] =>
  secrets
    .flatMap((secret) => [secret, ...secret.split(/\r?\n/)])
    .filter((part) => part.length >= KNOWN_SECRET_MIN_CHARS)
    .flatMap(spellingsOf);

const unfiltered = (secrets: readonly string[], text: string): string => {
  const longestFirst = [...new Set(partsOf(secrets))].sort((a, b) => b.length - a.length);
  if (longestFirst.length === 0) return text;
  return text.replace(new RegExp(longestFirst.map(escaped).join("|"), "g"), "***");
};

const UNITS = ["a", "b", "7", "K", "/", "+", '"', "\\", "\n", " ", "é", "日", "š", "🦊", "\0", "\ud800"];
const secret = fc.oneof(
  fc.string({ minLength: 1, maxLength: 40 }),
  fc.string({ minLength: 1, maxLength: 120, unit: "binary" }),
  fc.string({ minLength: 4, maxLength: 24, unit: fc.constantFrom(...UNITS) }),
);
const between = fc.oneof(
  fc.string({ maxLength: 300 }),
  fc.string({ maxLength: 60, unit: "binary" }),
  fc.string({ maxLength: 300, unit: fc.constantFrom(...UNITS) }),
);

/** Texts with spellings of the secrets in them, whole, without their first or their last characters, and side by side. */
const cases = fc
  .tuple(
    fc.array(secret, { minLength: 1, maxLength: 4 }),
    fc.array(fc.nat(), { maxLength: 6 }),
    fc.infiniteStream(between),
  )
  .map(([secrets, picks, texts]) => {
    const parts = partsOf(secrets);
    const next = (): string => texts.next().value as string;
    const embedded = picks.map((pick) => {
      const part = parts.length === 0 ? "" : (parts[pick % parts.length] as string);
      return (
        [part, part.slice(1), part.slice(0, -1), part + part.slice(0, 3)][pick % 4] +
        (pick % 3 === 0 ? "" : next())
      );
    });
    return { secrets, text: next() + embedded.join("") };
  });

describe("known values", () => {
  it("are masked as without the search before", () => {
    fc.assert(
      fc.property(cases, ({ secrets, text }) => {
        const known = knownSecrets(secrets, "***");
        expect(known?.mask(text) ?? text).toBe(unfiltered(secrets, text));
      }),
      { numRuns: 1_000 },
    );
  });

  it("are found in each spelling at each place, in short texts, in copies and where two copies meet", () => {
    const secrets = [
      'p"w\\é-7!',
      "Correct-Horse-7!",
      `sk-${"aB3dE5gH7j".repeat(9)}`,
      `${"k".repeat(64)}\n${"l/".repeat(30)}`,
    ];
    const holdsOne = makeFinder(partsOf(secrets));
    for (const part of partsOf(secrets)) {
      for (let before = 0; before < 70; before += 1) {
        expect(holdsOne(`${"·".repeat(before)}${part}`)).toBe(true);
        expect(holdsOne(`${"x".repeat(before)}${part}${"y".repeat(130)}`)).toBe(true);
      }
      for (const before of [-part.length, 1 - part.length, -4, -3, -1, 0, 1])
        expect(holdsOne(`${"x".repeat(COPY_UNITS + before)}${part}${"y".repeat(200)}`)).toBe(true);
    }
  });

  it("are told from texts with the same low bytes and the same beginnings", () => {
    const holdsOne = makeFinder(["Correct-Horse-7!"]);
    const shifted = [..."Correct-Horse-7!"]
      .map((char) => String.fromCharCode(char.charCodeAt(0) + 0x100))
      .join("");
    for (const text of [shifted, shifted.repeat(20), "Correct-Horse-7".repeat(20), "orrect-Horse-7!"])
      expect(holdsOne(text)).toBe(false);
  });

  it("are found where most of many parts are long and a few are short", () => {
    const long = Array.from({ length: 300 }, (_, n) => `${n}`.padStart(4, "0").repeat(16));
    const holdsOne = makeFinder([...long, "hunter"]);
    for (const part of [...long, "hunter"]) expect(holdsOne(`some text ${part} and more`)).toBe(true);
    expect(holdsOne("some text 0001 and hunte r")).toBe(false);
  });
});
