/** One round of the soak: agents that end well, that are restarted until they are given up, that are stopped, that are killed; and watchers that come, stall and go. */
import { createConnection, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { makeInspector, openFiles, rssKb } from "../../bench/inspect.ts";
import { type BenchDaemon, command } from "../../bench/support.ts";

const ENDING = 8;
const CRASHING = 2;
const STOPPED = 2;
const KILLED = 2;
const WATCHING = 4;
export const WORKERS_A_ROUND = ENDING + CRASHING + STOPPED + KILLED;
/** For what hangs. */
const WAIT_MAX_MS = 240_000;

const sleeper = command(["sleep", "1000000"]);
const crasher = command(["sh", "-c", "exit 3"], {
  restart: "permanent",
  max_restarts: 2,
  backoff_min_ms: 0,
  backoff_max_ms: 0,
});

interface Status {
  readonly connections: number;
  readonly workers: { readonly live: number };
}

const until = async (what: string, isSo: () => Promise<boolean>): Promise<void> => {
  const deadline = performance.now() + WAIT_MAX_MS;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`not within ${WAIT_MAX_MS / 1_000} s: ${what}`);
    await sleep(20);
  }
};

export const runRound = async (daemon: BenchDaemon): Promise<void> => {
  const spawnSome = (count: number, what: object): Promise<string[]> =>
    Promise.all(
      Array.from(
        { length: count },
        async () => (await daemon.request<{ id: string }>("agent/spawn", what)).id,
      ),
    );
  const watching = Array.from({ length: WATCHING }, (_, n) => watcher(daemon, n % 2 === 0));
  const sleepers = await spawnSome(STOPPED + KILLED, sleeper);
  const others = [...(await spawnSome(ENDING, command(["true"]))), ...(await spawnSome(CRASHING, crasher))];
  const stopped = sleepers.slice(0, STOPPED);
  for (const id of sleepers.slice(STOPPED)) {
    let pid: number | null = null;
    await until("a sleeper runs", async () => {
      pid = (await daemon.request<{ pid: number | null }>("agent/info", { id })).pid;
      return pid !== null;
    });
    process.kill(pid as unknown as number, "SIGKILL");
  }
  await daemon.request("agent/kill", { ids: stopped, grace_ms: 1_000 });
  await daemon.request("agent/wait", { ids: [...sleepers, ...others] });
  for (const socket of watching) socket.destroy();
  await until("all of the round is gone", async () => {
    const { connections, workers } = await daemon.request<Status>("daemon/status", {});
    return connections === 1 && workers.live === 0;
  });
};

/** Reads all, or nothing ever. */
const watcher = (daemon: BenchDaemon, isStalled: boolean): Socket => {
  const socket = createConnection(join(daemon.dir, "agent.sock"));
  socket.on("error", () => undefined);
  socket.write(
    `${JSON.stringify({ version: 1, command: "agent/watch", data: { all: true, tail: 200 }, meta: {} })}\n`,
  );
  if (isStalled) socket.pause();
  else socket.resume();
  return socket;
};

/** Figures that must not grow. */
export interface Sample {
  readonly rss_kb: number;
  readonly heap_kb: number;
  readonly files: number;
  /** Timers, watches, sockets and requests that keep its event loop. */
  readonly resources: number;
}

/** The connection on which was asked last may just be closing: the least of a few looks is what stays. */
const LOOKS = 5;

/** Between two rounds, after a garbage collection. `port` is of the daemon's inspector. */
export const takeSample = async (daemon: BenchDaemon, port: number): Promise<Sample> => {
  const samples: Sample[] = [];
  for (let look = 0; look < LOOKS; look += 1) {
    if (look > 0) await sleep(50);
    samples.push(await lookAt(daemon, port));
  }
  const least = (what: keyof Sample) => Math.min(...samples.map((sample) => sample[what]));
  return {
    rss_kb: least("rss_kb"),
    heap_kb: least("heap_kb"),
    files: least("files"),
    resources: least("resources"),
  };
};

const lookAt = async (daemon: BenchDaemon, port: number): Promise<Sample> => {
  const inspector = makeInspector(port);
  await inspector.collect();
  const [heap, resources] = JSON.parse(
    await inspector.evaluate<string>(
      "JSON.stringify([process.memoryUsage().heapUsed, process.getActiveResourcesInfo().filter((one) => one !== 'Immediate').length])",
    ),
  ) as [number, number];
  return { rss_kb: rssKb(daemon.pid), heap_kb: heap / 1024, files: openFiles(daemon.pid), resources };
};
