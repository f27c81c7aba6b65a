/** The watchdog's process, told of the beats of a loop that this test plays. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { theReaper } from "../../src/adapters/process/reaper.ts";
import type { LoopWatcher } from "../../src/daemon/loop-watcher.ts";
import { watchByProcess } from "../../src/daemon/watchdog-process.ts";
import { until } from "./support/wire.ts";

const perl = theReaper()?.perl;
const LATE = { loop_ms: 300, tick_ms: 5_000 };
const BEAT_MS = 50;

describe.runIf(perl !== undefined)("a watchdog's process", () => {
  let dir: string;
  let file: string;
  let log: number;
  let daemon: ChildProcess;
  let watcher: LoopWatcher;
  let beating: NodeJS.Timeout | undefined;
  const losses: unknown[] = [];
  const said = () => readFileSync(join(dir, "log"), "utf8");

  const beat = (tick_age_ms = 0): void =>
    watcher.beat({ wall_ms: Date.now(), tick_age_ms, log_fd: log, facts: '{"connections":7}' });
  const beatOn = (): void => {
    beat();
    beating = setInterval(beat, BEAT_MS, 0);
  };

  const watchedBy = (program: string): LoopWatcher =>
    watchByProcess(program, { pid: daemon.pid!, file }, LATE, (cause) => losses.push(cause));

  beforeEach(() => {
    losses.length = 0;
    dir = mkdtempSync(join(tmpdir(), "holdfast-watchdog-"));
    file = join(dir, "daemon.stalled");
    // The descriptor is found by the daemon's pid: this daemon has the log as its stdout.
    const opened = openSync(join(dir, "log"), "a");
    daemon = spawn("sleep", ["1000"], { stdio: ["ignore", opened, "ignore"] });
    closeSync(opened);
    log = 1;
    watcher = watchedBy(perl!);
  });
  afterEach(() => {
    clearInterval(beating);
    watcher.end();
    daemon.kill("SIGKILL");
    rmSync(dir, { recursive: true });
  });

  test("tells of a loop that stands still, with what it knew, and that it runs again", async () => {
    beat();
    await until("it is told", () => existsSync(file));
    const stalled = JSON.parse(readFileSync(file, "utf8"));
    expect(stalled).toEqual({ pid: daemon.pid, what: "loop", since: expect.any(String) });
    expect(Math.abs(Date.parse(stalled.since) - Date.now())).toBeLessThan(60_000);
    expect(JSON.parse(said())).toMatchObject({
      level: "error",
      message: "the event loop is blocked",
      blocked_ms: expect.any(Number),
      main_thread: "S",
      memory: expect.any(Number),
      before: { connections: 7 },
    });
    beatOn();
    await until("it is over", () => !existsSync(file));
    expect(JSON.parse(said().split("\n")[1]!)).toMatchObject({
      message: "the daemon's loop runs again",
      since: stalled.since,
    });
  });

  test("tells of a tick that has stopped while the loop runs", async () => {
    beating = setInterval(beat, BEAT_MS, LATE.tick_ms + 1_000);
    await until("it is told", () => existsSync(file));
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ what: "tick" });
    expect(said()).toContain("the supervisor's tick has stopped");
  });

  test("says nothing of a daemon that is stopped, and watches it once it goes on", async () => {
    daemon.kill("SIGSTOP");
    beat();
    // Two looks without a beat: at the first a loop that ran would be told of.
    await new Promise((done) => setTimeout(done, 3 * LATE.loop_ms));
    expect(existsSync(file)).toBe(false);
    daemon.kill("SIGCONT");
    await until("it is told", () => existsSync(file));
  });

  test("that cannot be started is told of once, and is written to no more", async () => {
    watcher.end();
    watcher = watchedBy("/nonexistent/perl");
    await until("the loss is told", () => losses.length > 0);
    beat();
    expect(losses).toHaveLength(1);
  });
});
