/**
 * Seeds for seeds.txt that reach every pair of state and input, each pair by several of them, so that a change of the core
 * seldom leaves one unreached. `node test/sim/choose.ts [seconds]` prints the lines; run it when the table has a gap.
 */
import { Coverage, PAIRS } from "./coverage.ts";
import { STEPS } from "./seeds.ts";
import { simulate } from "./simulate.ts";

/** So many seeds reach each pair, where so many are found. */
const TIMES = 4;
const seconds = Number(process.argv[2] ?? 60);
const began = performance.now();
const reached = new Map<number, ReadonlySet<string>>();
for (let seed = 1; performance.now() - began < seconds * 1_000; seed++) {
  const coverage = new Coverage();
  if (simulate({ seed, steps: STEPS, without: [] }, coverage).failure === undefined)
    reached.set(seed, new Set(coverage.counts.keys()));
}

const left = new Map(PAIRS.map((pair) => [pair, TIMES]));
const gain = (pairs: ReadonlySet<string>): number =>
  [...pairs].reduce((sum, pair) => sum + Math.sign(left.get(pair) ?? 0), 0);
for (;;) {
  const [best] = [...reached].sort(([, one], [, other]) => gain(other) - gain(one));
  if (best === undefined || gain(best[1]) === 0) break;
  const [seed, pairs] = best;
  for (const pair of pairs) left.set(pair, Math.max(0, (left.get(pair) ?? 0) - 1));
  reached.delete(seed);
  process.stdout.write(`${seed} ${STEPS} - pairs\n`);
}
for (const [pair, times] of left)
  if (times > 0) process.stderr.write(`reached ${TIMES - times} times: ${pair}\n`);
