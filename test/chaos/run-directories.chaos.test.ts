/** An agent can write in its own run directory. The daemon and its successors serve everybody and signal nobody else, whatever it puts there. */
import { spawn } from "node:child_process";
import { lstatSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readStat } from "../../src/adapters/process/identity.ts";
import { child, type Daemon, lives, startDaemon, temporaryDirectory, until } from "./support.ts";

const runsOf = (daemon: Daemon): string => join(daemon.stateDir, "runs");

/** Something that is nobody's worker. It ends with the test at the latest. */
const bystander = (): { readonly pid: number; readonly start: string } => {
  const process = spawn("sleep", ["1000"], { detached: true, stdio: "ignore" });
  onTestFinished(() => void process.kill("SIGKILL"));
  const pid = process.pid as number;
  return { pid, start: readStat(pid)?.start_time ?? "" };
};

const poisoned = async (
  daemon: Daemon,
  file: string,
  ...how: readonly string[]
): Promise<{ readonly id: string; readonly pid: number; readonly dir: string }> => {
  const id = await daemon.spawn([child("poisons-run-directory.sh"), runsOf(daemon), file, ...how]);
  const dir = join(runsOf(daemon), id, "1");
  const isMade = () => lstatSync(`${join(dir, file)}.made`, { throwIfNoEntry: false }) === undefined;
  const isThere = () => {
    const stats = lstatSync(join(dir, file), { throwIfNoEntry: false });
    return how[0] === "text"
      ? stats?.isFile() === true && readFileSync(join(dir, file), "utf8") === `${how[1]}\n`
      : stats !== undefined && !stats.isFile();
  };
  await until(`${file} is poisoned`, () => isMade() && isThere());
  const pid = async () => (await daemon.info(id)).pid;
  await until("its process is known", async () => (await pid()) !== null);
  return { id, pid: (await pid()) as number, dir };
};

const findings = async (daemon: Daemon, id: string) =>
  (await daemon.history(["worker_run_finding"], [id])).map(
    ({ payload: { file, what } }) => `${file} ${what}`,
  );

const FILES = [
  "exit",
  "exit.tmp",
  "pid",
  "claimed",
  "signals",
  "run.json",
  "stdin",
  "stdin.eof",
  "stdout",
  "stderr",
  "stdout.released",
] as const;

test.each(["fifo", "zero", "directory"])(
  "a %s under any name of a run directory holds up neither its daemon nor the next one, and the agent can be killed",
  { timeout: 240_000 },
  async (what) => {
    const daemon = await startDaemon();
    const calm = await daemon.spawn(["sleep", "1000"]);
    const agents = await Promise.all(FILES.map((file) => poisoned(daemon, file, what)));
    expect(await daemon.info(calm)).toMatchObject({ state: "running" });
    await daemon.kill9();

    const next = await startDaemon(daemon.stateDir);
    for (const { id, pid } of agents) expect(await next.info(id)).toMatchObject({ state: "running", pid });
    expect(await next.agent("info", agents[0]!.id, "--output", "text")).toMatch(
      /tampered with +exit: agent why /,
    );
    expect(await next.agent("info", calm, "--output", "text")).not.toContain("tampered");
    expect(await next.request("daemon/status", {})).toMatchObject({ workers: { tampered: FILES.length } });
    const { stdout } = await next
      .agentSays("doctor", "--output", "text")
      .catch((failed: { readonly stdout: string }) => failed);
    expect(stdout).toContain(`the run directory of ${FILES.length} of them was tampered with`);
    expect(stdout).toContain("agent why ID");
    await next.kill([...agents.map(({ id }) => id), calm]);
    for (const [n, { id, pid }] of agents.entries()) {
      expect(lives(pid), FILES[n]).toBe(false);
      expect(await findings(next, id)).toContain(`${FILES[n]} not_a_file`);
      expect(await next.request("agent/info", { id })).toMatchObject({
        run_findings: expect.arrayContaining([
          expect.objectContaining({ incarnation: 1, file: FILES[n], what: "not_a_file" }),
        ]),
      });
    }
    expect(await next.agent("why", agents[0]!.id, "--output", "text")).toContain(
      "its run directory was tampered with: exit",
    );
  },
);

test("a FIFO in the place of an agent's output does not hold up the end of the daemon with its agents", async () => {
  const daemon = await startDaemon();
  const agents = await Promise.all(["stdout", "stderr"].map((file) => poisoned(daemon, file, "fifo")));
  await daemon.agent("daemon", "stop", "--kill-agents");
  for (const { pid } of agents) expect(lives(pid)).toBe(false);
});

test("a process that an agent names in its files is never signalled, and the agent can be killed", {
  timeout: 120_000,
}, async () => {
  const daemon = await startDaemon();
  const stranger = bystander();
  const name = `${stranger.pid} ${stranger.start}`;
  const pid = await poisoned(daemon, "pid", "text", name);
  const launcher = await poisoned(daemon, "claimed", "text", name);
  const pump = await poisoned(daemon, "pump", "text", name);
  await daemon.kill9();

  const next = await startDaemon(daemon.stateDir);
  for (const one of [pid, launcher, pump]) {
    expect(await next.info(one.id)).toMatchObject({ state: "running", pid: one.pid });
    await next.request("agent/pause", { ids: [one.id] });
    await next.request("agent/unpause", { ids: [one.id] });
    await next.kill([one.id]);
    expect(lives(one.pid)).toBe(false);
    expect(lives(stranger.pid, stranger.start)).toBe(true);
  }
  expect(await findings(next, pid.id)).toContain("pid contradicts_the_log");
  expect(await findings(next, launcher.id)).toEqual(["claimed contradicts_the_log"]);
  expect(await findings(next, pump.id)).toEqual(["pump forged"]);
});

test("a forged cgroup in run.json kills nobody who is in it", async () => {
  const daemon = await startDaemon();
  const stranger = bystander();
  const dir = temporaryDirectory();
  const forged = JSON.stringify({
    version: 1,
    boot_id: readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim(),
    pid_ns: "pid:[1]",
    stdin: "empty",
    stdin_bytes: 0,
    cgroup: dir,
  });
  writeFileSync(join(dir, "cgroup.procs"), `${stranger.pid}\n`);
  const { id, pid } = await poisoned(daemon, "run.json", "text", forged);
  await daemon.kill9();
  const next = await startDaemon(daemon.stateDir);
  await next.kill([id]);
  expect(lives(pid)).toBe(false);
  expect(lives(stranger.pid, stranger.start)).toBe(true);
});

/** An agent that has moved a directory of its own away, and put something else in its place. */
const replaced = async (daemon: Daemon, which: "worker" | "run", what: string) => {
  const away = join(temporaryDirectory(), "away");
  const id = await daemon.spawn([child("replaces-run-directory.sh"), runsOf(daemon), which, what, away]);
  await until("its process is known", async () => (await daemon.info(id)).pid !== null);
  writeFileSync(`${away}.go`, "");
  const at = join(runsOf(daemon), id, which === "run" ? "1" : "");
  const stats = () => lstatSync(at.replace(/\/$/, ""), { throwIfNoEntry: false });
  await until("it is replaced", () => stats()?.isDirectory() === false);
  const { pid } = await daemon.info(id);
  return { id, pid: pid as number, name: which === "run" ? `runs/${id}/1` : `runs/${id}` };
};

test.each([
  ["worker", "file"],
  ["run", "fifo"],
  ["worker", "link to itself"],
] as const)(
  "the %s directory of an agent replaced by a %s keeps no daemon from it: the log names its processes",
  { timeout: 60_000 },
  async (which, what) => {
    const daemon = await startDaemon();
    const [one, other] = [await replaced(daemon, which, what), await replaced(daemon, which, what)];
    await daemon.kill9();

    const next = await startDaemon(daemon.stateDir);
    for (const { id, pid } of [one, other])
      expect(await next.info(id)).toMatchObject({ state: "running", pid });
    await next.kill([one.id]);
    expect(lives(one.pid)).toBe(false);
    expect(await findings(next, one.id)).toContain(`${one.name} not_a_file`);
    await next.agent("daemon", "stop", "--kill-agents");
    expect(lives(other.pid)).toBe(false);
  },
);

test("a file in the place of the run directory of a dead agent does not hold up its end", async () => {
  const daemon = await startDaemon();
  const { id, pid } = await replaced(daemon, "run", "file");
  await daemon.kill9();
  process.kill(pid, "SIGKILL");
  const next = await startDaemon(daemon.stateDir);
  await next.wait([id]);
});
