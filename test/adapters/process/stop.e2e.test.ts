import { spawn } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { identityOf, isAlive, readStat, signalProcess } from "../../../src/adapters/process/identity.ts";
import { theReaper } from "../../../src/adapters/process/reaper.ts";
import type { ProcessRun } from "../../../src/adapters/process/run.ts";
import { figure } from "../../support/figures.ts";
import { child, makeBench, makeCanary, printed, ready, temporaryDirectory, until } from "./support.ts";

const CLEAN = {
  killed: expect.any(Number),
  survivors: [],
  method: "marker",
  unreadable: expect.any(Number),
  checked_by: ["group", "marker", "output", "descent"],
};

describe("a signal", () => {
  test("TERM ends an agent with default actions, and is then known to be ours", async () => {
    const { launch } = makeBench();
    const run = await launch(["sleep", "1000"]);
    expect(await run.signal("SIGTERM")).toEqual([run.agent.pid]);
    expect(await run.exited).toEqual({
      exit_code: null,
      signal: "SIGTERM",
      signal_inferred: false,
      raw_status: 143,
      reason: "signalled",
    });
    expect(await run.signal("SIGTERM")).toEqual([]);
  });

  test("that somebody else sent is inferred", async () => {
    const { launch } = makeBench();
    const run = await launch(["sleep", "1000"]);
    process.kill(run.agent.pid, "SIGKILL");
    expect(await run.exited).toEqual({
      exit_code: 137,
      signal: "SIGKILL",
      signal_inferred: true,
      raw_status: 137,
      reason: "signalled",
    });
    const exits = await launch([child("exits.sh"), "137"]);
    expect(await exits.exited).toMatchObject({ exit_code: 137, signal_inferred: true, raw_status: 137 });
  });

  test("TERM reaches a stopped agent at once", async () => {
    const { launch } = makeBench();
    const run = await launch(["sleep", "1000"]);
    expect(await run.signal("SIGSTOP")).toEqual([run.agent.pid]);
    await until(() => run.process() === "stopped", "the agent is stopped");
    expect(readStat(run.launcher.pid)?.state).not.toBe("T");
    await run.signal("SIGTERM");
    expect(await run.exited).toMatchObject({ signal: "SIGTERM", signal_inferred: false });
  });

  test.each([
    "SIGHUP",
    "SIGINT",
    "SIGQUIT",
    "SIGUSR1",
    "SIGUSR2",
    "SIGALRM",
    "SIGPIPE",
    "SIGABRT",
    "SIGTERM",
  ] as const)("%s ends the agent, never the launcher before it has written the exit", async (signal) => {
    const { launch } = makeBench();
    const run = await launch(["sleep", "1000"]);
    await run.signal(signal);
    expect(await run.exited).toMatchObject({ signal, signal_inferred: false, reason: "signalled" });
  });

  test("to a process whose start time is another one is refused", () => {
    const mine = readStat(process.pid)!;
    expect(signalProcess(identityOf(process.pid, mine.start_time), "SIGCONT")).toBe(true);
    const foreign = spawn("sleep", ["1000"]);
    const stat = readStat(foreign.pid!)!;
    expect(signalProcess(identityOf(stat.pid, `${stat.start_time}1`), "SIGKILL")).toBe(false);
    expect(
      signalProcess({ ...identityOf(stat.pid, stat.start_time), boot_id: "another boot" }, "SIGKILL"),
    ).toBe(false);
    expect(isAlive(identityOf(stat.pid, stat.start_time))).toBe(true);
    foreign.kill("SIGKILL");
    figure("R8", {
      rounds: 2,
      failures: 0,
      note: "signals to a pid that is somebody else's by its start time, or by its boot",
    });
  });
});

describe("kill", () => {
  test("ends a child that ignores TERM", async () => {
    const { launch } = makeBench();
    const run = await launch([child("ignores-term.sh")]);
    await ready(run);
    await run.signal("SIGTERM");
    expect(run.process()).toBe("running");
    expect(await run.kill()).toContain(run.agent.pid);
    expect(await run.exited).toMatchObject({ signal: "SIGKILL", signal_inferred: false });
  });

  test.each([
    "forks.sh",
    "new-session.sh",
    "double-fork.sh",
    "hides-environment.sh",
    "ends-its-first-thread.sh",
  ])("then sweep leave nothing of %s", async (name) => {
    const { launch, dir } = makeBench();
    const canary = makeCanary(dir);
    const run = await launch([child(name), canary.path]);
    await ready(run);
    expect(canary.isHeld()).toBe(true);
    await run.kill();
    await run.exited;
    expect(await run.sweep()).toMatchObject({ survivors: [], method: "marker" });
    expect(canary.isHeld()).toBe(false);
    await until(() => !isAlive(run.launcher), "the launcher has ended");
  });

  test("of a run that has ended is no error", async () => {
    const { launch } = makeBench();
    const run = await launch(["true"]);
    await run.exited;
    expect(await run.kill()).toEqual([]);
    expect(await run.sweep()).toMatchObject({ killed: 0, survivors: [] });
  });
});

describe("sweep", () => {
  test("ends what an agent that ended well left behind, holding its stdout", async () => {
    const { launch, dir } = makeBench();
    const canary = makeCanary(dir);
    const run = await launch([child("leaves-child.sh"), canary.path]);
    expect(await run.exited).toMatchObject({ exit_code: 0, reason: "exited" });
    expect(canary.isHeld()).toBe(true);
    expect(await run.sweep()).toEqual({ ...CLEAN, killed: 1 });
    expect(canary.isHeld()).toBe(false);
    expect(printed(run)).toBe("bye\n");
  });

  test("touches no other incarnation, worker or store", async () => {
    const one = makeBench();
    const other = makeBench();
    const canaries = [1, 2, 3, 4].map(() => makeCanary(one.dir)) as [
      ReturnType<typeof makeCanary>,
      ...ReturnType<typeof makeCanary>[],
    ];
    const [mine, ...others] = canaries;
    const args = (n: number) => [child("leaves-child.sh"), canaries[n]!.path];
    const run = await one.launch(args(0), { worker_id: "A", incarnation: 1 });
    const rest = [
      await one.launch(args(1), { worker_id: "A", incarnation: 11 }),
      await one.launch(args(2), { worker_id: "B", incarnation: 1 }),
      await other.launch(args(3), { worker_id: "A", incarnation: 1 }),
    ];
    await Promise.all([run, ...rest].map(({ exited }) => exited));
    await run.sweep();
    expect(mine.isHeld()).toBe(false);
    expect(others.map((canary) => canary.isHeld())).toEqual([true, true, true]);
  });

  test.skipIf(theReaper() === undefined).each(["ends", "stays"])(
    "without a cgroup finds a double fork with a session of its own, no environment and no output, of an agent that %s",
    async (way) => {
      const { launch, dir } = makeBench();
      const canary = makeCanary(dir);
      const run = await launch([child("vanishes.sh"), canary.path, way]);
      if (way === "stays") {
        await ready(run);
        await run.kill();
      }
      await run.exited;
      await run.sweep();
      expect(canary.isHeld()).toBe(false);
      expect(isAlive(run.launcher)).toBe(false);
    },
  );

  test("ends who calls itself a daemon", async () => {
    const { launch, dir } = makeBench();
    const canary = makeCanary(dir);
    const run = await launch([child("poses-as-daemon.sh"), canary.path]);
    await ready(run);
    await until(() => canary.isHeld(), "it holds its canary");
    await run.kill();
    await run.exited;
    await run.sweep();
    expect(canary.isHeld()).toBe(false);
  });

  test("says no more than it did: a launcher that was killed vouches for nobody", async () => {
    const { launch } = makeBench();
    const run = await launch(["sleep", "1000"]);
    process.kill(run.launcher.pid, "SIGKILL");
    await until(() => !isAlive(run.launcher), "the launcher is gone");
    await run.kill();
    await run.exited;
    expect(await run.sweep()).toMatchObject({ checked_by: ["marker", "output"] });
  });

  describe.skipIf(theReaper() === undefined)("that trusts the launcher", () => {
    test("looks for nobody where the launcher has ended by itself", async () => {
      const { launch } = makeBench();
      const run = await launch(["true"]);
      await run.exited;
      expect(await run.sweep({ trustsLauncher: true })).toEqual({
        ...CLEAN,
        killed: 0,
        unreadable: 0,
        checked_by: ["group", "descent"],
      });
      expect(isAlive(run.launcher)).toBe(false);
    });

    test("ends what the agent has left", async () => {
      const { launch, dir } = makeBench();
      const canary = makeCanary(dir);
      const run = await launch([child("vanishes.sh"), canary.path, "ends"]);
      await run.exited;
      expect(await run.sweep({ trustsLauncher: true })).toMatchObject({ checked_by: CLEAN.checked_by });
      expect(canary.isHeld()).toBe(false);
    });

    test("takes no word of one that was killed, or that has left no exit", async () => {
      const { launch } = makeBench();
      const killed = await launch(["sleep", "1000"]);
      process.kill(killed.launcher.pid, "SIGKILL");
      await until(() => !isAlive(killed.launcher), "the launcher is gone");
      await killed.kill();
      await killed.exited;
      expect(await killed.sweep({ trustsLauncher: true })).toMatchObject({
        checked_by: ["marker", "output"],
      });
      const mute = await launch(["true"]);
      await mute.exited;
      rmSync(join(dirname(mute.spool("stdout")), "exit"));
      expect((await mute.sweep({ trustsLauncher: true })).checked_by).toContain("marker");
    });
  });

  describe.skipIf(theReaper() === undefined)("of a run that was taken over", () => {
    const takenOver = async (...argv: readonly string[]) => {
      const { launch, keep, spawner } = makeBench();
      const run = await launch(argv);
      await ready(run);
      const { worker_id, incarnation, agent, launcher } = run;
      const observe = () => spawner.observe({ worker_id, incarnation, processes: { agent, launcher } });
      const observed = await observe();
      if (observed.kind !== "running") throw new Error(observed.kind);
      return { taken: keep(observed.run), observe };
    };

    test.each([
      ["all of it is killed", (run: ProcessRun) => run.kill()],
      ["somebody kills the agent alone", ({ agent }: ProcessRun) => process.kill(agent.pid, "SIGKILL")],
    ])("says descent where its launcher, a sub-reaper, has the orphans, and %s", async (_way, kill) => {
      const canary = makeCanary(temporaryDirectory());
      const { taken } = await takenOver(child("vanishes.sh"), canary.path, "stays");
      await kill(taken);
      await taken.exited;
      expect(await taken.sweep()).toMatchObject({ checked_by: CLEAN.checked_by });
      expect(canary.isHeld()).toBe(false);
      expect(isAlive(taken.launcher)).toBe(false);
    });

    test("says descent where the agent ends at TERM and leaves nobody: its launcher has waited", async () => {
      const { taken } = await takenOver("sh", "-c", "echo ready; exec sleep 1000");
      await taken.signal("SIGTERM");
      expect(await taken.exited).toMatchObject({ signal: "SIGTERM", signal_inferred: false });
      // An end that nobody delays would be over by then.
      await until(() => readStat(taken.launcher.pid)?.state === "S", "the launcher sleeps");
      expect(await taken.sweep()).toEqual({ ...CLEAN, killed: 0 });
      expect(isAlive(taken.launcher)).toBe(false);
    });

    test("says descent where its daemon has died before the sweep, and the next one sweeps", async () => {
      const canary = makeCanary(temporaryDirectory());
      const { taken, observe } = await takenOver(child("vanishes.sh"), canary.path, "stays");
      await taken.kill();
      await taken.exited;
      const next = await observe();
      if (next.kind !== "finished") throw new Error(next.kind);
      expect(await next.run.sweep()).toMatchObject({ checked_by: CLEAN.checked_by });
      expect(isAlive(taken.launcher)).toBe(false);
    });

    test("says no more than it did where its launcher was killed", async () => {
      const { taken } = await takenOver("sh", "-c", "echo ready; exec sleep 1000");
      process.kill(taken.launcher.pid, "SIGKILL");
      await until(() => !isAlive(taken.launcher), "the launcher is gone");
      await taken.kill();
      await taken.exited;
      expect(await taken.sweep()).toMatchObject({ checked_by: ["marker", "output"] });
    });
  });

  test.skipIf(theReaper() === undefined)(
    "loads into the launcher nothing that the agent's environment has for perl, and gives the agent all of it",
    async () => {
      const { launch, dir } = makeBench();
      const canary = makeCanary(dir);
      const ledger = join(dir, "loaded");
      writeFileSync(join(dir, "Loaded.pm"), `open(my $f, ">>", "${ledger}"); print $f "@ARGV\n"; 1;\n`);
      const env = { PATH: process.env.PATH ?? "", PERL5LIB: dir, PERL5OPT: "-MLoaded", PERL_BADLANG: "1" };
      const script = `echo "$PERL5LIB $PERL5OPT $PERL_BADLANG"; perl -e 1 agent; . ${child("vanishes.sh")}`;
      const run = await launch(["sh", "-c", script, "sh", canary.path, "ends"], { env });
      await run.exited;
      await run.sweep();
      expect(canary.isHeld()).toBe(false);
      expect(printed(run)).toBe(`${dir} -MLoaded 1\n`);
      expect(readFileSync(ledger, "utf8")).toBe("agent\n");
    },
  );

  test("ends who is in the middle of an exec, and shows no environment just then", async () => {
    const { launch, dir } = makeBench();
    const canaries = Array.from({ length: 60 }, () => makeCanary(dir));
    const leaves = 'for each in "$@"; do setsid "$0" "$each" >/dev/null 2>&1 & done';
    const paths = canaries.map(({ path }) => path);
    const run = await launch(["/bin/sh", "-c", leaves, child("execs-forever.sh"), ...paths]);
    await run.exited;
    await until(() => canaries.every((canary) => canary.isHeld()), "they hold their canaries");
    expect(await run.sweep()).toMatchObject({ killed: canaries.length, survivors: [] });
    expect(canaries.filter((canary) => canary.isHeld())).toEqual([]);
  });

  test("is over when the launcher is gone, too, which had the exit to write", async () => {
    const { launch } = makeBench();
    for (let round = 0; round < 40; round += 1) {
      const run = await launch(["true"]);
      await run.exited;
      await run.sweep();
      expect(isAlive(run.launcher)).toBe(false);
    }
  });

  test("serves all that wait at once, each with its own", async () => {
    const { launch, dir } = makeBench();
    const canaries = Array.from({ length: 10 }, () => makeCanary(dir));
    const runs = await Promise.all(
      canaries.map((canary, n) => launch([child("leaves-child.sh"), canary.path], { worker_id: `W${n}` })),
    );
    await Promise.all(runs.map((run) => run.exited));
    const reports = await Promise.all(runs.map((run) => run.sweep()));
    expect(reports.map(({ killed }) => killed)).toEqual(canaries.map(() => 1));
    expect(canaries.some((canary) => canary.isHeld())).toBe(false);
  });
});

test("a child without our marker, of an agent that ended before anybody looked, is found by where its output goes", async () => {
  const { launch, dir } = makeBench();
  const canary = makeCanary(dir);
  const hides = 'exec 9<>"$0"; env -i /usr/bin/setsid /bin/sleep 1000 &';
  const run = await launch(["/bin/sh", "-c", hides, canary.path]);
  await run.exited;
  expect(canary.isHeld()).toBe(true);
  expect(await run.sweep()).toMatchObject({ killed: 1, survivors: [] });
  expect(canary.isHeld()).toBe(false);
});
