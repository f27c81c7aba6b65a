/**
 * `npm run sim`: fleets from one seed on, until the time is over. `--seed S --steps N` runs one; what fails is shrunk and
 * printed with the command that shows it again; `--keep` adds it to seeds.txt.
 */
import { appendFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { figure } from "../support/figures.ts";
import { Coverage, PAIRS } from "./coverage.ts";
import { SEEDS_FILE, STEPS } from "./seeds.ts";
import { commandOf, shrink, simulate } from "./simulate.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    steps: { type: "string", default: String(STEPS) },
    seconds: { type: "string" },
    without: { type: "string", default: "" },
    keep: { type: "boolean", default: false },
  },
});

const first = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
/** A given seed is run alone, unless a time is given too. */
const seconds = Number(values.seconds ?? (values.seed === undefined ? 60 : 0));
const steps = Number(values.steps);
const without = values.without === "" ? [] : values.without.split(",");
const coverage = new Coverage();
const began = performance.now();
const total = { seeds: 0, inputs: 0, faults: 0, hours: 0, failed: 0 };

for (let seed = first; seed === first || performance.now() - began < seconds * 1_000; seed++) {
  const outcome = simulate({ seed, steps, without }, coverage);
  total.seeds++;
  total.inputs += outcome.inputs;
  total.faults += outcome.faults;
  total.hours += outcome.hours;
  if (outcome.failure === undefined) continue;
  total.failed++;
  const small = shrink(outcome);
  process.stdout.write(`FAILED ${small.failure}\n  ${commandOf(small.scenario)}\n`);
  if (values.keep)
    appendFileSync(
      SEEDS_FILE,
      `${small.scenario.seed} ${small.scenario.steps} ${small.scenario.without.join(",") || "-"} ${small.failure?.split("\n", 1)[0]}\n`,
    );
}

const minutes = (performance.now() - began) / 60_000;
const rate = (value: number): string => Math.round(value / minutes).toLocaleString("en");
process.stdout.write(
  `seeds ${total.seeds} from ${first}, inputs ${total.inputs} (${rate(total.inputs)} a minute), simulated hours ${Math.round(total.hours)} (${rate(total.hours)} a minute), faults a simulated minute ${(total.faults / total.hours / 60).toFixed(2)}, pairs reached ${PAIRS.length - coverage.missing().length} of ${PAIRS.length}, failed ${total.failed}\n`,
);
for (const pair of total.seeds > 1 ? coverage.missing() : [])
  process.stdout.write(`  not reached: ${pair}\n`);
figure("R4", {
  rounds: total.seeds,
  failures: total.failed,
  note: "fleets of the simulator, from fresh seeds",
});
process.exit(total.failed === 0 ? 0 : 1);
