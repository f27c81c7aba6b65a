/** A hundred watchers that never read and an agent that floods: how much later another agent's lines arrive (R15, R18). The floor is the same without them. */
import { createConnection } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { figure } from "../test/support/figures.ts";
import { rssKb } from "./inspect.ts";
import { overHoldfast } from "./latency.ts";
import { ascending, type BenchDaemon, command, ms, percentile, type Result } from "./support.ts";

const STALLED = 100;
/** With and without them in turns: a p99 of one pass alone is that of twenty lines. */
const ROUNDS = 3;
/** More than is read in the time in which the other agent writes. */
const FLOOD_LINES = 1_000_000;

export const stalled = async (): Promise<Result> => {
  let rss_mb = 0;
  const disturb = async (daemon: BenchDaemon) => {
    const request = { version: 1, command: "agent/watch", data: { all: true, from: 0 }, meta: {} };
    const sockets = Array.from({ length: STALLED }, () => {
      const socket = createConnection(join(daemon.dir, "agent.sock"));
      socket.on("error", () => undefined).pause();
      socket.write(`${JSON.stringify(request)}\n`);
      return socket;
    });
    await daemon.request("agent/spawn", command(["seq", String(FLOOD_LINES)]));
    await sleep(1_000);
    return () => {
      rss_mb = Math.max(rss_mb, rssKb(daemon.pid) / 1024);
      for (const socket of sockets) socket.destroy();
    };
  };
  const without: number[] = [];
  const beside: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    without.push(...(await overHoldfast()));
    beside.push(...(await overHoldfast(disturb)));
  }
  const [floor, ours] = [ascending(without), ascending(beside)];
  const ratio = percentile(ours, 99) / percentile(floor, 99);
  const tell = (delays: readonly number[]) =>
    `p50 ${ms(percentile(delays, 50))}, p99 ${ms(percentile(delays, 99))}`;
  figure("R15", {
    rounds: ours.length,
    failures: Number(ratio > 2),
    p50_ms: percentile(ours, 50),
    p99_ms: percentile(ours, 99),
    note: `lines of an agent beside one that floods and ${STALLED} stalled watchers; ${ratio.toFixed(2)} times the p99 without them; RSS ${rss_mb.toFixed(0)} MB`,
  });
  return {
    name: `write in the child → record at a watcher, beside a flood and ${STALLED} stalled watchers`,
    floor: `without them: ${tell(floor)}`,
    measured: `${tell(ours)}, ${rss_mb.toFixed(0)} MB`,
    value: `p99 ${ratio.toFixed(2)} times`,
    threshold: "p99 ≤ 2 times",
    ok: ratio <= 2,
  };
};
