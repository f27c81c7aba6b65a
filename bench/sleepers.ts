/**
 * A thousand real sleeping workers on one daemon, beside supervisord (where it is installed) and beside as many bare
 * children of a Node process: memory a worker, told apart into the supervisor's and the launcher's, processor time while
 * nothing happens, and how late the event loop runs.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { figure } from "../test/support/figures.ts";
import { childrenOf, idleCpu, makeInspector, parentOf, pssKb, rssKb } from "./inspect.ts";
import { command, environment, ms, type Result, spawnSideBySide, startDaemon } from "./support.ts";

const WORKERS = 1_000;
const IDLE_MS = 60_000;
const SETTLE_MS = 5_000;
const PORT = 9_000 + (process.pid % 1_000);
const SLEEPER = ["sleep", "1000000"];

interface Fleet {
  /** Workers a second until all of them run. */
  readonly rate: number;
  readonly idle_cpu: number;
  /** The supervisor alone: with its workers less without them. */
  readonly supervisor_kb: number;
  /** Memory of the processes that stand beside a worker. */
  readonly beside_kb: number;
}

const bare = async (): Promise<Fleet> => {
  const program = `
    const { spawn } = require("node:child_process");
    process.on("SIGTERM", () => { for (const child of children) child.kill("SIGKILL"); process.exit(); });
    const children = [];
    setTimeout(() => {
      for (let n = 0; n < ${WORKERS}; n += 1) children.push(spawn("sleep", ["1000000"], { stdio: "ignore", detached: true }));
    }, 1000);
    setInterval(() => undefined, 1 << 30);`;
  const node = spawn(process.execPath, ["-e", program], { stdio: "ignore", env: environment() });
  const pid = node.pid as number;
  await sleep(500);
  const before = rssKb(pid);
  await sleep(500);
  const rate = await rateUntil(() => childrenOf(pid).length);
  await sleep(SETTLE_MS);
  const supervisor_kb = rssKb(pid) - before;
  const idle_cpu = await idleCpu(pid, IDLE_MS);
  node.kill("SIGTERM");
  await new Promise((done) => node.once("exit", done));
  return { rate, idle_cpu, supervisor_kb, beside_kb: 0 };
};

const rateUntil = async (count: () => number): Promise<number> => {
  const since = performance.now();
  while (count() < WORKERS) await sleep(50);
  return WORKERS / ((performance.now() - since) / 1_000);
};

const holdfast = async (): Promise<Fleet & { readonly lag_p99_ms: number; readonly lag_max_ms: number }> => {
  const daemon = await startDaemon({}, [`--inspect=127.0.0.1:${PORT}`]);
  const inspector = makeInspector(PORT);
  // Code that has run once, and the allocator's first pages, are not a worker's memory.
  for (let n = 0; n < 50; n += 1) await daemon.request("agent/spawn", command(["true"]));
  await sleep(1_500);
  await inspector.collect();
  const before = rssKb(daemon.pid);
  const since = performance.now();
  const agents = await spawnSideBySide(daemon, WORKERS, command(SLEEPER));
  const rate = WORKERS / ((performance.now() - since) / 1_000);
  await sleep(SETTLE_MS);
  // A session of the inspector is not part of a daemon at rest.
  const idle_cpu = await idleCpu(daemon.pid, IDLE_MS);
  const { loop_lag_ms: lag } = await daemon.request<{ loop_lag_ms: { p99: number; max: number } }>(
    "daemon/status",
    {},
  );
  const beside_kb = agents.reduce((sum, pid) => sum + pssKb(parentOf(pid)), 0);
  await inspector.collect();
  const supervisor_kb = rssKb(daemon.pid) - before;
  await daemon.stop();
  return { rate, idle_cpu, supervisor_kb, beside_kb, lag_p99_ms: lag.p99, lag_max_ms: lag.max };
};

const supervisord = async (): Promise<Fleet | undefined> => {
  if (spawnSync("supervisord", ["--version"]).status !== 0) return undefined;
  const dir = mkdtempSync(join(tmpdir(), "holdfast-supervisord-"));
  const configOf = (programs: string) => {
    const file = join(dir, programs === "" ? "empty.conf" : "full.conf");
    const section = `[supervisord]\nnodaemon=true\nminfds=16384\nminprocs=4096\nlogfile=${dir}/main.log\npidfile=${dir}/pid\nchildlogdir=${dir}\n`;
    writeFileSync(file, `${section}${process.getuid?.() === 0 ? "user=root\n" : ""}${programs}`);
    return file;
  };
  const start = (programs: string) =>
    spawn("supervisord", ["-c", configOf(programs)], { stdio: "ignore", env: environment() });
  const end = async (child: ReturnType<typeof start>): Promise<void> => {
    child.kill("SIGTERM");
    await new Promise((done) => child.once("exit", done));
  };
  const empty = start("");
  await sleep(2_000);
  const before = rssKb(empty.pid as number);
  await end(empty);
  const full = start(
    `[program:sleeper]\ncommand=${SLEEPER.join(" ")}\nnumprocs=${WORKERS}\nprocess_name=%(process_num)d\nstartsecs=0\n`,
  );
  const pid = full.pid as number;
  const rate = await rateUntil(() => childrenOf(pid).length);
  await sleep(SETTLE_MS);
  const supervisor_kb = rssKb(pid) - before;
  const idle_cpu = await idleCpu(pid, IDLE_MS);
  await end(full);
  rmSync(dir, { recursive: true, force: true });
  return { rate, idle_cpu, supervisor_kb, beside_kb: 0 };
};

const each = (kb: number): string => `${(kb / WORKERS).toFixed(1)} KB`;
const percent = (share: number): string => `${share.toFixed(2)} %`;
const rateOf = ({ rate }: Fleet): string => `${rate.toFixed(0)}/s`;

export const sleepers = async (): Promise<readonly Result[]> => {
  const floor = await bare();
  const other = await supervisord();
  const ours = await holdfast();
  const beside = (show: (fleet: Fleet) => string): string =>
    `bare children: ${show(floor)}; supervisord: ${other === undefined ? "not installed here" : show(other)}`;
  figure("R40", {
    rounds: WORKERS,
    failures: Number(ours.idle_cpu > 2) + Number(ours.lag_p99_ms > 20),
    p99_ms: ours.lag_p99_ms,
    note: `sleeping workers on one daemon: idle CPU ${percent(ours.idle_cpu)}, ${each(ours.supervisor_kb)} of the daemon and ${each(ours.beside_kb)} of launchers a worker; p99 is the event loop's delay`,
  });
  return [
    {
      name: `idle CPU with ${WORKERS} sleeping workers, over ${IDLE_MS / 1_000} s`,
      floor: beside((fleet) => percent(fleet.idle_cpu)),
      measured: percent(ours.idle_cpu),
      value: percent(ours.idle_cpu),
      threshold: "≤ 2 %",
      ok: ours.idle_cpu <= 2,
    },
    {
      name: `delay of the event loop meanwhile`,
      floor: "–",
      measured: `p99 ${ms(ours.lag_p99_ms)}, max ${ms(ours.lag_max_ms)}`,
      value: ms(ours.lag_p99_ms),
      threshold: "p99 ≤ 20 ms",
      ok: ours.lag_p99_ms <= 20,
    },
    {
      name: "memory of a sleeping worker, beside its own",
      floor: beside((fleet) => each(fleet.supervisor_kb)),
      measured: `${each(ours.supervisor_kb)} of the daemon (RSS), ${each(ours.beside_kb)} of its launcher (PSS)`,
      value: `${each(ours.supervisor_kb + ours.beside_kb)}`,
      threshold: "daemon ≤ 60 KB",
      ok: ours.supervisor_kb / WORKERS <= 60,
    },
    {
      name: `starting ${WORKERS} workers, 16 requests at a time`,
      floor: beside(rateOf),
      measured: rateOf(ours),
      value: `${(floor.rate / ours.rate).toFixed(1)} times the floor's time`,
      threshold: "–",
      ok: true,
    },
  ];
};
