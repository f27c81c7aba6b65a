/** A real guard and real runs: which of them it ends, by when, and that there is one guard and no more. */
import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { identityOf, isAlive, readStat, signalProcess } from "../../../src/adapters/process/identity.ts";
import { PLACED_MARKER, placedMarkerOf } from "../../../src/adapters/process/placed-marker.ts";
import { theReaper } from "../../../src/adapters/process/reaper.ts";
import { CLUSTER_STOP_ROOM_MS } from "../../../src/base/limits.ts";
import { LeaseGuard } from "../../../src/daemon/cluster/guard.ts";
import { guardArguments } from "../../../src/daemon/cluster/guard-process.ts";
import { bootClock, forgetKept } from "../../../src/daemon/cluster/kept.ts";
import { child, makeCanary, printed, ready, until } from "../../adapters/process/support.ts";
import { endsInTime, guardIn, makeGuarded, NODE } from "./support/guarded.ts";

const SOON_MS = 300;
const HELD_MS = 600_000;
const SLEEP = ["sleep", "1000"];
const reaper = theReaper();

describe.runIf(reaper !== undefined)("a guard", () => {
  test("touches nothing while the lease is held, and ends in time what stops without it, and nothing else", async () => {
    const bench = makeGuarded();
    const stranger = makeGuarded();
    const run = await bench.placed(SLEEP);
    const others = [
      await bench.placed(SLEEP, { on_partition: "continue" }),
      await bench.placed(SLEEP, { node: "built" }),
      await bench.placed(SLEEP, { node: "b.ild" }),
      await bench.launch(SLEEP),
      await stranger.placed(SLEEP),
    ];
    bench.lease(bootClock() + HELD_MS);
    await bench.guard.ensure();
    const stop_at = bench.leaseThatEndsIn(2 * SOON_MS);
    await until(() => bootClock() >= stop_at - SOON_MS, "some looks of the guard");
    expect(isAlive(run.agent)).toBe(true);
    await endsInTime(stop_at, () => !isAlive(run.agent), "the run has ended");
    expect(await run.exited).toMatchObject({ signal: "SIGTERM", signal_inferred: false });
    // It goes on to search: a second run under the same end is found, and by now killed at once.
    const late = await bench.placed([child("ignores-term.sh")]);
    await until(() => !isAlive(late.agent), "the late one has ended");
    for (const other of others) expect(isAlive(other.agent)).toBe(true);
  });

  test("takes away no run of a lease that is renewed", async () => {
    const bench = makeGuarded();
    const run = await bench.placed(SLEEP);
    let stop_at = bench.leaseThatEndsIn(SOON_MS);
    await bench.guard.ensure();
    for (let renewals = 0; renewals < 10; renewals += 1) {
      const at = stop_at - SOON_MS / 2;
      await until(() => bootClock() >= at, "half of the lease is over");
      stop_at = bench.leaseThatEndsIn(SOON_MS);
    }
    expect(isAlive(run.agent)).toBe(true);
    await endsInTime(stop_at, () => !isAlive(run.agent), "the run has ended");
  });

  test.each([
    ["ignores TERM", "ignores-term.sh"],
    ["left for another session", "new-session.sh"],
    ["scrubbed its environment", "hides-environment.sh"],
    ["is an orphan", "double-fork.sh"],
    ["ended its first thread", "ends-its-first-thread.sh"],
    ["forks", "forks.sh"],
  ])("ends one that %s", async (_, name) => {
    const bench = makeGuarded();
    const canary = makeCanary(bench.dir);
    const run = await bench.placed([child(name), canary.path]);
    await ready(run);
    const stop_at = bench.leaseThatEndsIn(SOON_MS);
    await bench.guard.ensure();
    await endsInTime(stop_at, () => !canary.isHeld() && !isAlive(run.agent), "all have ended");
    expect(await run.exited).toMatchObject({ signal_inferred: false });
  });

  test("ends one that is stopped, which acts on TERM first", async () => {
    const bench = makeGuarded();
    const canary = makeCanary(bench.dir);
    const script = 'exec 9<>"$1"; trap "echo told; exit 3" TERM; echo ready; while :; do sleep 0.05; done';
    const run = await bench.placed(["sh", "-c", script, "sh", canary.path]);
    await ready(run);
    await run.pause();
    const stop_at = bench.leaseThatEndsIn(SOON_MS);
    await bench.guard.ensure();
    await endsInTime(stop_at, () => !canary.isHeld(), "it has ended");
    expect(await run.exited).toMatchObject({ exit_code: 3 });
    expect(printed(run)).toContain("told\n");
  });

  test("ends what is left below a launcher whose agent has ended, without any marker", async () => {
    const bench = makeGuarded();
    const canary = makeCanary(bench.dir);
    const run = await bench.placed([child("hides-and-ends.sh"), canary.path]);
    await run.exited;
    expect(canary.isHeld()).toBe(true);
    const stop_at = bench.leaseThatEndsIn(SOON_MS);
    await bench.guard.ensure();
    await endsInTime(stop_at, () => !canary.isHeld(), "the child has ended");
  });

  test.each([
    // Each link lives for some milliseconds, in a session of its own.
    ["that forks and ends all the time", 'f() { setsid sh -c "$0" "$0" "$1" & }; sleep 0.005; f "$1"'],
    ["that makes a child that ignores TERM, when it gets TERM", ""],
  ])("ends one %s", async (_, link) => {
    const bench = makeGuarded();
    const canary = makeCanary(bench.dir);
    const heir =
      'exec 9<>"$1"; trap "setsid sh -c \\"trap : TERM; while :; do sleep 1; done\\" & exit 0" TERM; echo ready; while :; do sleep 0.05; done';
    const chain = `exec 9<>"$1"; echo ready; sh -c '${link}' '${link}' "$1"; exec sleep 1000`;
    const run = await bench.placed(["sh", "-c", link === "" ? heir : chain, "sh", canary.path]);
    await ready(run);
    const stop_at = bench.leaseThatEndsIn(SOON_MS);
    await bench.guard.ensure();
    await endsInTime(stop_at, () => !canary.isHeld(), "all have ended");
  });

  test("spares the launcher and its helpers until the exit is written, and no process that imitates one", async () => {
    const bench = makeGuarded();
    const canary = makeCanary(bench.dir);
    const fake = "# holdfast launcher\ntrap : TERM; while :; do sleep 1; done";
    const script =
      'exec 9<>"$2"; setsid /bin/sh -c "$1" sh "$3" empty 0022 "" "" "" "" "" "" sleep & trap "" TERM; echo ready; wait; sleep 1000';
    const argv = ["sh", "-c", script, "sh", fake, canary.path, join(bench.runsDir, "W", "1")];
    const run = await bench.placed(argv);
    await ready(run);
    const stop_at = bench.leaseThatEndsIn(SOON_MS);
    await bench.guard.ensure();
    await endsInTime(stop_at, () => !canary.isHeld(), "all have ended");
    expect(await run.exited).toMatchObject({ signal: "SIGKILL", signal_inferred: false });
    expect(readFileSync(join(bench.runsDir, "W", "1", "signals"), "utf8")).toBe("SIGTERM\nSIGKILL\n");
  });

  test("lets the agent below a monitor end first, since the monitor would leave it", async () => {
    const bench = makeGuarded();
    const agent = 'trap "exit 5" TERM; echo ready; while :; do sleep 0.05; done';
    const script = 'trap "exit 9" TERM; sh -c "$1" & while kill -0 $!; do sleep 0.05; done; wait $!';
    const run = await bench.placed(["sh", "-c", script, "sh", agent], {}, { isMonitor: true });
    await ready(run);
    const stop_at = bench.leaseThatEndsIn(SOON_MS);
    await bench.guard.ensure();
    await endsInTime(stop_at, () => !isAlive(run.agent), "both have ended");
    expect(await run.exited).toMatchObject({ exit_code: 5 });
  });

  test("ends one with a lifeline whose daemon dies at the same time", async () => {
    const bench = makeGuarded();
    const canary = makeCanary(bench.dir);
    const argv = [child("ignores-term.sh"), canary.path];
    const run = await bench.placed(argv, {}, { lifeline: { grace_ms: 60_000 } });
    await ready(run);
    const stop_at = bench.leaseThatEndsIn(SOON_MS);
    await bench.guard.ensure();
    await bench.spawner.close();
    await endsInTime(stop_at, () => !isAlive(run.agent), "it has ended");
    await until(() => !isAlive(run.launcher), "its launcher has ended");
    expect(readFileSync(join(bench.runsDir, "W", "1", "exit"), "utf8")).toBe("137\n");
  });

  test("ends a launcher that would begin its agent after the lease", async () => {
    const bench = makeGuarded();
    const script = "# holdfast launcher\ntrap : TERM; read -r _; exec sleep 1000";
    const args = [
      "-c",
      script,
      "holdfast",
      bench.dir,
      "open",
      "0022",
      "",
      "",
      "",
      "",
      "",
      "",
      "sleep",
      "1000",
    ];
    const env = {
      HOLDFAST_RUN: `${bench.storeId}/W/1`,
      [PLACED_MARKER]: placedMarkerOf({ node: NODE, worker: "W", term: 1, on_partition: "stop" }),
    };
    const launcher = spawn("/bin/sh", args, { detached: true, env, stdio: ["pipe", "ignore", "ignore"] });
    onTestFinished(() => void launcher.kill("SIGKILL"));
    const stop_at = bench.leaseThatEndsIn(SOON_MS);
    await bench.guard.ensure();
    await endsInTime(stop_at, () => launcher.signalCode !== null, "the launcher has ended");
    expect(launcher.signalCode).toBe("SIGKILL");
  });

  test.each([
    ["of no lease", (bench: ReturnType<typeof makeGuarded>) => bench.lease(null)],
    ["that is garbled", ({ dir }) => writeFileSync(join(dir, "cluster.lease"), "build 99999999999\n")],
    [
      "of another boot",
      ({ dir }) =>
        writeFileSync(
          join(dir, "cluster.lease"),
          `build 999999999999 ${"0".repeat(8)}-0-0-0-${"0".repeat(12)}\n`,
        ),
    ],
    [
      "of another node",
      ({ dir }) => {
        const path = join(dir, "cluster.lease");
        writeFileSync(path, readFileSync(path, "utf8").replace("build", "other"));
      },
    ],
    ["that is a directory", ({ dir }) => putDirectory(join(dir, "cluster.lease"))],
  ] as [string, (bench: ReturnType<typeof makeGuarded>) => unknown][])(
    "takes a file %s for a lease that is over, and stays",
    async (_, change) => {
      const bench = makeGuarded();
      const run = await bench.placed(SLEEP);
      bench.lease(bootClock() + HELD_MS);
      await bench.guard.ensure();
      const changed_at = bootClock();
      change(bench);
      await endsInTime(changed_at, () => !isAlive(run.agent), "the run has ended");
      expect(bench.guard.isAlive()).toBe(true);
    },
  );

  test("ends the runs and itself when the node has left", async () => {
    const bench = makeGuarded();
    const run = await bench.placed([child("ignores-term.sh")]);
    await ready(run);
    bench.lease(bootClock() + HELD_MS);
    await bench.guard.ensure();
    const guard = guardIn(bench.dir)!;
    const left_at = bootClock();
    forgetKept(bench.dir);
    await endsInTime(left_at, () => !isAlive(run.agent), "the run has ended");
    await until(() => !isAlive(guard), "the guard has ended");
    expect(existsSync(join(bench.dir, "cluster.guard"))).toBe(false);
    expect(bench.guard.isAlive()).toBe(false);
  });

  test("would be late without the room before the end of the lease", async () => {
    const bench = makeGuarded();
    const run = await bench.placed(SLEEP);
    const stop_at = bench.leaseThatEndsIn(0);
    const asked = { stateDir: bench.dir, store_id: bench.storeId, node: NODE };
    const args = guardArguments(reaper!.calls, asked).map((word) =>
      word === String(CLUSTER_STOP_ROOM_MS) ? "0" : word,
    );
    spawn(reaper!.perl, args, { stdio: "ignore", detached: true }).unref();
    await expect(endsInTime(stop_at, () => !isAlive(run.agent), "the run has ended")).rejects.toThrow(
      /ms after the stop/,
    );
  });
});

const putDirectory = (path: string): void => {
  const empty = `${path}.directory`;
  mkdirSync(empty);
  rmSync(path);
  renameSync(empty, path);
};

describe.runIf(reaper !== undefined)("the guard of a state directory", () => {
  test("is one, however many ask at once, and a later daemon finds it", async () => {
    const bench = makeGuarded();
    bench.lease(bootClock() + HELD_MS);
    const again = (): LeaseGuard => LeaseGuard.open(bench.dir, bench.storeId, NODE);
    const asking = [bench.guard, bench.guard, again(), again()];
    expect(bench.guard.isAlive()).toBe(false);
    await Promise.all(asking.map((guard) => guard.ensure()));
    const first = guardIn(bench.dir);
    for (const guard of [...asking, again()]) {
      await guard.ensure();
      expect(guard.isAlive()).toBe(true);
    }
    expect(guardIn(bench.dir)).toEqual(first);
    await until(() => guardsOf(bench.dir).length === 1, "the others have ended");
  });

  test("is started again after it was killed, and goes on after it was stopped", async () => {
    const bench = makeGuarded();
    bench.lease(bootClock() + HELD_MS);
    await bench.guard.ensure();
    const first = guardIn(bench.dir)!;
    for (const name of ["SIGTERM", "SIGINT", "SIGHUP"] as const) signalProcess(first, name);
    signalProcess(first, "SIGSTOP");
    await until(() => readStat(first.pid)?.state === "T", "it is stopped");
    expect(bench.guard.isAlive()).toBe(false);
    await bench.guard.ensure();
    expect(guardIn(bench.dir)).toEqual(first);
    signalProcess(first, "SIGKILL");
    await until(() => !bench.guard.isAlive(), "it is dead");
    await bench.guard.ensure();
    expect(bench.guard.isAlive()).toBe(true);
    expect(guardIn(bench.dir)).not.toEqual(first);
  });

  test("takes the place of one for another name of the node", async () => {
    const bench = makeGuarded();
    bench.lease(bootClock() + HELD_MS);
    await bench.guard.ensure();
    const first = guardIn(bench.dir)!;
    const renamed = LeaseGuard.open(bench.dir, bench.storeId, "renamed");
    expect(renamed.isAlive()).toBe(false);
    await renamed.ensure();
    expect(isAlive(first)).toBe(false);
    expect(renamed.isAlive()).toBe(true);
    expect(bench.guard.isAlive()).toBe(false);
  });

  test("writes its file again where it is lost, and ends where another has its place", async () => {
    const bench = makeGuarded();
    bench.lease(bootClock() + HELD_MS);
    await bench.guard.ensure();
    const first = guardIn(bench.dir)!;
    rmSync(join(bench.dir, "cluster.guard"));
    await until(() => guardIn(bench.dir)?.pid === first.pid, "the file is back");
    expect(statSync(join(bench.dir, "cluster.guard")).mode & 0o777).toBe(0o600);
    // A file that names a living process which is no guard is none of it.
    const other = identityOf(process.pid, readStat(process.pid)!.start_time);
    writeFileSync(join(bench.dir, "cluster.guard"), `${other.pid} ${other.start_time}\n`);
    expect(LeaseGuard.open(bench.dir, bench.storeId, NODE).isAlive()).toBe(false);
    expect(bench.guard.isAlive()).toBe(true);
    writeFileSync(join(bench.dir, "cluster.guard"), `${first.pid} ${first.start_time}\n`);
  });

  test("has nothing of its starter: no descriptors, no directory, no marker, a session of its own", async () => {
    const bench = makeGuarded();
    bench.lease(bootClock() + HELD_MS);
    await bench.guard.ensure();
    const { pid } = guardIn(bench.dir)!;
    const open = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
    const own = ["/proc/uptime", join(bench.dir, "cluster.guard")];
    expect(open.toSorted()).toEqual(["/dev/null", "/dev/null", "/dev/null", ...own]);
    expect(readlinkSync(`/proc/${pid}/cwd`)).toBe("/");
    expect(readFileSync(`/proc/${pid}/environ`, "latin1")).toBe("LC_ALL=C\0");
    expect(readStat(pid)).toMatchObject({ pgrp: pid, session: pid });
  });
});

const guardsOf = (stateDir: string): string[] =>
  readdirSync("/proc").filter((name) => {
    try {
      return readFileSync(`/proc/${name}/cmdline`, "utf8").includes(`\0${stateDir}/cluster.guard\0`);
    } catch {
      return false;
    }
  });
