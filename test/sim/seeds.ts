/** Seeds that CI runs every time: those that fill the table of pairs, and those that once failed. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Scenario } from "./simulate.ts";

/** Events of one fleet. */
export const STEPS = 2_000;
export const SEEDS_FILE = join(import.meta.dirname, "seeds.txt");

export const keptSeeds = (): readonly Scenario[] =>
  readFileSync(SEEDS_FILE, "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const [seed, steps, without = "-"] = line.split(" ");
      return { seed: Number(seed), steps: Number(steps), without: without === "-" ? [] : without.split(",") };
    });
