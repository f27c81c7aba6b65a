/** How many cases a fuzzer takes, and of which seed. */
import { full } from "../support/figures.ts";

const KEPT_SEED = 20_261_122;

/** The kept seed, or HOLDFAST_FUZZ_SEED; ten times as many under HOLDFAST_FULL=1. */
export const runs = (count: number) => ({
  numRuns: full ? count * 10 : count,
  seed: Number(process.env.HOLDFAST_FUZZ_SEED ?? KEPT_SEED),
});

/** For what hangs. */
export const FUZZ_MAX_MS = full ? 3_600_000 : 240_000;
