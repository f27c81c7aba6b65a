/** Promise R7: "stopped" means that no process of the run lives. Trees that do all they can to leave something behind, counted by canaries of the test's own. */
import { expect, test } from "vitest";
import { figure, full } from "../support/figures.ts";
import { child, makeCanary, startDaemon, temporaryDirectory, until } from "./support.ts";

const WAYS = ["setsid", "double-fork", "nohup", "no-marker", "renamed", "forking", "ignoring"] as const;
const KILLS = full ? 500 : 56;
/** Trees that are killed side by side. */
const AT_ONCE = 8;

test(`${KILLS} kills of hostile trees leave nothing`, { timeout: 1_200_000 }, async () => {
  const daemon = await startDaemon();
  const dir = temporaryDirectory();
  const survivors: string[] = [];
  const took: number[] = [];

  const killOne = async (n: number): Promise<void> => {
    const way = WAYS[n % WAYS.length] as string;
    const canary = makeCanary(dir);
    const id = await daemon.spawn([child("hostile.sh"), canary.path, way]);
    await until(`${way} is ready`, async () => (await daemon.output(id).catch(() => "")).includes("ready"));
    expect(canary.isHeld()).toBe(true);
    const begun = performance.now();
    await daemon.kill([id], 50);
    took.push(performance.now() - begun);
    if (canary.isHeld()) survivors.push(`${way} (${n})`);
  };

  for (let n = 0; n < KILLS; n += AT_ONCE)
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, KILLS - n) }, (_, i) => killOne(n + i)));

  const sorted = took.toSorted((a, b) => a - b);
  const at = (share: number): number => Math.round(sorted[Math.floor((sorted.length - 1) * share)] as number);
  figure("R7", {
    rounds: KILLS,
    failures: survivors.length,
    p50_ms: at(0.5),
    p99_ms: at(0.99),
    note: `kills of trees (${WAYS.join(", ")}), ${AT_ONCE} at once, survivors by canary; times from kill to answer, 50 ms of grace in them`,
  });
  expect(survivors).toEqual([]);
  const sweeps = (await daemon.history(["worker_exited"])).map(({ payload }) => payload.sweep?.survivors);
  expect(sweeps).toEqual(Array(KILLS).fill([]));
});
