/** Real cgroups, where this machine lets the test make one. It makes one of its own and takes it away again. */
import { mkdirSync, readdirSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findDelegated } from "../../../src/adapters/process/cgroups.ts";
import { figure } from "../../support/figures.ts";
import { child, makeBench, makeCanary, until } from "./support.ts";

/** Undefined, and why, where there is none to be made. */
const ownCgroup = (): string | undefined => {
  try {
    const mount = /^\S+ (\S+) cgroup2 /m.exec(readFileSync("/proc/self/mounts", "latin1"))?.[1];
    const base = findDelegated(process.env.HOLDFAST_CGROUP, process.getuid?.() ?? 0) ?? mount;
    if (base === undefined) throw new Error("no cgroup2 is mounted");
    const dir = join(base, `holdfast-test-${process.pid}`);
    mkdirSync(dir);
    onTestFinished(async () => {
      const isFree = () => readdirSync(dir, { withFileTypes: true }).every((entry) => !entry.isDirectory());
      await until(isFree, "no run has a cgroup any more");
      rmdirSync(dir);
    });
    return dir;
  } catch (cause) {
    process.stdout.write(`skipped: no cgroup can be made here (${(cause as Error).message})\n`);
    return undefined;
  }
};

/** The same with all controllers that limits need, and a bench in it. */
const limitedBench = async () => {
  const cgroup = ownCgroup();
  if (cgroup === undefined) return undefined;
  const made = makeBench({ cgroup });
  const limits = { pids: PIDS, memory_bytes: MEMORY_BYTES };
  const refusal = await made.spawner.check({ ...made.request(["true"]), limits }).catch((cause) => cause);
  if (refusal === undefined) return { ...made, limits, cgroup };
  process.stdout.write(`skipped: no limit can be held here (${refusal.message})\n`);
  return undefined;
};

const PIDS = 40;
const MEMORY_BYTES = 256 * 1024 * 1024;
const NOT_HELD = "no cgroup with the controllers of limits is delegated here";
/** Twice what it may have, and no more should nobody stop it. */
const GREEDY = `const held = []; for (let mb = 0; mb < 512; mb += 1) held.push(Buffer.alloc(1 << 20, 1));`;

test("a fork bomb comes no further than its limit, others start beside it, and its kill leaves nothing (R30)", async ({
  skip,
}) => {
  const made = await limitedBench();
  if (made === undefined) return skip(NOT_HELD);
  const { launch, limits, dir, cgroup } = made;
  const canary = makeCanary(dir);
  const bomb = await launch([child("doubles.sh"), canary.path], { limits });
  const own = readdirSync(cgroup).filter((name) => name.startsWith("run-"))[0] ?? "";
  const read = (file: string): string => readFileSync(join(cgroup, own, file), "latin1");
  await until(() => /^max [1-9]/m.test(read("pids.events")), "it was refused another process");
  expect(Number(read("pids.current"))).toBeLessThanOrEqual(PIDS);
  expect((await (await launch(["true"])).exited).exit_code).toBe(0);
  await bomb.kill();
  expect(await bomb.sweep()).toMatchObject({ method: "cgroup", survivors: [] });
  expect(canary.isHeld()).toBe(false);
  figure("R30", { rounds: 1, failures: 0, note: `fork bombs at a limit of ${PIDS} processes` });
});

test("an agent that passes its memory limit is told apart from one that was killed", async ({ skip }) => {
  const made = await limitedBench();
  if (made === undefined) return skip(NOT_HELD);
  const { launch, limits } = made;
  const greedy = await launch([process.execPath, "-e", GREEDY], { limits });
  expect(await greedy.exited).toMatchObject({ signal: "SIGKILL", cause: "out_of_memory" });
  const killed = await launch(["sleep", "1000"], { limits });
  process.kill(killed.agent.pid, "SIGKILL");
  expect((await killed.exited).cause).toBeUndefined();
});

test("in a cgroup nothing hides: env -i setsid, from an agent that ended before anybody looked", async ({
  skip,
}) => {
  const cgroup = ownCgroup();
  if (cgroup === undefined) return skip("no cgroup can be made here");
  const bench = makeBench({ cgroup });
  const canary = makeCanary(bench.dir);
  const run = await bench.launch([child("hides-and-ends.sh"), canary.path]);
  await run.exited;
  expect(canary.isHeld()).toBe(true);
  expect(await run.sweep()).toMatchObject({ method: "cgroup", survivors: [] });
  expect(canary.isHeld()).toBe(false);
});

test("limits that the cgroup has no controller for are refused before anything is made", async ({ skip }) => {
  const cgroup = ownCgroup();
  if (cgroup === undefined) return skip("no cgroup can be made here");
  const given = readFileSync(join(cgroup, "cgroup.controllers"), "latin1");
  if (/pids/.test(given)) return skip("this machine has all controllers here");
  const { spawner, request } = makeBench({ cgroup });
  await expect(spawner.check({ ...request(["true"]), limits: { pids: 5 } })).rejects.toMatchObject({
    code: "LIMITS_UNAVAILABLE",
  });
});
