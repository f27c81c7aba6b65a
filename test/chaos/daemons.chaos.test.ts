/** Daemons side by side, daemons that agents started, and workers that fail beside others: nobody takes another along. */
import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readStat } from "../../src/adapters/process/identity.ts";
import { theReaper } from "../../src/adapters/process/reaper.ts";
import { readDaemonFile } from "../../src/daemon/daemon-file.ts";
import { killIfThere } from "../support/kill-if-there.ts";
import {
  AGENT,
  child,
  clientOf,
  endMarked,
  environment,
  lives,
  makeCanary,
  makeLedger,
  startDaemon,
  temporaryDirectory,
  until,
} from "./support.ts";

const AGENTS = 3;

test("of two daemons one is killed and its state directory wiped: the other's agents live and it works on", async () => {
  const [kept, wiped] = await Promise.all([startDaemon(), startDaemon()]);
  const dir = temporaryDirectory();
  const [keptCanary, wipedCanary] = [makeCanary(dir), makeCanary(dir)];
  const ledgers = await Promise.all(
    Array.from({ length: 2 * AGENTS }, async (_, n) => {
      const [daemon, canary] = n < AGENTS ? [kept, keptCanary] : [wiped, wipedCanary];
      const ledger = makeLedger(dir, `ledger-${n}`);
      await daemon.spawn([child("keeps-ledger.sh"), ledger.path, canary.path], { restart: "permanent" });
      await until("it has written its start", () => ledger.all().length === 1);
      return ledger;
    }),
  );
  const pids = ledgers.map((ledger) => Number(ledger.all()[0]?.[2]));
  await wiped.kill9();
  rmSync(wiped.stateDir, { recursive: true });

  const workers = await kept.list();
  expect(workers.map(({ state, incarnation }) => [state, incarnation])).toEqual(
    Array(AGENTS).fill(["running", 1]),
  );
  expect(pids.map((pid) => lives(pid))).toEqual(Array(2 * AGENTS).fill(true));
  // It still restarts, and what it stops is its own.
  process.kill(pids[0] as number, "SIGKILL");
  await until("the second incarnation of the first", () => ledgers[0]?.all().length === 2);
  await kept.request("agent/kill", { all: true });
  expect([keptCanary.isHeld(), wipedCanary.isHeld()]).toEqual([false, true]);
  expect(pids.slice(AGENTS).map((pid) => lives(pid))).toEqual(Array(AGENTS).fill(true));

  // A new daemon where the wiped one was knows nothing of its agents, and touches none.
  const heir = await startDaemon(wiped.stateDir);
  expect(await heir.list()).toEqual([]);
  expect(pids.slice(AGENTS).map((pid) => lives(pid))).toEqual(Array(AGENTS).fill(true));
});

/** A daemon that the test did not start itself; it is ended with its agents after the test. */
const daemonOf = (stateDir: string) => {
  const client = clientOf(stateDir);
  onTestFinished(async () => {
    const status = await client
      .request<{ pid: number; store_id: string }>("daemon/status", {})
      .catch(() => undefined);
    const pid = status?.pid ?? readDaemonFile(stateDir)?.pid ?? 0;
    if (lives(pid)) killIfThere(pid);
    if (status !== undefined) endMarked(status.store_id);
  });
  return { ...client, pid: () => readDaemonFile(stateDir)?.pid ?? 0 };
};

const asks = (...spawnFlags: readonly string[]) => [
  child("spawns-agent.sh"),
  process.execPath,
  AGENT,
  "spawn",
  ...spawnFlags,
  "--",
  "sleep",
  "1000",
];

test("an agent that ran `agent spawn` is killed: the daemon and the worker that it asked for live, and the worker knows its parent", async () => {
  const daemon = await startDaemon();
  const parent = await daemon.spawn(asks("--name", "asked"), { env: { HOLDFAST_HOME: daemon.stateDir } });
  await until("the worker is there", async () =>
    (await daemon.output(parent).catch(() => "")).includes("asked\n"),
  );
  // It was recorded before `agent spawn` answered; that its agent runs comes later.
  await until("it runs", async () => (await daemon.info("asked")).state === "running");
  const asked = await daemon.info("asked");
  expect(asked).toMatchObject({ parent, state: "running" });
  await daemon.kill([parent]);
  expect(await daemon.info("asked")).toMatchObject({ state: "running", pid: asked.pid, incarnation: 1 });
  expect(lives(asked.pid as number)).toBe(true);
});

/** Only descent leads to the inner daemon: it has a session of its own and no marker of the run (docs/decisions/0032). */
test.skipIf(theReaper() === undefined).each([
  ["after it has asked", []],
  ["while it watches what it asked for", ["--watch"]],
])(
  "an agent that started a daemon of another state directory is killed %s: that daemon and its worker end with the run, and the next daemon there finds the worker",
  async (_when, flags) => {
    const daemon = await startDaemon();
    const bystander = await daemon.spawn(["sleep", "1000"]);
    const home = join(temporaryDirectory(), "other");
    const started = daemonOf(home);
    const asking = asks("--name", "asked", "--restart", "permanent", ...flags);
    const parent = await daemon.spawn(asking, { env: { HOLDFAST_HOME: home } });
    await until(
      "the other daemon has the worker",
      async () => (await started.info("asked").catch(() => undefined))?.state === "running",
    );
    const [pid, asked] = [started.pid(), await started.info("asked")];
    expect(pid).not.toBe(daemon.pid);
    await daemon.kill([parent]);
    expect([lives(pid), lives(asked.pid as number)]).toEqual([false, false]);
    expect(await daemon.info(bystander)).toMatchObject({ state: "running", incarnation: 1 });

    // Nobody has adopted it meanwhile. The next daemon there knows it, and restarts it as its policy says.
    expect((await daemon.list()).map(({ id }) => id).toSorted()).toEqual([parent, bystander].toSorted());
    const next = await startDaemon(home);
    await until("its second incarnation runs", async () => {
      const { state, incarnation } = await next.info("asked");
      return state === "running" && incarnation === 2;
    });
    expect(await next.info("asked")).toMatchObject({ id: asked.id, parent: null });
    const exits = await next.history(["worker_exited"]);
    expect(exits).toMatchObject([{ incarnation: 1 }]);
  },
);

test("an agent whose daemon was killed starts the next one, which adopts it, and survives the kill of that agent", async () => {
  const first = await startDaemon();
  const dir = temporaryDirectory();
  const go = join(dir, "go");
  const script = `until [ -e "${go}" ]; do sleep 0.01; done; exec "$0" "$@"`;
  const parent = await first.spawn(["/bin/sh", "-c", script, ...asks("--name", "asked", "--watch")], {
    env: { HOLDFAST_HOME: first.stateDir },
  });
  await until("it runs", async () => (await first.info(parent)).state === "running");
  await first.kill9();
  const next = daemonOf(first.stateDir);
  makeLedger(dir, "go");
  await until(
    "the next daemon has both",
    async () => (await next.info("asked").catch(() => undefined))?.state === "running",
  );
  const pid = next.pid();
  expect(pid).not.toBe(first.pid);
  expect(await next.info(parent)).toMatchObject({ state: "running", incarnation: 1 });
  await next.kill([parent]).catch(() => undefined);
  expect(lives(pid)).toBe(true);
  expect(await next.info(parent)).toMatchObject({ state: "cancelled" });
  expect(await next.info("asked")).toMatchObject({ state: "running", incarnation: 1, parent });
});

test("a process group that started a daemon is killed as a whole: the daemon lives", async () => {
  const home = join(temporaryDirectory(), "state");
  const started = daemonOf(home);
  const group = spawn(asks("--name", "asked")[0] as string, asks("--name", "asked").slice(1), {
    detached: true,
    stdio: "ignore",
    env: { ...environment(), HOLDFAST_HOME: home },
  });
  await until(
    "the worker runs",
    async () => (await started.info("asked").catch(() => undefined))?.state === "running",
  );
  process.kill(-(group.pid as number), "SIGKILL");
  await until("the group is gone", () => readStat(group.pid as number)?.state !== "S");
  expect(lives(started.pid())).toBe(true);
  expect(await started.info("asked")).toMatchObject({ state: "running", parent: null });
});

const MAX_RESTARTS = 5;
test("a worker that crashes in a loop is given up once, and a bystander lives", async () => {
  const daemon = await startDaemon();
  const ledger = makeLedger(temporaryDirectory());
  const bystander = await daemon.spawn(["sleep", "1000"], { restart: "permanent" });
  await until("the bystander runs", async () => (await daemon.info(bystander)).state === "running");
  const { pid } = await daemon.info(bystander);
  const loop = await daemon.spawn([child("notes-its-run.sh"), ledger.path, "loop"], {
    restart: "permanent",
    max_restarts: MAX_RESTARTS,
  });
  await daemon.wait([loop]);

  const runs = Array.from({ length: MAX_RESTARTS + 1 }, (_, n) => n + 1);
  expect(ledger.all()).toEqual(
    runs.flatMap((n) => [
      ["start", "loop", String(n)],
      ["exit", "loop", String(n)],
    ]),
  );
  const told = await daemon.history(
    ["worker_exited", "worker_restart_scheduled", "supervisor_escalated", "worker_ended"],
    [loop],
  );
  expect(
    told
      .filter(({ type }) => type === "worker_exited")
      .map(({ incarnation, payload }) => [incarnation, payload]),
  ).toEqual(runs.map((n) => [n, expect.objectContaining({ exit_code: 3 })]));
  expect(told.filter(({ type }) => type === "worker_restart_scheduled")).toHaveLength(MAX_RESTARTS);
  expect(told.filter(({ type }) => type === "supervisor_escalated")).toHaveLength(1);
  expect(told.slice(-2).map(({ type }) => type)).toEqual(["supervisor_escalated", "worker_ended"]);
  expect(await daemon.info(loop)).toMatchObject({ state: "failed" });
  expect(await daemon.info(bystander)).toMatchObject({ state: "running", incarnation: 1, pid });
});
