/** Memory of the daemon: the slope of its RSS over 0, 100, 200, 400 idle workers, each after a garbage collection forced through the inspector. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { command, type Result, startDaemon } from "./support.ts";

const STEPS = [0, 100, 200, 400];
const PORT = 9_000 + (process.pid % 1_000);

const rssKb = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);

const collect = async (): Promise<void> => {
  const [target] = (await (await fetch(`http://127.0.0.1:${PORT}/json/list`)).json()) as {
    webSocketDebuggerUrl: string;
  }[];
  const socket = new WebSocket((target as { webSocketDebuggerUrl: string }).webSocketDebuggerUrl);
  await new Promise((done) => socket.addEventListener("open", done, { once: true }));
  for (let id = 1; id <= 3; id += 1) {
    const answered = new Promise((done) => socket.addEventListener("message", done, { once: true }));
    socket.send(JSON.stringify({ id, method: "HeapProfiler.collectGarbage" }));
    await answered;
  }
  socket.close();
};

/** Least squares: kilobytes a worker. */
const slope = (points: readonly (readonly [number, number])[]): number => {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [mean(points.map(([at]) => at)), mean(points.map(([, value]) => value))];
  return (
    points.reduce((sum, [a, b]) => sum + (a - x) * (b - y), 0) /
    points.reduce((sum, [a]) => sum + (a - x) ** 2, 0)
  );
};

export const memory = async (): Promise<Result> => {
  const home = mkdtempSync(join(tmpdir(), "holdfast-memory-"));
  const daemon = await startDaemon({}, [`--inspect=127.0.0.1:${PORT}`]);
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
    await collect();
    points.push([step, rssKb(daemon.pid)]);
  }
  await daemon.stop();
  rmSync(home, { recursive: true, force: true });
  const each = slope(points);
  return {
    name: "memory of the daemon, slope over idle workers",
    measured: points.map(([workers, kb]) => `${workers}: ${(kb / 1024).toFixed(1)} MB`).join(", "),
    floor: "–",
    value: `${each.toFixed(1)} KB a worker`,
    threshold: "≤ 60 KB a worker",
    ok: each <= 60,
  };
};
