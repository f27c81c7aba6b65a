/** Promise R10: the daemon is killed; a worker that was to die with it dies unless the next daemon comes in time, one that was to live lives. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { figure } from "../support/figures.ts";
import { child, lives, makeCanary, makeLedger, startDaemon, temporaryDirectory, until } from "./support.ts";

const setUp = async () => {
  const daemon = await startDaemon();
  const dir = temporaryDirectory();
  const spawn = async (name: string, flags: readonly string[]) => {
    const ledger = makeLedger(dir, name);
    const canary = makeCanary(dir);
    const argv = [child("keeps-ledger.sh"), ledger.path, canary.path];
    await daemon.agent("spawn", "--name", name, "--restart", "transient", ...flags, "--", ...argv);
    await until(`${name} has begun`, () => ledger.all().length === 1);
    const lifeOf = (n: number): boolean => lives(Number(ledger.all()[n]?.[2]), ledger.all()[n]?.[3]);
    return { ledger, canary, lifeOf };
  };
  return { daemon, spawn, dir };
};

const DIES = ["--on-supervisor-death", "die", "--grace", "1s", "--max-restarts", "0/60s"];

test("without a next daemon the one that dies with it is gone, canary and all; the next one knows how it ended and starts it anew", async () => {
  const { daemon, spawn } = await setUp();
  const dying = await spawn("dying", DIES);
  const staying = await spawn("staying", []);
  const killed = performance.now();
  await daemon.kill9();
  await until("all of its processes are gone", () => !dying.canary.isHeld());
  const took = performance.now() - killed;
  expect(staying.lifeOf(0)).toBe(true);

  const next = await startDaemon(daemon.stateDir);
  await until("it was started anew", () => dying.ledger.all().length === 2);
  const [exited, failed, scheduled] = await next.history([
    "worker_exited",
    "worker_failed",
    "worker_restart_scheduled",
  ]);
  expect(exited?.payload).toMatchObject({
    signal: "SIGTERM",
    signal_inferred: false,
    cause: "supervisor_died",
  });
  expect(failed?.payload).toMatchObject({ error: { code: "SUPERVISOR_DIED" } });
  // Its window allows no restart at all: this one is not counted.
  expect(scheduled?.payload).toMatchObject({ reason: "supervisor_died", restarts_in_window: 0 });
  expect(await next.info("staying")).toMatchObject({ state: "running", incarnation: 1 });
  expect(staying.lifeOf(0)).toBe(true);
  figure("R10", {
    rounds: 1,
    failures: 0,
    p50_ms: Math.round(took),
    note: "kill -9 of the daemon to the last process of a worker that dies with it (T is 5 s)",
  });
});

test("a next daemon in time, after a kill or a stop, keeps it; killed by name it is dead like any other", async () => {
  const { daemon, spawn, dir } = await setUp();
  const dying = await spawn("dying", DIES);
  // A clock: one of another daemon, killed at the same time, that nobody renews and that takes longer to die.
  const other = await startDaemon(join(dir, "other"));
  await other.spawn([child("ignores-term.sh")], {
    name: "clock",
    on_supervisor_death: "die",
    grace_ms: 1_000,
  });
  await until("the clock runs", async () => (await other.info("clock")).state === "running");
  const clock = (await other.info("clock")).pid as number;
  await Promise.all([daemon.kill9(), other.kill9()]);
  const second = await startDaemon(daemon.stateDir);
  await second.agent("daemon", "stop", "--keep-agents");
  const third = await startDaemon(daemon.stateDir);
  await until("the time is over", () => !lives(clock));
  expect(dying.lifeOf(0)).toBe(true);
  expect(await third.info("dying")).toMatchObject({ state: "running", incarnation: 1 });
  await third.kill(["dying"]);
  expect(dying.canary.isHeld()).toBe(false);
});
