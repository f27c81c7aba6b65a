/**
 * Requests on the socket, from one client on one connection (architecture §7). The floor is a server of a few lines that
 * sends each line back, asked by the same client: what the kernel, node:net and the client's own work cost. Then what ten thousand
 * requests at once, and a client that never reads its answers, do to the daemon's loop; and a mutation beside one commit.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createConnection, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import { BB_LEASE_MAX_MS } from "../src/base/limits.ts";
import { makeInspector } from "./inspect.ts";
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

const PIPELINED = 64;
const ROUND_MS = 1_000;
const ROUNDS = 5;
const AT_ONCE = 10_000;
const MUTATIONS = 200;
const PORT = 9_000 + (process.pid % 1_000);

const ECHO = `
require("node:net").createServer((socket) => {
  let rest = "";
  socket.setEncoding("utf8").on("data", (text) => {
    const lines = (rest + text).split("\\n");
    rest = lines.pop();
    for (const line of lines) socket.write(JSON.stringify(JSON.parse(line)) + "\\n");
  });
}).listen(process.argv[1]);`;

const connect = async (path: string): Promise<Socket> => {
  for (;;) {
    const socket = createConnection(path);
    const isOpen = await new Promise<boolean>((done) =>
      socket.once("connect", () => done(true)).once("error", () => done(false)),
    );
    if (isOpen) return socket.on("error", () => undefined);
    await sleep(10);
  }
};

const linesIn = (bytes: Buffer): number => {
  let count = 0;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) count += 1;
  return count;
};

interface Asker {
  /** Answers a second, with so many requests in flight. */
  rate(depth: number): Promise<number>;
  /** Until all are answered. */
  all(count: number): Promise<void>;
  close(): void;
}

/** It reads no more of an answer than its end: the server is measured, and not JSON.parse twice. */
const asker = async (path: string, name: string, data: object): Promise<Asker> => {
  const socket = await connect(path);
  let sent = 0;
  const request = (): string =>
    `${JSON.stringify({ version: 1, command: name, data, meta: { request_id: String(++sent) } })}\n`;
  const ask = (count: number): void => {
    let text = "";
    for (let n = 0; n < count; n += 1) text += request();
    socket.write(text);
  };
  const answered = (first: number, onLines: (count: number) => boolean): Promise<void> =>
    new Promise((done) => {
      const onData = (bytes: Buffer): void => {
        if (onLines(linesIn(bytes))) return;
        socket.off("data", onData);
        done();
      };
      socket.on("data", onData);
      ask(first);
    });
  return {
    rate: async (depth) => {
      const began = performance.now();
      let answers = 0;
      let open = depth;
      await answered(depth, (count) => {
        answers += count;
        open -= count;
        if (performance.now() - began < ROUND_MS) {
          ask(count);
          open += count;
        }
        return open > 0;
      });
      return (answers * 1_000) / (performance.now() - began);
    },
    all: (count) => {
      let left = count;
      return answered(count, (lines) => {
        left -= lines;
        return left > 0;
      });
    },
    close: () => socket.destroy(),
  };
};

const reads = async (daemon: BenchDaemon, id: string): Promise<readonly Result[]> => {
  const path = join(mkdtempSync(join(tmpdir(), "holdfast-echo-")), "echo.sock");
  const server = spawn(process.execPath, ["-e", ECHO, path], { stdio: "ignore", env: environment() });
  const floor = await asker(path, "agent/info", { id });
  const ours = await asker(join(daemon.dir, "agent.sock"), "agent/info", { id });
  const rates = async (depth: number): Promise<readonly [number, number]> => {
    const both: [number, number][] = [];
    await floor.rate(depth);
    await ours.rate(depth);
    // In turns, so that both see the same machine.
    for (let round = 0; round < ROUNDS; round += 1)
      both.push([await floor.rate(depth), await ours.rate(depth)]);
    const middle = (of: 0 | 1) => percentile(ascending(both.map((pair) => pair[of])), 50);
    return [middle(0), middle(1)];
  };
  const result = (what: string, [bare, held]: readonly [number, number], least: number): Result => ({
    name: `\`agent/info\` requests/s on one connection, ${what}`,
    floor: `bare NDJSON echo: ${bare.toFixed(0)}/s`,
    measured: `${held.toFixed(0)}/s`,
    value: `${(held / bare).toFixed(2)} of the floor`,
    threshold: `≥ ${least}`,
    ok: held / bare >= least,
  });
  const results = [
    result("one in flight", await rates(1), 0.5),
    result(`${PIPELINED} in flight`, await rates(PIPELINED), 0.25),
  ];
  floor.close();
  ours.close();
  server.kill("SIGKILL");
  rmSync(join(path, ".."), { recursive: true, force: true });
  return results;
};

/** How late the loop ran, measured in the daemon itself while `work` goes on. */
const lagDuring = async (inspector: ReturnType<typeof makeInspector>, work: () => Promise<void>) => {
  await inspector.evaluate(
    `globalThis.lag = process.getBuiltinModule("node:perf_hooks").monitorEventLoopDelay({ resolution: 1 }); lag.enable()`,
  );
  await work();
  return inspector.evaluate<{ p99: number; max: number }>(
    `lag.disable(); ({ p99: lag.percentile(99) / 1e6, max: lag.max / 1e6 })`,
  );
};

const crowd = async (daemon: BenchDaemon, id: string): Promise<Result> => {
  const inspector = makeInspector(PORT);
  const path = join(daemon.dir, "agent.sock");
  const began = performance.now();
  let took_ms = 0;
  const lag = await lagDuring(inspector, async () => {
    const deaf = await connect(path);
    deaf.pause();
    const request = JSON.stringify({ version: 1, command: "agent/info", data: { id }, meta: {} });
    deaf.write(`${request}\n`.repeat(AT_ONCE));
    const others = await asker(path, "agent/info", { id });
    await others.all(AT_ONCE);
    took_ms = performance.now() - began;
    others.close();
    deaf.destroy();
  });
  return {
    name: `delay of the daemon's loop under ${AT_ONCE} pipelined requests, and as many of a client that never reads`,
    floor: "–",
    measured: `p99 ${ms(lag.p99)}, max ${ms(lag.max)}, all answered in ${(took_ms / 1_000).toFixed(2)} s`,
    value: `p99 ${ms(lag.p99)}`,
    threshold: "p99 ≤ 20 ms",
    ok: lag.p99 <= 20,
  };
};

const mutations = async (daemon: BenchDaemon): Promise<Result> => {
  const db = new Database(join(daemon.dir, "floor.db"));
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = FULL");
  db.exec("CREATE TABLE t (x TEXT)");
  const insert = db.prepare("INSERT INTO t VALUES (?)");
  const timed = async (work: () => unknown): Promise<number> => {
    const began = performance.now();
    await work();
    return performance.now() - began;
  };
  const client = await asker(join(daemon.dir, "agent.sock"), "agent/spawn", command(["true"]));
  const [floor, ours]: [number[], number[]] = [[], []];
  for (let n = 0; n < MUTATIONS; n += 1) {
    floor.push(await timed(() => insert.run("x".repeat(1_000))));
    ours.push(await timed(() => client.all(1)));
  }
  client.close();
  db.close();
  const p50 = { floor: percentile(ascending(floor), 50), ours: percentile(ascending(ours), 50) };
  return {
    name: "`agent/spawn` that waits for its turn: asked → durable → answered",
    floor: `one FULL commit: p50 ${ms(p50.floor)}`,
    measured: `p50 ${ms(p50.ours)}`,
    value: `${(p50.ours / p50.floor).toFixed(2)} times`,
    threshold: "–",
    ok: true,
  };
};

/** Requests of the blackboard, boards, mailboxes, schedules and tokens, in turns with `agent/info`: both see the same machine. */
const control = async (daemon: BenchDaemon, id: string): Promise<readonly Result[]> => {
  const path = join(daemon.dir, "agent.sock");
  const spec = { kind: "command", argv: ["true"], cwd: "/", restart: "temporary" as const };
  await daemon.request("schedule/add", { schedule: { name: "yearly", cron: "@yearly", spec } });
  const { item_id } = await daemon.request<{ item_id: string }>("bb/post", { title: "one" });
  await daemon.request("bb/claim", { id: item_id, lease_ms: BB_LEASE_MAX_MS });
  await daemon.request("board/add", { cards: [{ id: "GH-1", title: "one" }] });
  await daemon.request("board/block", { id: "GH-1", reason: "it stays where it is" });
  await daemon.request("mailbox/send", { to: "user", payload: "one" });
  const token = { name: "one", sha256: "0".repeat(64) };
  await daemon.request("token/create", token);
  const info = await asker(path, "agent/info", { id });
  const results: Result[] = [];
  for (const [what, name, data] of [
    ["`bb/list` of one item", "bb/list", {}],
    ["`bb/search` of one item", "bb/search", { text: "on*" }],
    ["`bb/claim` that is refused", "bb/claim", { id: item_id }],
    ["`schedule/list` of one schedule", "schedule/list", {}],
    ["`board/list` of one card", "board/list", {}],
    ["`board/show`", "board/show", { id: "GH-1" }],
    ["`board/claim` that is refused", "board/claim", { id: "GH-1" }],
    ["`mailbox/list` of one message", "mailbox/list", { id: "user" }],
    ["`token/create` again", "token/create", token],
  ] as const) {
    const asked = await asker(path, name, data);
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1)
      times.push((await info.rate(PIPELINED)) / (await asked.rate(PIPELINED)));
    asked.close();
    const middle = percentile(ascending(times), 50);
    results.push({
      name: `${what}, ${PIPELINED} in flight, beside \`agent/info\``,
      floor: "`agent/info`",
      measured: `${middle.toFixed(2)} times its time`,
      value: `${middle.toFixed(2)} times`,
      threshold: "≤ 3",
      ok: middle <= 3,
    });
  }
  info.close();
  return results;
};

export const requests = async (): Promise<readonly Result[]> => {
  // One runs, and every other waits: no start of a process is in what is measured.
  const daemon = await startDaemon({ HOLDFAST_MAX_RUNNING: "1" }, [`--inspect=127.0.0.1:${PORT}`]);
  const { id } = await daemon.request<{ id: string }>("agent/spawn", command(["sleep", "1000000"]));
  const results = [
    ...(await reads(daemon, id)),
    ...(await control(daemon, id)),
    await crowd(daemon, id),
    await mutations(daemon),
  ];
  await daemon.stop();
  return results;
};
