/** Runs that die with their daemon. A daemon is a spawner here: to close it is what its death is to the FIFO that it holds. */
import { closeSync, constants, openSync, readSync, rmSync, writeFileSync } from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import { isAlive } from "../../../src/adapters/process/identity.ts";
import { Lifeline } from "../../../src/adapters/process/lifeline.ts";
import { makeProcessSpawner } from "../../../src/adapters/process/spawner.ts";
import type { Run } from "../../../src/adapters/spawner.ts";
import { child, makeBench, makeCanary, ready, temporaryDirectory, until } from "./support.ts";

const dies = { lifeline: { grace_ms: 1_000 } };
const soon = { lifelineRenewMs: 1_000 };
type Bench = ReturnType<typeof makeBench>;

const die = async (bench: Bench, ...runs: readonly Run[]): Promise<void> => {
  for (const run of runs) run.dispose();
  await bench.spawner.close();
};
const nextDaemon = (bench: Bench) =>
  makeProcessSpawner({ runsDir: bench.runsDir, storeId: bench.storeId, ...soon });

describe("when the daemon dies and none follows", () => {
  test("the run is ended with all that it left anywhere, its exit is written, and one that lives on is not touched", async () => {
    const bench = makeBench(soon);
    const canary = makeCanary(bench.dir);
    const run = await bench.launch([child("new-session.sh"), canary.path], dies);
    const survivor = await bench.launch(["sleep", "1000"]);
    await ready(run);
    await die(bench, run, survivor);
    await until(() => !canary.isHeld(), "all processes of the run are gone");
    await until(() => !isAlive(run.launcher), "its launcher has written the exit");
    const next = nextDaemon(bench);
    expect(await next.observe(run)).toMatchObject({
      kind: "finished",
      exit: { signal: "SIGTERM", signal_inferred: false, cause: "supervisor_died" },
    });
    expect(isAlive(survivor.agent)).toBe(true);
    await next.close();
  });

  test("TERM comes first, and after the grace KILL for who ignores it", async () => {
    const bench = makeBench(soon);
    const run = await bench.launch([child("ignores-term.sh")], dies);
    await ready(run);
    await die(bench, run);
    await until(() => !isAlive(run.agent) && !isAlive(run.launcher), "it was killed");
    const next = nextDaemon(bench);
    expect(await next.observe(run)).toMatchObject({
      exit: { signal: "SIGKILL", signal_inferred: false, cause: "supervisor_died" },
    });
    await next.close();
  });
});

test("a daemon that follows in time renews it, as often as there is one; only the last one's death counts", async () => {
  const bench = makeBench(soon);
  const run = await bench.launch(["sleep", "1000"], dies);
  await die(bench, run);
  for (let n = 0; n < 2; n += 1) {
    const next = nextDaemon(bench);
    const seen = await next.observe(run);
    if (seen.kind !== "running") throw new Error(seen.kind);
    // One that nobody renews takes longer to die than this one would.
    const other = makeBench(soon);
    const clock = await other.launch([child("ignores-term.sh")], dies);
    await ready(clock);
    await die(other, clock);
    await until(() => !isAlive(clock.agent), "the time is over");
    expect(isAlive(run.agent)).toBe(true);
    await next.close();
  }
  await until(() => !isAlive(run.agent), "nobody holds it any more");
});

test("a run whose agent ends by itself leaves no helper, and its exit is its own", async () => {
  const bench = makeBench(soon);
  const run = await bench.launch([child("exits.sh"), "3"], dies);
  const exit = await run.exited;
  expect(exit).toMatchObject({ exit_code: 3, reason: "exited" });
  expect(exit).not.toHaveProperty("cause");
  expect(await run.sweep()).toMatchObject({ killed: 0, survivors: [] });
});

test("a lifeline that somebody deletes or replaces is made again, and who waits on the old one is not told of a death", () => {
  const dir = temporaryDirectory();
  const lifeline = new Lifeline(dir);
  onTestFinished(() => lifeline.close());
  const waiting = (): number => {
    lifeline.hold();
    return openSync(lifeline.path, constants.O_RDONLY | constants.O_NONBLOCK);
  };
  const readers = [waiting()];
  rmSync(lifeline.path);
  readers.push(waiting());
  rmSync(lifeline.path);
  writeFileSync(lifeline.path, "");
  readers.push(waiting());
  // EAGAIN is a FIFO that somebody holds; its end would be 0 bytes.
  for (const reader of readers) expect(() => readSync(reader, Buffer.alloc(1))).toThrow("EAGAIN");
  lifeline.close();
  for (const reader of readers) expect(readSync(reader, Buffer.alloc(1))).toBe(0);
  for (const reader of readers) closeSync(reader);
});
