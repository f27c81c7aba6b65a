/** The protocol of leases and terms under faults; and mistakes in it, each of which the same checks must find. */
import { describe, expect, it } from "vitest";
import { MISTAKES, type Mistake } from "./model/mistakes.ts";
import { torment } from "./model/nemesis.ts";

const FAULTS = 1_000;
const SEED = 1;
/** A mistake needs its bad luck: some seeds have none of it. */
const SEEDS_MAX = 40;

describe("a cluster under 1,000 faults from one seed", () => {
  const { faults, violations, starts } = torment({ seed: SEED }, FAULTS);

  it("runs no worker twice, loses no acknowledged record, and lets tombstones win", () => {
    expect(violations).toEqual([]);
    expect(faults).toBe(FAULTS);
  });

  it("was really tormented: workers began again and again", () => {
    expect(starts).toBeGreaterThan(FAULTS / 4);
  });
});

/** The first violation that a mistake brings. */
const found = (mistake: Mistake): string | undefined => {
  for (let seed = SEED; seed < SEED + SEEDS_MAX; seed++) {
    const [violation] = torment({ seed, mistake }, FAULTS).violations;
    if (violation !== undefined) return violation;
  }
  return undefined;
};

describe("a mistake is found", () => {
  const brings: Readonly<Record<Mistake, RegExp>> = {
    no_for_share: /a record of w\d+ in term \d+ came after term \d+ was claimed/,
    late_renew: /started under term \d+ beside one/,
    skipped_sweep: /started under term \d+ beside one/,
    stale_start: /started under term \d+ beside one/,
    no_guard: /started under term \d+ beside one/,
    blind_burial: /started under term \d+ beside one/,
    late_release: /started under term \d+ beside one/,
    claim_over_tombstone: /undid its tombstone/,
    early_acknowledgement: /acknowledged record \d+ of n\d is lost/,
  };
  it.each(Object.entries(MISTAKES) as [Mistake, string][])("%s: %s", (mistake) => {
    expect(found(mistake)).toMatch(brings[mistake]);
  });
});
