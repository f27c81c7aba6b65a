/** Output of agents and the disk (processes.md, Bounds): what is in the log is given back, and what is not has a quota. */
import { execFileSync } from "node:child_process";
import { existsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readStat } from "../../src/adapters/process/identity.ts";
import { releasedBelow } from "../../src/adapters/process/release.ts";
import { RELEASE_STEP_BYTES, SPOOL_KEPT_BYTES } from "../../src/base/limits.ts";
import { child, type Daemon, environment, startDaemon, temporaryDirectory, until } from "./support.ts";

const LINES = 1_200;
/** A step that is not full, one that was not asked for because another was at work, and what is kept. */
const HELD_MAX_BYTES = 2 * RELEASE_STEP_BYTES + 2 * SPOOL_KEPT_BYTES;

const canPunch = (): boolean => {
  try {
    execFileSync("fallocate", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};

test.skipIf(!canPunch())(
  "of 70 MB that an agent prints little stays on the disk, whoever kills the daemon in between",
  {
    timeout: 240_000,
  },
  async () => {
    const stop = join(temporaryDirectory(), "stop");
    let daemon: Daemon = await startDaemon();
    const id = await daemon.spawn([child("prints-much.sh"), String(LINES), stop]);
    const spool = join(daemon.stateDir, "runs", id, "1", "stdout");
    await until("something is released", () => existsSync(`${spool}.released`));
    await daemon.kill9();
    const released = releasedBelow(spool);
    daemon = await startDaemon(daemon.stateDir);

    const numbers: number[] = [];
    const watching = await daemon.watchLines(
      { ids: [id], from: 0, types: ["agent.event"], kinds: ["TextOutput"] },
      (line) => {
        const number = /"text":"(\d+) x/.exec(line)?.[1];
        if (number !== undefined) numbers.push(Number(number));
      },
    );
    await until("all is in the log", () => numbers.length >= LINES);
    expect(numbers).toEqual(Array.from({ length: LINES }, (_, n) => n + 1));
    await until("the disk is given back", () => statSync(spool).blocks * 512 < HELD_MAX_BYTES);
    expect(statSync(spool).size).toBeGreaterThan(64 * 1024 * 1024);
    // The one that took the run over has gone on with it.
    expect(releasedBelow(spool)).toBeGreaterThan(released);

    const { stdout, stderr } = await daemon.agentSays("logs", id, "--raw", "-o", "text");
    expect(stdout).not.toContain("\0");
    expect(Buffer.byteLength(stdout)).toBe(statSync(spool).size - releasedBelow(spool));
    expect(stderr).toContain(`${releasedBelow(spool)} bytes of its stdout are no longer kept raw`);
    writeFileSync(stop, "");
    await daemon.wait([id]);
    watching.stop();
  },
);

test("an agent whose stderr nobody reads is ended at its quota, with the error of its own and nothing left", async () => {
  const daemon = await startDaemon();
  const { id } = await daemon.request<{ id: string }>("agent/spawn", {
    spec: {
      kind: "claude_code",
      prompt: "x",
      cwd: "/",
      client_env: { ...environment(), CLAUDE_BINARY: child("complains.sh") },
      restart: "permanent",
      stall_ms: 0,
      output_quota_bytes: 4 * 1024 * 1024,
    },
  });
  await daemon.wait([id]);
  expect(await daemon.info(id)).toMatchObject({ state: "failed", error: { code: "OUTPUT_TOO_LARGE" } });
  const ends = await daemon.history(["worker_limit_reached", "worker_signal_sent", "worker_exited"], [id]);
  expect(ends.map(({ type }) => type).slice(0, 2)).toEqual(["worker_limit_reached", "worker_signal_sent"]);
  expect(ends[0]?.payload).toMatchObject({ limit: "output", bound: 4 * 1024 * 1024 });
  expect(ends.at(-1)?.payload).toMatchObject({ sweep: { survivors: [] } });
});

test("an agent that prints without end is ended at its quota, and what nobody had read is told and not read for an hour", {
  timeout: 240_000,
}, async () => {
  const daemon = await startDaemon();
  const quota = 16 * 1024 * 1024;
  const id = await daemon.spawn(["yes"], { output_quota_bytes: quota, restart: "permanent" });
  await daemon.wait([id]);
  expect(await daemon.info(id)).toMatchObject({ state: "failed", error: { code: "OUTPUT_TOO_LARGE" } });
  const [left, ...others] = await daemon.history(["worker_log_chunk"], [id]);
  expect(others).toEqual([]);
  expect(left?.payload).toMatchObject({ stream: "stdout", reason: "stopped" });
  // All that it wrote is in the log, or counted, or both ends of what is counted are in it.
  const spool = statSync(join(daemon.stateDir, "runs", id, "1", "stdout"));
  const events = (await daemon.history(["agent.event"], [id])).filter(
    ({ payload }) => payload.text === "y\n",
  );
  expect(events.length * 2 + Number(left?.payload.bytes)).toBe(spool.size - (spool.size % 2));
});

test("an agent that may be paused stands still at its quota, over its daemon's death too, and all that it printed is in the log once", {
  timeout: 240_000,
}, async () => {
  const stop = join(temporaryDirectory(), "stop");
  const first = await startDaemon();
  const id = await first.spawn([child("floods-in-bursts.sh"), stop], {
    output_quota_bytes: 1024 * 1024,
    on_output_quota: "pause",
  });
  await until("it runs", async () => (await first.info(id)).pid !== null);
  const agent = (await first.info(id)).pid as number;
  await until("it stands still", () => readStat(agent)?.state === "T");
  await first.kill9();
  // A reader that reads on lets it go on; then it sees that it may end.
  writeFileSync(stop, "");
  const second = await startDaemon(first.stateDir);
  const texts: string[] = [];
  const reading = await second.watchLines(
    { ids: [id], from: 0, types: ["agent.event"], kinds: ["TextOutput"], follow: false },
    (line) => texts.push(/"text":"(\d+|printed \d+)/.exec(line)?.[1] ?? line),
  );
  await reading.over;
  expect(texts.pop()).toBe(`printed ${texts.length}`);
  expect(texts.findIndex((text, n) => text !== String(n + 1))).toBe(-1);
  expect(await second.info(id)).toMatchObject({ state: "completed" });
  const told = await second.history(["worker_paused", "worker_unpaused", "worker_limit_reached"], [id]);
  const [pause, unpause] = told;
  expect(pause).toMatchObject({ type: "worker_paused", payload: { reason: "output", pids: [agent] } });
  expect(unpause).toMatchObject({ type: "worker_unpaused", payload: { reason: "output", by: "daemon" } });
  // One after the other.
  expect(told.map(({ type }) => type)).toEqual(
    told.map((_, n) => (n % 2 === 0 ? "worker_paused" : "worker_unpaused")),
  );
});

test("below the floor of free disk a spawn is refused in a sentence, and the status says why", async () => {
  const daemon = await startDaemon(undefined, { env: { HOLDFAST_DISK_MIN: "8000000G" } });
  await expect(daemon.agent("spawn", "--", "true")).rejects.toMatchObject({
    code: 1,
    stdout: expect.stringContaining('"code":"DISK_FULL"'),
  });
  expect(await daemon.agent("daemon", "status", "-o", "text")).toContain("nothing is started below");
  expect(await daemon.list()).toEqual([]);
});
