/** Promise R12: what lies in the state directory is taken away from the daemon that is shipped. */
import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readStat } from "../../src/adapters/process/identity.ts";
import { readDaemonFile } from "../../src/daemon/daemon-file.ts";
import { socketPath } from "../../src/daemon/paths.ts";
import { figure, full } from "../support/figures.ts";
import {
  clientOf,
  connectTo,
  DAEMON,
  environment,
  lives,
  startDaemon,
  temporaryDirectory,
  until,
} from "./support.ts";

const answers = async (stateDir: string, pid: number): Promise<void> => {
  const { request } = clientOf(stateDir);
  await until(
    "the same daemon answers",
    async () => (await request<{ pid: number }>("daemon/status", {}).catch(() => undefined))?.pid === pid,
  );
};

interface Started {
  readonly pid: number;
  readonly ended: Promise<{ readonly code: number | null; readonly stderr: string }>;
}

/** The daemon's program as a supervisor of the system would run it. */
const runProgram = (stateDir: string): Started => {
  const child = spawn(process.execPath, [DAEMON, "--state-dir", stateDir], {
    env: environment(),
    stdio: ["ignore", "ignore", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let stderr = "";
  child.stderr.on("data", (text) => {
    stderr += text;
  });
  return {
    pid: child.pid!,
    ended: new Promise((done) => child.once("close", (code) => done({ code, stderr }))),
  };
};

test("a socket, daemon.json or lock that is deleted or replaced is made again by the daemon that runs", async () => {
  const daemon = await startDaemon();
  const { stateDir, pid } = daemon;
  const worker = await daemon.spawn(["sleep", "1000"]);
  const socket = socketPath(stateDir, process.getuid!());
  const file = join(stateDir, "daemon.json");
  const lock = join(stateDir, "daemon.lock");

  const watching = await connectTo(stateDir);
  unlinkSync(socket);
  // A client of ours that comes meanwhile waits for it.
  expect(await daemon.agent("list", "-o", "json")).toContain(worker);
  await answers(stateDir, pid);
  expect(watching.readyState, "a connection from before goes on").toBe("open");
  watching.destroy();

  rmSync(socket);
  writeFileSync(socket, "not a socket");
  await answers(stateDir, pid);
  rmSync(socket);
  symlinkSync("/nonexistent", socket);
  await answers(stateDir, pid);

  rmSync(socket);
  mkdirSync(join(socket, "full"), { recursive: true });
  await answers(stateDir, pid);
  const said = () => readFileSync(`${stateDir}.said`, "utf8");
  const kept = readdirSync(dirname(socket)).filter((name) => name.startsWith(`${basename(socket)}.moved.`));
  expect(kept, "a directory that was in the way is kept beside it").toHaveLength(1);

  for (const spoil of [() => unlinkSync(file), () => writeFileSync(file, "{")]) {
    spoil();
    await until("daemon.json is there again", () => readDaemonFile(stateDir)?.pid === pid);
  }

  unlinkSync(lock);
  const { code, stderr } = await runProgram(stateDir).ended;
  expect(code, "a second daemon finds the state directory taken at any moment").toBe(6);
  expect(stderr).toContain(`The daemon with pid ${pid} `);
  await until("the lock is there again", () => existsSync(lock));
  expect(statSync(lock).mode & 0o777, "and nobody else may read it").toBe(0o600);
  // daemon.json alone may go as well now.
  await until("the lock is held", () => said().includes("the lock was gone or replaced, and is there again"));
  unlinkSync(file);
  expect((await runProgram(stateDir).ended).code).toBe(6);

  expect(await daemon.info(worker)).toMatchObject({ state: "running", incarnation: 1 });
});

test("a state directory that is removed is made again as far as it can be, and the agents live", async () => {
  const daemon = await startDaemon();
  const worker = await daemon.spawn(["sleep", "1000"]);
  await until("it runs", async () => (await daemon.info(worker)).state === "running");
  const agent = (await daemon.info(worker)).pid!;
  rmSync(daemon.stateDir, { recursive: true });
  await answers(daemon.stateDir, daemon.pid);
  expect(lives(agent)).toBe(true);
});

const STARTS = full ? 50 : 16;

test("of many daemons that start at once one wins; the losers end with its pid, and a stale socket and a spoilt lock hold nobody up", async () => {
  const stateDir = join(temporaryDirectory(), "state");
  mkdirSync(stateDir, { mode: 0o700 });
  writeFileSync(socketPath(stateDir, process.getuid!()), "stale");
  writeFileSync(join(stateDir, "daemon.lock"), "no database");
  const began = performance.now();
  const started = Array.from({ length: STARTS }, () => runProgram(stateDir));
  const losers: { readonly code: number | null; readonly stderr: string }[] = [];
  for (const { ended } of started) void ended.then((end) => losers.push(end));
  await until("all but one have ended", () => losers.length === STARTS - 1);
  const winner = readDaemonFile(stateDir)!.pid;
  await answers(stateDir, winner);
  expect(started.map(({ pid }) => pid)).toContain(winner);
  for (const { code, stderr } of losers) {
    expect(code).toBe(6);
    expect(stderr).toContain(`The daemon with pid ${winner} `);
  }
  figure("R12", {
    rounds: STARTS,
    failures: 0,
    note: `${STARTS} daemons started at once: 1 winner, the others named it, ${Math.round(performance.now() - began)} ms in all`,
  });
});

test("a daemon that is stopped (SIGSTOP) goes on when it is continued", async () => {
  const daemon = await startDaemon();
  const worker = await daemon.spawn(["sleep", "1000"]);
  await until("it runs", async () => (await daemon.info(worker)).state === "running");
  process.kill(daemon.pid, "SIGSTOP");
  await until("it is stopped", () => readStat(daemon.pid)?.state === "T");
  const asked = daemon.info(worker);
  process.kill(daemon.pid, "SIGCONT");
  expect(await asked).toMatchObject({ state: "running", incarnation: 1 });
});

test("a second SIGTERM ends a daemon at once; the next one has its agents", async () => {
  const first = await startDaemon();
  const worker = await first.spawn(["sleep", "1000"]);
  await until("it runs", async () => (await first.info(worker)).state === "running");
  const { pid } = await first.info(worker);
  process.kill(first.pid, "SIGTERM");
  process.kill(first.pid, "SIGTERM");
  await until("it has ended", () => first.process.exitCode !== null || first.process.signalCode !== null);
  const next = await startDaemon(first.stateDir);
  expect(await next.info(worker)).toMatchObject({ state: "running", incarnation: 1, pid });
});
