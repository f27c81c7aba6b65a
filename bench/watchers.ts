/**
 * Ten thousand watchers on one daemon (R16): a line that one agent writes is at every one of them. The floor is a bare
 * node:net server that writes a line of the same length to as many sockets. The clients of both are this process.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createConnection, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { figure } from "../test/support/figures.ts";
import { cpuMs, makeInspector, rssKb } from "./inspect.ts";
import { ascending, command, environment, ms, percentile, type Result, startDaemon } from "./support.ts";

const WATCHERS = 10_000;
const EVENTS = 6;
const EVENT_EVERY_MS = 3_000;
const CONNECTING_MAX = 100;
const PORT = 9_000 + (process.pid % 1_000);
const RSS_MAX_MB = 300;

interface Heard {
  /** From the write to the last of the watchers, an event each. */
  readonly last: readonly number[];
  readonly rss_mb: number;
  readonly cpu_ms: number;
}

/** An agent, or a server, that tells the time at which it writes. */
const TELLS_TIME = `
let n = 0;
const tell = () => { write("t=" + process.hrtime.bigint() + "\\n"); if (++n < ${EVENTS}) setTimeout(tell, ${EVENT_EVERY_MS}); };`;

/** A listener lets only so many wait to be accepted, and tells the others to come again. */
const connected = async (path: string): Promise<Socket> => {
  for (;;) {
    const socket = createConnection(path);
    const answer = await new Promise<string | undefined>((done) =>
      socket
        .once("connect", () => done(undefined))
        .once("error", ({ code }: NodeJS.ErrnoException) => done(code)),
    );
    if (answer === undefined) return socket;
    if (answer !== "EAGAIN") throw new Error(`${path}: ${answer}`);
    await sleep(20);
  }
};

const connectAll = async (path: string, hello: string, onLine: (at: bigint) => void): Promise<Socket[]> => {
  const sockets: Socket[] = [];
  let left = WATCHERS - (CONNECTING_MAX - 1);
  const one = async (): Promise<void> => {
    for (; left > 0; left -= 1) {
      const socket = await connected(path);
      sockets.push(socket);
      socket.on("data", (bytes: Buffer) => {
        const at = bytes.indexOf("t=");
        if (at !== -1) onLine(BigInt(/\d+/.exec(bytes.toString("latin1", at + 2, at + 32))?.[0] ?? 0));
      });
      if (hello !== "") socket.write(hello);
    }
  };
  await Promise.all(Array.from({ length: CONNECTING_MAX }, one));
  return sockets;
};

/** Counts who has heard what; each event is told once all have. */
const listener = () => {
  const heard = new Map<bigint, number>();
  const last: number[] = [];
  const over = Promise.withResolvers<void>();
  return {
    last,
    over: over.promise,
    onLine: (at: bigint): void => {
      const count = (heard.get(at) ?? 0) + 1;
      heard.set(at, count);
      if (count < WATCHERS) return;
      last.push(Number(process.hrtime.bigint() - at) / 1e6);
      if (last.length === EVENTS) over.resolve();
    },
  };
};

const bare = async (): Promise<Heard> => {
  const dir = mkdtempSync(join(tmpdir(), "holdfast-watchers-"));
  const path = join(dir, "floor.sock");
  const server = spawn(
    process.execPath,
    [
      "-e",
      `const sockets = []; const text = "x".repeat(450);
       const write = (line) => { for (const socket of sockets) socket.write(text + line); };
       require("node:net").createServer((socket) => sockets.push(socket)).listen({ path: ${JSON.stringify(path)}, backlog: 4096 });
       process.once("SIGUSR2", () => { ${TELLS_TIME} tell(); });`,
    ],
    { stdio: "ignore", env: environment() },
  );
  await sleep(1_000);
  const pid = server.pid as number;
  const { last, over, onLine } = listener();
  const sockets = await connectAll(path, "", onLine);
  const cpu = cpuMs(pid);
  server.kill("SIGUSR2");
  await over;
  const seen = { last, rss_mb: rssKb(pid) / 1024, cpu_ms: (cpuMs(pid) - cpu) / EVENTS };
  server.kill("SIGKILL");
  for (const socket of sockets) socket.destroy();
  rmSync(dir, { recursive: true, force: true });
  return seen;
};

const holdfast = async (): Promise<Heard> => {
  const daemon = await startDaemon({ HOLDFAST_MAX_CONNECTIONS: String(WATCHERS + 100) }, [
    `--inspect=127.0.0.1:${PORT}`,
  ]);
  const { last, over, onLine } = listener();
  const request = {
    version: 1,
    command: "agent/watch",
    data: { all: true, kinds: ["TextOutput"] },
    meta: {},
  };
  const sockets = await connectAll(join(daemon.dir, "agent.sock"), `${JSON.stringify(request)}\n`, onLine);
  const inFlight = async () =>
    (await daemon.request<{ requests_in_flight: number }>("daemon/status", {})).requests_in_flight;
  while ((await inFlight()) < WATCHERS) await sleep(100);
  await makeInspector(PORT).collect();
  const cpu = cpuMs(daemon.pid);
  const argv = [
    process.execPath,
    "-e",
    `const write = (line) => process.stdout.write(line); ${TELLS_TIME} setTimeout(tell, 3000);`,
  ];
  await daemon.request("agent/spawn", command(argv));
  await over;
  const seen = { last, rss_mb: rssKb(daemon.pid) / 1024, cpu_ms: (cpuMs(daemon.pid) - cpu) / EVENTS };
  for (const socket of sockets) socket.destroy();
  await daemon.stop();
  return seen;
};

export const watchers = async (): Promise<Result> => {
  const floor = await bare();
  const ours = await holdfast();
  const tell = ({ last, rss_mb, cpu_ms }: Heard): string =>
    `p50 ${ms(percentile(ascending(last), 50))}, worst ${ms(Math.max(...last))}, ${rss_mb.toFixed(0)} MB, ${cpu_ms.toFixed(0)} ms of processor an event`;
  const late = ours.last.filter((took) => took > 1_000).length;
  figure("R16", {
    rounds: EVENTS,
    failures: late + Number(ours.rss_mb > RSS_MAX_MB),
    p50_ms: percentile(ascending(ours.last), 50),
    p99_ms: Math.max(...ours.last),
    note: `${WATCHERS} watchers: from the agent's write to the last of them; RSS ${ours.rss_mb.toFixed(0)} MB`,
  });
  return {
    name: `write in the child → at the last of ${WATCHERS} watchers`,
    floor: `bare node:net: ${tell(floor)}`,
    measured: tell(ours),
    value: `${(percentile(ascending(ours.last), 50) / percentile(ascending(floor.last), 50)).toFixed(1)} times`,
    threshold: `≤ 1 s, ≤ ${RSS_MAX_MB} MB`,
    ok: late === 0 && ours.rss_mb <= RSS_MAX_MB,
  };
};
