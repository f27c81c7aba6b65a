/**
 * Memory of the daemon: the slope of its RSS over 0, 100, 200, 400 idle workers, each after a garbage collection forced through the inspector;
 * and what it and its helpers hold at rest, as a user finds it, with the processor time that they use meanwhile.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { LAG_LOOK_MS, TRIM_AFTER_LOOKS } from "../src/base/limits.ts";
import { lineThrough, makeInspector, ownKb, pssKb, rssKb } from "./inspect.ts";
import { idleCpuOf, pssMb, withHelpers } from "./peers/peer.ts";
import { command, type Result, spawnSideBySide, startDaemon } from "./support.ts";

const STEPS = [0, 100, 200, 400];
const PORT = 9_000 + (process.pid % 1_000);

const SLEEPERS = 200;
const IDLE_MS = 20_000;
/** Until it has come to rest, and has given back what it does not need. */
const REST_MS = (TRIM_AFTER_LOOKS + 3) * LAG_LOOK_MS;
const mb = (kb: number): string => `${(kb / 1_024).toFixed(1)} MB`;

const atRest = async (): Promise<readonly Result[]> => {
  const daemon = await startDaemon();
  await sleep(REST_MS);
  const empty = ownKb(daemon.pid);
  const agents = await spawnSideBySide(daemon, SLEEPERS, command(["sleep", "100000"]));
  await sleep(REST_MS);
  const all = withHelpers(daemon.pid, agents);
  const [own, pss, sum] = [ownKb(daemon.pid), pssKb(daemon.pid), pssMb(all)];
  const idle = await idleCpuOf(all, IDLE_MS);
  await daemon.stop();
  return [
    {
      name: `memory of the daemon at rest, its own, with ${SLEEPERS} sleeping workers`,
      measured: `${mb(own)}, ${mb(empty)} without them; PSS ${mb(pss)}, with its helpers ${sum.toFixed(1)} MB`,
      floor: "–",
      value: mb(own),
      threshold: "≤ 45 MB",
      ok: own <= 45 * 1_024,
    },
    {
      name: `idle CPU with ${SLEEPERS} sleeping workers, with its helpers, over ${IDLE_MS / 1_000} s`,
      measured: `${idle.toFixed(2)} %`,
      floor: "–",
      value: `${idle.toFixed(2)} %`,
      threshold: "≤ 0.2 %",
      ok: idle <= 0.2,
    },
  ];
};

const slope = async (): Promise<Result> => {
  const daemon = await startDaemon({}, [`--inspect=127.0.0.1:${PORT}`]);
  const inspector = makeInspector(PORT);
  const points: [number, number][] = [];
  let spawned = 0;
  // Warm: code that has run once, and the allocator's first pages, are not a worker's memory.
  for (let n = 0; n < 50; n += 1) await daemon.request("agent/spawn", command(["true"]));
  await new Promise((done) => setTimeout(done, 1_500));
  for (const step of STEPS) {
    while (spawned < step) {
      await daemon.request("agent/spawn", command(["sleep", "100000"]));
      spawned += 1;
    }
    for (let deadline = Date.now() + 30_000; ; ) {
      const { workers } = await daemon.request<{ workers: { pid: number | null }[] }>("agent/list", {});
      if (workers.filter((worker) => worker.pid !== null).length === step || Date.now() > deadline) break;
      await new Promise((done) => setTimeout(done, 100));
    }
    await inspector.collect();
    points.push([step, rssKb(daemon.pid)]);
  }
  await daemon.stop();
  const each = lineThrough(points).slope;
  return {
    name: "memory of the daemon, slope over idle workers",
    measured: points.map(([workers, kb]) => `${workers}: ${(kb / 1024).toFixed(1)} MB`).join(", "),
    floor: "–",
    value: `${each.toFixed(1)} KB a worker`,
    threshold: "≤ 60 KB a worker",
    ok: each <= 60,
  };
};

export const memory = async (): Promise<readonly Result[]> => [await slope(), ...(await atRest())];
