/**
 * Boot after `kill -9` of the daemon: from the start of the next one's process to the last record of the boot. A hundred
 * agents that live are adopted; a thousand whose agents died meanwhile are settled, and one boot more writes nothing about them.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { figure } from "../test/support/figures.ts";
import {
  ascending,
  type BenchDaemon,
  command,
  ms,
  percentile,
  type Result,
  spawnSideBySide,
  startDaemon,
} from "./support.ts";

const ADOPTED = 100;
const SETTLED = 1_000;
const ROUNDS = 5;
const SLEEPER = command(["sleep", "1000000"]);

interface LogLine {
  readonly type: string;
  readonly recorded_at: string;
}

const records = async (daemon: BenchDaemon, types: readonly string[]): Promise<LogLine[]> => {
  const found: LogLine[] = [];
  await daemon.watch({ all: true, from: 0, follow: false, types }, (line) =>
    found.push((JSON.parse(line) as { data: LogLine }).data),
  );
  return found;
};

interface Boot {
  readonly daemon: BenchDaemon;
  /** From the start of its process to the last of the records that were waited for. */
  readonly took_ms: number;
}

const boot = async (dir: string, type: string, count: number): Promise<Boot> => {
  const startedAt = Date.now();
  const daemon = await startDaemon({}, [], dir);
  for (;;) {
    const told = await records(daemon, [type]);
    if (told.length >= count)
      return { daemon, took_ms: Date.parse(told.at(-1)?.recorded_at as string) - startedAt };
    await sleep(20);
  }
};

const adoption = async (): Promise<Result> => {
  let daemon = await startDaemon();
  await spawnSideBySide(daemon, ADOPTED, SLEEPER);
  const times: number[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    await daemon.kill9();
    const next = await boot(daemon.dir, "worker_adopted", ADOPTED * round);
    daemon = next.daemon;
    times.push(next.took_ms);
  }
  await daemon.stop();
  const sorted = ascending(times);
  const [p50, worst] = [percentile(sorted, 50), sorted.at(-1) as number];
  figure("R10", {
    rounds: ROUNDS,
    failures: times.filter((took) => took > 1_000).length,
    p50_ms: p50,
    p99_ms: worst,
    note: `kill -9 with ${ADOPTED} agents: start of the next daemon → all adopted and watched`,
  });
  return {
    name: `\`kill -9\` → next daemon's start → ${ADOPTED} agents adopted and watched`,
    measured: `best ${ms(sorted[0] as number)}, p50 ${ms(p50)}, worst ${ms(worst)} of ${ROUNDS}`,
    floor: "–",
    value: ms(p50),
    threshold: "p50 ≤ 1 s",
    ok: p50 <= 1_000,
  };
};

/** A boot writes one thing about itself: that it has begun. */
const OF_A_BOOT = 1;

const reconciliation = async (): Promise<Result> => {
  let daemon = await startDaemon();
  const pids = await spawnSideBySide(daemon, SETTLED, SLEEPER);
  await daemon.kill9();
  for (const pid of pids) process.kill(pid, "SIGKILL");
  await sleep(2_000);
  const settled = await boot(daemon.dir, "worker_ended", SETTLED);
  daemon = settled.daemon;
  const heads: number[] = [];
  for (let again = 0; again < 2; again += 1) {
    heads.push((await daemon.request<{ head: number }>("daemon/status", {})).head);
    await daemon.kill9();
    daemon = await startDaemon({}, [], daemon.dir);
  }
  heads.push((await daemon.request<{ head: number }>("daemon/status", {})).head);
  const written = (heads[2] as number) - (heads[1] as number) - OF_A_BOOT;
  await daemon.stop();
  figure("R11", {
    rounds: SETTLED,
    failures: written,
    p50_ms: settled.took_ms,
    note: `start of a daemon → ${SETTLED} recorded runs settled; the next boot writes ${written} records about them`,
  });
  return {
    name: `daemon's start → ${SETTLED} recorded runs settled whose agents died meanwhile`,
    measured: `${ms(settled.took_ms)}; the next boot writes ${written} records`,
    floor: "–",
    value: ms(settled.took_ms),
    threshold: "≤ 2 s, 0 records",
    ok: settled.took_ms <= 2_000 && written === 0,
  };
};

export const bootAdopt = async (): Promise<readonly Result[]> => [await adoption(), await reconciliation()];
