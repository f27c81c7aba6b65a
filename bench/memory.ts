/** Memory of the daemon: the slope of its RSS over 0, 100, 200, 400 idle workers, each after a garbage collection forced through the inspector. */
import { lineThrough, makeInspector, rssKb } from "./inspect.ts";
import { command, type Result, startDaemon } from "./support.ts";

const STEPS = [0, 100, 200, 400];
const PORT = 9_000 + (process.pid % 1_000);

export const memory = async (): Promise<Result> => {
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
