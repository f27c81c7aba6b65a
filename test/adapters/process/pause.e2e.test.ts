/** A pause at real processes: the whole family stands still, the launcher does not, and a stop ends it by TERM. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readStat } from "../../../src/adapters/process/identity.ts";
import { stopMembers } from "../../../src/adapters/process/pause.ts";
import { kinshipOf, readTable } from "../../../src/adapters/process/process-table.ts";
import type { ProcessRun } from "../../../src/adapters/process/run.ts";
import { child, makeBench, printed, until } from "./support.ts";

const CHILDREN = ["child", "session"] as const;

/** An agent that counts, with a child and a grown-up child that do. */
const family = async () => {
  const bench = makeBench();
  const run = await bench.launch([child("counts-with-family.sh"), bench.dir]);
  const fileOf = (name: string) => join(bench.dir, name);
  await until(
    () =>
      printed(run).includes("\n") &&
      CHILDREN.every((name) => existsSync(fileOf(name)) && readFileSync(fileOf(`${name}.pid`)).length > 1),
    "all of the family count",
  );
  const pids = [
    run.agent.pid,
    ...CHILDREN.map((name) => Number(readFileSync(fileOf(`${name}.pid`), "utf8"))),
  ];
  const numbers = () =>
    [printed(run), ...CHILDREN.map((name) => readFileSync(fileOf(name), "utf8"))].map((text) => text.length);
  const states = () => pids.map((pid) => readStat(pid)?.state);
  return { ...bench, run, pids, numbers, states };
};
const ROUNDS = 20;
const STILL = ["T", "T", "T"];
const haveGoneOn = (before: readonly number[], now: readonly number[]): boolean =>
  now.every((length, n) => length > before[n]!);

describe("a pause", () => {
  test("stops the agent, its group and its descendants, not the launcher; its end lets all go on", async () => {
    const { run, pids, numbers, states } = await family();
    const stopped = await run.pause();
    expect(stopped).toEqual(expect.arrayContaining(pids));
    expect(stopped).not.toContain(run.launcher.pid);
    await until(() => states().join() === STILL.join(), "all of them stand still");
    expect(run.process()).toBe("stopped");
    expect(readStat(run.launcher.pid)?.state).not.toBe("T");
    const before = numbers();
    for (let look = 0; look < 3; look += 1)
      expect((await run.pause()).toSorted()).toEqual(stopped.toSorted());
    expect(numbers()).toEqual(before);
    expect(states()).toEqual(STILL);
    await run.unpause();
    await until(() => haveGoneOn(before, numbers()), "all of them count on");
    expect(states()).not.toContain("T");
  });

  test("reaches the agent before anybody looks who else there is: a look takes long on a busy machine", async () => {
    const { run } = await family();
    const { agent, launcher } = run;
    if (agent === null || launcher === null) throw new Error("it runs");
    let looks = 0;
    const look = async () => {
      looks += 1;
      await until(() => readStat(agent.pid)?.state === "T", "the agent stands still while the table is read");
      return kinshipOf(await readTable());
    };
    const stopped = await stopMembers({ agent, launcher, recorded: new Map() }, undefined, look);
    expect(looks).toBeGreaterThan(0);
    expect(stopped).toContain(agent.pid);
    await run.unpause();
    await until(() => readStat(agent.pid)?.state !== "T", "the agent goes on");
  });

  test("and its end, asked for at once and often, are carried out in that order", async () => {
    const { run, numbers, states } = await family();
    await Promise.all([run.pause(), run.unpause(), run.pause(), run.unpause(), run.pause()]);
    await until(() => states().join() === STILL.join(), "all of them stand still");
    await Promise.all([run.unpause(), run.pause(), run.unpause()]);
    const before = numbers();
    await until(() => haveGoneOn(before, numbers()), "all of them count on");
  });

  test("finds a shell that forks without a rest, and is not held up by a child before its exec", async () => {
    const { launch } = makeBench();
    const run = await launch(["/bin/sh", "-c", "while :; do /bin/true; done"]);
    for (let round = 0; round < ROUNDS; round += 1) {
      await run.pause();
      await until(() => run.process() === "stopped", "the shell stands still");
      await run.unpause();
      await until(() => run.process() === "running", "the shell goes on");
    }
  });

  test("that has just been asked for does not keep TERM from being heard", async () => {
    const { run } = await family();
    const [, signalled] = await Promise.all([run.pause(), run.signal("SIGTERM")]);
    expect(signalled).toContain(run.agent.pid);
    expect(await run.exited).toMatchObject({ exit_code: 0, reason: "exited" });
    expect(printed(run)).toMatch(/\nbye\n$/);
  });

  test("is ended by TERM, which everybody hears", async () => {
    const { run, states, pids } = await family();
    await run.pause();
    await until(() => states().join() === STILL.join(), "all of them stand still");
    await run.signal("SIGTERM");
    expect(await run.exited).toMatchObject({ exit_code: 0, reason: "exited" });
    expect(printed(run)).toMatch(/\nbye\n$/);
    // The one with a session of its own was sent no TERM, but is not left stopped either.
    await until(() => readStat(pids[2]!)?.state !== "T", "the grown-up child goes on");
    expect(await run.sweep()).toMatchObject({ survivors: [] });
  });

  test("does not keep an end from outside from being seen", async () => {
    const { run } = await family();
    await run.pause();
    process.kill(run.agent.pid, "SIGKILL");
    expect(await run.exited).toMatchObject({ raw_status: 137, signal_inferred: true });
    expect(await run.pause()).toEqual([]);
    expect(await run.sweep()).toMatchObject({ survivors: [] });
  });

  test("leaves the pump of an open stdin alone: what was sent meanwhile is read afterwards, up to its end", async () => {
    const { launch } = makeBench();
    const run: ProcessRun = await launch(["cat"], { stdin: { kind: "open", text: "one\n" } });
    await until(() => printed(run) === "one\n", "the first line is read");
    await run.pause();
    await until(() => run.process() === "stopped", "the agent stands still");
    await run.write("two\n");
    const closing = run.closeStdin();
    await run.unpause();
    await closing;
    expect(await run.exited).toMatchObject({ exit_code: 0 });
    expect(printed(run)).toBe("one\ntwo\n");
  });
});
