/** Real cgroups, where this machine lets the test make one. It makes one of its own and takes it away again. */
import { mkdirSync, readdirSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { child, makeBench, makeCanary, until } from "./support.ts";

/** Undefined, and why, where there is none to be made. */
const ownCgroup = (): string | undefined => {
  try {
    const mount = /^\S+ (\S+) cgroup2 /m.exec(readFileSync("/proc/self/mounts", "latin1"))?.[1];
    if (mount === undefined) throw new Error("no cgroup2 is mounted");
    const dir = join(mount, `holdfast-test-${process.pid}`);
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
