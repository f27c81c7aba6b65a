/**
 * `npm run soak -- --minutes M`: rounds of starts, ends, restarts, kills and watchers on one daemon (R39). Each half minute its
 * memory after a garbage collection, its descriptors and what keeps its event loop are looked at; a line is fitted through
 * what follows the first third, and the exit code is 1 where one rises by more than noise may make it.
 */
import { parseArgs } from "node:util";
import { lineThrough } from "../../bench/inspect.ts";
import { startDaemon } from "../../bench/support.ts";
import { figure } from "../support/figures.ts";
import { runRound, type Sample, takeSample, WORKERS_A_ROUND } from "./round.ts";

const SAMPLE_EVERY_MS = 30_000;
/**
 * A rise of less than this, over all that is counted, is none. Memory that rises in a sound daemon: the newest lines, until there are
 * RECENT_LINES_MAX_RECORDS of them, and compiled code, as ever more functions become hot.
 */
const RISE_MAX = { rss_kb: 8 * 1024, heap_kb: 4 * 1024, files: 4, resources: 4 } as const;
const UNITS = {
  rss_kb: "KB of RSS",
  heap_kb: "KB of heap",
  files: "descriptors",
  resources: "resources",
} as const;
/** Standard errors of the slope that are noise. */
const NOISE = 2;
const PORT = 9_000 + (process.pid % 1_000);

const { values } = parseArgs({ options: { minutes: { type: "string", default: "30" } } });
const minutes = Number(values.minutes);
if (!(minutes >= 2)) {
  process.stderr.write("--minutes is a number of minutes, at least 2.\n");
  process.exit(3);
}

const daemon = await startDaemon({}, [`--inspect=127.0.0.1:${PORT}`]);
const startedAt = performance.now();
const hours = (): number => (performance.now() - startedAt) / 3_600_000;
const samples: { readonly at: number; readonly sample: Sample }[] = [];
let rounds = 0;
let sampledAt = Number.NEGATIVE_INFINITY;
while (hours() * 60 < minutes) {
  await runRound(daemon);
  rounds += 1;
  if (performance.now() - sampledAt < SAMPLE_EVERY_MS) continue;
  sampledAt = performance.now();
  const sample = await takeSample(daemon, PORT);
  samples.push({ at: hours(), sample });
  process.stdout.write(
    `${(hours() * 60).toFixed(1)} min, ${rounds * WORKERS_A_ROUND} workers: ${(sample.rss_kb / 1024).toFixed(1)} MB RSS, ${(sample.heap_kb / 1024).toFixed(1)} MB heap, ${sample.files} descriptors, ${sample.resources} resources\n`,
  );
}
await daemon.stop();

const counted = samples.filter(({ at }) => at * 60 > minutes / 3);
const rising: string[] = [];
const slopes: string[] = [];
for (const what of Object.keys(RISE_MAX) as (keyof typeof RISE_MAX)[]) {
  const { slope, error } = lineThrough(counted.map(({ at, sample }) => [at, sample[what]] as const));
  const counts_hours = (counted.at(-1)?.at ?? 0) - (counted[0]?.at ?? 0);
  const told = `${slope.toFixed(1)} ± ${(NOISE * error).toFixed(1)} ${UNITS[what]} an hour`;
  slopes.push(told);
  if (!((slope - NOISE * error) * counts_hours <= RISE_MAX[what])) rising.push(told);
}
figure("R39", {
  rounds: rounds * WORKERS_A_ROUND,
  failures: rising.length,
  note: `${minutes} minutes of starts, ends, restarts and kills: ${slopes.join(", ")}`,
});
process.stdout.write(`${rounds * WORKERS_A_ROUND} workers in ${rounds} rounds: ${slopes.join(", ")}\n`);
process.stdout.write(
  rising.length === 0 ? "ok: nothing rises\n" : `FAILED: it rises: ${rising.join(", ")}\n`,
);
process.exit(rising.length === 0 ? 0 : 1);
