/**
 * HTTP of the daemon. A request is measured beside a bare node:http server that sends the same bytes, asked by the same raw
 * sockets, in turns. Then event streams: thousands that wait, a hundred that never read, and a few that read everything.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type CrowdPart, type Http, headOf, opened, streams } from "./http-crowd.ts";
import { rssKb } from "./inspect.ts";
import {
  ascending,
  type BenchDaemon,
  command,
  environment,
  ms,
  percentile,
  type Result,
  startDaemon,
} from "./support.ts";

export const CONNECTIONS = 16;
const ROUND_MS = 1_000;
const ROUNDS = 5;
const WAITING = 10_000;
const DEAF = 100;
const READING = 10;
const EVENTS_PER_S = 250;
const EVENTS_S = 8;
const RSS_MAX_MB = 300;

const BARE = `
const { createServer } = require("node:http");
const body = Buffer.from(process.argv[1], "base64");
const server = createServer((request, response) => response.writeHead(200, { "content-type": "application/json", "content-length": body.length }).end(body));
server.listen(0, "127.0.0.1", () => process.stdout.write(String(server.address().port)));`;

/** Answers a second over some connections with one request in flight each. */
export const rate = async (http: Http, path: string): Promise<number> => {
  const text = headOf(path, http);
  const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => opened(http.port)));
  const began = performance.now();
  let answers = 0;
  await Promise.all(
    sockets.map(
      (socket) =>
        new Promise<void>((done) => {
          let got = "";
          socket.on("data", (bytes: Buffer) => {
            got += bytes.toString("latin1");
            const at = got.indexOf("\r\n\r\n");
            const length = Number(/content-length: (\d+)/i.exec(got)?.[1] ?? Number.NaN);
            if (at === -1 || got.length < at + 4 + length) return;
            got = "";
            answers += 1;
            if (performance.now() - began < ROUND_MS) socket.write(text);
            else done();
          });
          socket.write(text);
        }),
    ),
  );
  const perSecond = (answers * 1_000) / (performance.now() - began);
  for (const socket of sockets) socket.destroy();
  return perSecond;
};

const unary = async (http: Http, id: string): Promise<Result> => {
  const path = `/api/agent/info?id=${id}`;
  const response = await fetch(`http://127.0.0.1:${http.port}${path}`, {
    headers: { authorization: `Bearer ${http.secret}` },
  });
  const body = Buffer.from(await response.arrayBuffer());
  const server = spawn(process.execPath, ["-e", BARE, body.toString("base64")], { env: environment() });
  const [port] = (await once(server.stdout, "data")) as [Buffer];
  const bare = { ...http, port: Number(port.toString()) };
  const [floor, ours]: [number[], number[]] = [[], []];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const both = [await rate(bare, path), await rate(http, path)] as const;
    // The first round warms both.
    if (round === 0) continue;
    floor.push(both[0]);
    ours.push(both[1]);
  }
  server.kill("SIGKILL");
  const [a, b] = [percentile(ascending(floor), 50), percentile(ascending(ours), 50)];
  return {
    name: `\`/api/agent/info\` requests/s over ${CONNECTIONS} connections`,
    floor: `bare node:http, the same ${body.length} bytes: ${a.toFixed(0)}/s`,
    measured: `${b.toFixed(0)}/s`,
    value: `${(b / a).toFixed(2)} of the floor`,
    threshold: "≥ 0.5",
    ok: b / a >= 0.5,
  };
};

const TELLS_TIME = `
const line = () => process.stdout.write("t=" + process.hrtime.bigint() + "\\n");
let n = 0;
const timer = setInterval(() => { line(); if (++n === ${EVENTS_PER_S * EVENTS_S}) clearInterval(timer); }, ${1_000 / EVENTS_PER_S});`;

/** From the write of a line to each reader, and whether each has had every line once and in order. */
const told = async (daemon: BenchDaemon, http: Http) => {
  const delays: number[] = [];
  let wrong = 0;
  let complete = 0;
  const over = Promise.withResolvers<void>();
  const readers = await streams(http, { path: "/api/events?kinds=TextOutput", count: READING });
  for (const socket of readers) {
    let rest = "";
    let last = 0n;
    let lines = 0;
    socket.on("data", (bytes: Buffer) => {
      const now = process.hrtime.bigint();
      const blocks = `${rest}${bytes.toString("latin1")}`.split("\n\n");
      rest = blocks.pop()!;
      for (const block of blocks) {
        const at = /t=(\d+)/.exec(block)?.[1];
        if (at === undefined) continue;
        if (BigInt(at) <= last) wrong += 1;
        last = BigInt(at);
        lines += 1;
        delays.push(Number(now - last) / 1e6);
      }
      if (lines !== EVENTS_PER_S * EVENTS_S) return;
      complete += 1;
      if (complete === READING) over.resolve();
    });
  }
  await daemon.request("agent/spawn", command([process.execPath, "-e", TELLS_TIME]));
  await Promise.race([over.promise, sleep(EVENTS_S * 10_000)]);
  for (const socket of readers) socket.destroy();
  return { p99: percentile(ascending(delays), 99), wrong: wrong + (READING - complete) };
};

/** In a process of its own, so that no client that is measured waits for one that is not. */
const startCrowd = async (http: Http, asked: readonly CrowdPart[]): Promise<ChildProcess> => {
  const program = join(import.meta.dirname, "http-crowd.ts");
  const child = spawn(process.execPath, [program, JSON.stringify({ http, asked })], {
    stdio: ["ignore", "pipe", "inherit"],
    env: environment(),
  });
  await once(child.stdout, "data");
  return child;
};

const crowd = async (daemon: BenchDaemon, http: Http, quiet: string): Promise<Result> => {
  await told(daemon, http);
  const alone = await told(daemon, http);
  const before = rssKb(daemon.pid);
  const others = await startCrowd(http, [
    { path: `/api/events?ids=${quiet}`, count: WAITING - DEAF },
    { path: "/api/events?after=0", count: DEAF, isDeaf: true },
  ]);
  const beside = await told(daemon, http);
  const more = (rssKb(daemon.pid) - before) / 1024;
  others.kill("SIGKILL");
  const times = beside.p99 / alone.p99;
  return {
    name: `line → ${READING} event streams at ${EVENTS_PER_S}/s, beside ${WAITING} others of which ${DEAF} never read`,
    floor: `alone: p99 ${ms(alone.p99)}`,
    measured: `p99 ${ms(beside.p99)}, ${more.toFixed(0)} MB more, ${beside.wrong} wrong`,
    value: `${times.toFixed(2)} times, ${more.toFixed(0)} MB`,
    threshold: `≤ 2 times, ≤ ${RSS_MAX_MB} MB more, 0 wrong`,
    ok: times <= 2 && more <= RSS_MAX_MB && beside.wrong === 0 && alone.wrong === 0,
  };
};

export const http = async (): Promise<readonly Result[]> => {
  const daemon = await startDaemon({ HOLDFAST_HTTP: "0" });
  const secret = `hft_${randomBytes(32).toString("hex")}`;
  await daemon.request("token/create", {
    name: "bench",
    sha256: createHash("sha256").update(secret).digest("hex"),
  });
  const status = await daemon.request<{ http: { url: string } }>("daemon/status", {});
  const served = { port: Number(new URL(status.http.url).port), secret };
  const { id } = await daemon.request<{ id: string }>("agent/spawn", command(["sleep", "1000"]));
  // ONLY=unary or ONLY=crowd leaves out the other one.
  const only = process.env.ONLY;
  const results: Result[] = [];
  if (only !== "crowd") results.push(await unary(served, id));
  if (only !== "unary") results.push(await crowd(daemon, served, id));
  await daemon.stop();
  return results;
};
