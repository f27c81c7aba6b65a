import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isAlive } from "../../../src/adapters/process/identity.ts";
import { readRunFile, writeRunFile } from "../../../src/adapters/process/run-directory.ts";
import { makeProcessSpawner } from "../../../src/adapters/process/spawner.ts";
import type { Run } from "../../../src/adapters/spawner.ts";
import { child, makeBench, makeCanary, printed, ready, until } from "./support.ts";

/** As if the daemon had been killed: the run is let go of, and another spawner on the same directory looks. */
const restarted = (bench: ReturnType<typeof makeBench>, ...runs: Run[]) => {
  for (const run of runs) run.dispose();
  return makeProcessSpawner({ runsDir: bench.runsDir, storeId: bench.storeId });
};

const kindOf = async (spawner: ReturnType<typeof makeProcessSpawner>, run: Run) =>
  (await spawner.observe(run)).kind;

describe("after a restart of the daemon", () => {
  test("an agent that runs is adopted: the same process, its exit told, by its launcher", async () => {
    const bench = makeBench();
    const before = await bench.launch([child("echoes.sh")], { stdin: { kind: "open", text: "one\n" } });
    await until(() => printed(before) === "got one\n", "it reads");
    const next = restarted(bench, before);
    const seen = await next.observe(before);
    if (seen.kind !== "running") throw new Error(seen.kind);
    bench.keep(seen.run);
    expect(seen.run).toMatchObject({ agent: before.agent, launcher: before.launcher, pgid: before.pgid });
    let told = 0;
    seen.run.onOutput(() => {
      told += 1;
    });
    await seen.run.write("two\n");
    await until(() => told > 0 && printed(before).endsWith("got two\n"), "it reads the next daemon too");
    await seen.run.closeStdin();
    expect(await seen.run.exited).toMatchObject({ exit_code: 0, reason: "exited" });
    await next.close();
  });

  test("an agent that ended meanwhile is finished, with its status", async () => {
    const bench = makeBench();
    const run = await bench.launch([child("exits.sh"), "7"]);
    await run.exited;
    const next = restarted(bench, run);
    expect(await next.observe(run)).toMatchObject({
      kind: "finished",
      exit: { exit_code: 7, reason: "exited" },
    });
    await next.close();
  });

  test("a signal that the last daemon sent is still known to be ours", async () => {
    const bench = makeBench();
    const run = await bench.launch(["sleep", "1000"]);
    await run.signal("SIGTERM");
    await run.exited;
    const next = restarted(bench, run);
    expect(await next.observe(run)).toMatchObject({ exit: { signal: "SIGTERM", signal_inferred: false } });
    await next.close();
  });

  test("an agent whose launcher alone was killed is adopted, and its end is told as unknown", async () => {
    const bench = makeBench();
    const run = await bench.launch(["sleep", "1000"]);
    process.kill(run.launcher.pid, "SIGKILL");
    await until(() => !isAlive(run.launcher), "the launcher is dead");
    const next = restarted(bench, run);
    const seen = await next.observe(run);
    if (seen.kind !== "running") throw new Error(seen.kind);
    process.kill(run.agent.pid, "SIGKILL");
    expect(await seen.run.exited).toMatchObject({ reason: "unknown", exit_code: null });
    await next.close();
  });

  test("launcher and agent dead without an exit file are lost, and what they left is swept", async () => {
    const bench = makeBench();
    const canary = makeCanary(bench.dir);
    const run = await bench.launch([child("new-session.sh"), canary.path]);
    await ready(run);
    run.dispose();
    process.kill(-run.pgid, "SIGKILL");
    await until(() => !isAlive(run.launcher) && !isAlive(run.agent), "both are dead");
    const next = restarted(bench, run);
    const seen = await next.observe(run);
    if (seen.kind !== "lost") throw new Error(seen.kind);
    expect(canary.isHeld()).toBe(true);
    expect(await seen.run.sweep()).toMatchObject({ killed: 1, survivors: [] });
    expect(canary.isHeld()).toBe(false);
    expect(await seen.run.exited).toMatchObject({ reason: "unknown" });
    await next.close();
  });

  test("another boot's pids are nobody, whoever has them now", async () => {
    const bench = makeBench();
    const run = await bench.launch(["sleep", "1000"]);
    const dir = join(bench.runsDir, "W", "1");
    const file = { ...readRunFile(dir)!, boot_id: "another boot" };
    rmSync(join(dir, "run.json"));
    writeRunFile(dir, file);
    const next = restarted(bench, run);
    const seen = await next.observe(run);
    if (seen.kind !== "lost") throw new Error(seen.kind);
    expect(await seen.run.kill()).toEqual([]);
    expect(await seen.run.signal("SIGTERM")).toEqual([]);
    expect(isAlive(run.agent)).toBe(true);
    expect(await seen.run.exited).toMatchObject({ reason: "unknown", cause: "machine_restarted" });
    await next.close();
  });

  test("a run that no launcher claimed never started, and never will; asked again, it is the same", async () => {
    const bench = makeBench();
    const run = await bench.launch(["true"]);
    await run.exited;
    const dir = join(bench.runsDir, "W", "1");
    for (const file of ["claimed", "pid", "exit"]) rmSync(join(dir, file));
    const next = restarted(bench, run);
    expect(await next.observe(run)).toEqual({ kind: "never_started" });
    expect(await next.observe(run)).toEqual({ kind: "never_started" });
    expect(await next.observe({ worker_id: "nobody", incarnation: 1 })).toEqual({ kind: "never_started" });
    await next.close();
  });

  test("an exit file that was not written whole is none", async () => {
    const bench = makeBench();
    const run = await bench.launch(["true"]);
    await run.exited;
    await until(() => !isAlive(run.launcher), "the launcher has ended");
    writeFileSync(join(bench.runsDir, "W", "1", "exit"), "");
    const next = restarted(bench, run);
    expect(await kindOf(next, run)).toBe("lost");
    await next.close();
  });
});
