/** The guard beside daemons as they are shipped: one that is frozen, one that is dead, and one that an agent has started. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readStat } from "../../../src/adapters/process/identity.ts";
import { PLACED_MARKER } from "../../../src/adapters/process/placed-marker.ts";
import { theReaper } from "../../../src/adapters/process/reaper.ts";
import { CLUSTER_STOP_ROOM_MS } from "../../../src/base/limits.ts";
import { LeaseGuard } from "../../../src/daemon/cluster/guard.ts";
import { bootClock } from "../../../src/daemon/cluster/kept.ts";
import { child } from "../../adapters/process/support.ts";
import { type Commands, makeCommands, until } from "../../cli/support/commands.ts";
import { AGENT } from "../../support/built.ts";
import { endGuardOf, endsInTime } from "./support/guarded.ts";

const SOON_MS = 300;
const boot = readFileSync("/proc/sys/kernel/random/boot_id", "latin1");

let commands: Commands;
beforeEach(() => {
  commands = makeCommands();
});
afterEach(async () => {
  await endGuardOf(commands.home);
  await commands.close();
});

/** The lease without `cluster.json`, which would have the next daemon ask a database. */
const leaseThatEndsIn = (ms: number): number => {
  const stop_at = bootClock() + ms;
  writeFileSync(join(commands.home, "cluster.lease"), `build ${stop_at + CLUSTER_STOP_ROOM_MS} ${boot}`);
  return stop_at;
};

/** Returns the pid of an agent that carries the marker of a placed run. The log's id is in its other marker. */
const placed = async (name: string, ...argv: readonly string[]): Promise<number> => {
  const marked = ["env", `${PLACED_MARKER}=build/w/1/stop`, ...argv];
  await commands.agent("spawn", "--name", name, "--restart", "temporary", "--", ...marked);
  await until(async () => (await commands.agent("info", name)).data.state === "running");
  return (await commands.agent("info", name)).data.pid as number;
};
const storeOf = (pid: number): string =>
  /(?:^|\0)HOLDFAST_RUN=([^/]+)\//.exec(readFileSync(`/proc/${pid}/environ`, "latin1"))![1]!;
const isOver = (pid: number) => (): boolean => readStat(pid) === undefined;

const endsWithTerm = async (name: string): Promise<void> => {
  const said = async (): Promise<string> => (await commands.agent("logs", name)).stdout;
  await until(async () => (await said()).includes('"worker_exited"'));
  expect(await said()).toMatch(/"signal":"SIGTERM","signal_inferred":false/);
};

describe.runIf(theReaper() !== undefined)("a guard", () => {
  it("ends a run of a daemon that is stopped, and of one that is dead, and the next one knows that it was no agent's end", async () => {
    const frozen = await placed("frozen", "sleep", "1000");
    const daemon = await commands.daemonPid();
    const guard = LeaseGuard.open(commands.home, storeOf(frozen), "build");
    process.kill(daemon, "SIGSTOP");
    let stop_at = leaseThatEndsIn(SOON_MS);
    await guard.ensure();
    await endsInTime(stop_at, isOver(frozen), "the run of the stopped daemon has ended");
    leaseThatEndsIn(600_000);
    process.kill(daemon, "SIGCONT");
    await endsWithTerm("frozen");
    const left = await placed("left", "sleep", "1000");
    await commands.killDaemon();
    stop_at = leaseThatEndsIn(SOON_MS);
    await endsInTime(stop_at, isOver(left), "the run of the dead daemon has ended");
    await commands.agent("daemon", "start");
    await endsWithTerm("left");
    expect(guard.isAlive()).toBe(true);
  });

  it.each(["lives", "has died, so that its launchers have the agent's for a parent"])(
    "ends neither a daemon that an agent of such a run has started nor its runs, if it %s",
    async (how) => {
      const file = (name: string): string => join(commands.home, name);
      const set = { AGENT: `${process.execPath} ${AGENT}`, HOLDFAST_HOME: commands.home };
      const files = { LEDGER: file("ledger"), GO: file("go") };
      const words = Object.entries({ ...set, ...files }).map(([name, value]) => `${name}=${value}`);
      const heir = await placed("heir", "env", ...words, "sh", child("starts-when-told.sh"));
      const guard = LeaseGuard.open(commands.home, storeOf(heir), "build");
      await commands.killDaemon();
      writeFileSync(files.GO, "");
      await until(() => existsSync(files.LEDGER) && readFileSync(files.LEDGER, "utf8").trim().endsWith("}"));
      const daemon = await commands.daemonPid();
      const free = await commands.agent("spawn", "--name", "free", "--", "sleep", "1000");
      expect(free.error).toBeNull();
      await until(async () => (await commands.agent("info", "free")).data.state === "running");
      const freed = (await commands.agent("info", "free")).data.pid as number;
      if (how !== "lives") await commands.killDaemon();
      const stop_at = leaseThatEndsIn(SOON_MS);
      await guard.ensure();
      await endsInTime(stop_at, isOver(heir), "the run has ended");
      expect(isOver(freed)()).toBe(false);
      if (how === "lives") expect(await commands.daemonPid()).toBe(daemon);
      else await commands.agent("daemon", "start");
      // The record of its exit comes after the search for what it has left.
      await endsWithTerm("heir");
      expect((await commands.agent("info", "free")).data).toMatchObject({ state: "running", incarnation: 1 });
    },
  );
});
