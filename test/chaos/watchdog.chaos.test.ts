/** Promise R37: a daemon whose loop does not run is told of, by itself and by whoever asks it; what it supervises goes on. */
import { execFile } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { stalledFilePath } from "../../src/daemon/paths.ts";
import { figure } from "../support/figures.ts";
import { AGENT, environment, lives, startDaemon, temporaryDirectory, until } from "./support.ts";

const HOOK = join(import.meta.dirname, "../fixtures/hooks/blocks-its-loop.mjs");

/** The command's exit code and its envelope. */
const status = (stateDir: string) =>
  new Promise<{ exit: number; envelope: { ok: boolean; error: { code: string; message: string } } }>(
    (done) => {
      const env = { ...environment(), HOLDFAST_HOME: stateDir };
      const child = execFile(
        process.execPath,
        [AGENT, "daemon", "status", "-o", "json"],
        { env },
        (_, stdout) => done({ exit: child.exitCode ?? -1, envelope: JSON.parse(stdout) }),
      );
    },
  );

test("a blocked loop is written to daemon.log with the daemon's state, and told to clients; both end with it", async () => {
  const block = join(temporaryDirectory(), "block");
  const daemon = await startDaemon(undefined, { hook: HOOK, env: { HOLDFAST_TEST_BLOCK: block } });
  const worker = await daemon.spawn(["sleep", "1000"]);
  await until("it runs", async () => (await daemon.info(worker)).state === "running");
  const agent = (await daemon.info(worker)).pid!;
  const said = () => readFileSync(`${daemon.stateDir}.said`, "utf8");
  expect((await status(daemon.stateDir)).exit).toBe(0);

  writeFileSync(block, "");
  process.kill(daemon.pid, "SIGUSR2");
  const began = performance.now();
  await until("the watchdog says so", () => existsSync(stalledFilePath(daemon.stateDir)));
  const told_ms = performance.now() - began;
  const line = said()
    .split("\n")
    .find((one) => one.includes("the event loop is blocked"))!;
  expect(JSON.parse(line)).toMatchObject({ level: "error", before: { connections: expect.any(Number) } });
  const { exit, envelope } = await status(daemon.stateDir);
  expect(exit).toBe(12);
  expect(envelope.error).toMatchObject({
    code: "DAEMON_UNHEALTHY",
    message: expect.stringMatching(
      new RegExp(
        `^The daemon \\(pid ${daemon.pid}\\) does not answer: its event loop has been blocked for \\d+ s\\.$`,
      ),
    ),
  });
  expect(lives(agent)).toBe(true);

  rmSync(block);
  await until("it runs again", () => said().includes("the daemon's loop runs again"));
  expect(existsSync(stalledFilePath(daemon.stateDir))).toBe(false);
  expect((await status(daemon.stateDir)).exit).toBe(0);
  const { health } = await daemon.request<{ health: { stalls: { count: number } } }>("daemon/status", {});
  expect(health.stalls.count).toBe(1);
  figure("R37", {
    rounds: 1,
    failures: 0,
    note: `told ${Math.round(told_ms)} ms after the loop was blocked`,
  });
});

test("a daemon that is stopped is said to be, with the way to continue it", async () => {
  const daemon = await startDaemon();
  process.kill(daemon.pid, "SIGSTOP");
  const { exit, envelope } = await status(daemon.stateDir);
  expect(exit).toBe(12);
  expect(envelope.error.message).toBe(`The daemon (pid ${daemon.pid}) does not answer: it is stopped.`);
  process.kill(daemon.pid, "SIGCONT");
  await until("it answers", async () => (await status(daemon.stateDir)).exit === 0);
});
