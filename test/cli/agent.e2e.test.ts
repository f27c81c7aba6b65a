/** The command as people run it: real processes, a real daemon, signals. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ResponseEnvelope } from "../../src/protocol/envelope-schemas.ts";

const MAIN = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
const WAIT_MAX_MS = 20_000;

let home: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "holdfast-e2e-"));
});
afterAll(async () => {
  await ended(start(["daemon", "stop", "--kill-agents"]));
  rmSync(home, { recursive: true, force: true });
});

interface Running {
  readonly child: ChildProcess;
  out(): string;
  err(): string;
}

const start = (argv: readonly string[], env: Record<string, string> = {}): Running => {
  const child = spawn(process.execPath, [MAIN, ...argv], {
    env: { PATH: process.env.PATH, HOLDFAST_HOME: home, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [out, err] = ["", ""];
  child.stdout!.on("data", (chunk) => {
    out += chunk;
  });
  child.stderr!.on("data", (chunk) => {
    err += chunk;
  });
  return { child, out: () => out, err: () => err };
};

const ended = ({
  child,
  out,
  err,
}: Running): Promise<{ exit: number | null; stdout: string; stderr: string }> =>
  new Promise((resolve) => child.on("close", (exit) => resolve({ exit, stdout: out(), stderr: err() })));

const agent = async (...argv: string[]) => {
  const ran = await ended(start(["-o", "json", ...argv]));
  const envelope = ResponseEnvelope.parse(JSON.parse(ran.stdout.trimEnd().split("\n").at(-1)!));
  return { ...ran, data: envelope.data as Record<string, unknown>, error: envelope.error };
};

const until = async (test: () => boolean): Promise<void> => {
  const deadline = performance.now() + WAIT_MAX_MS;
  while (!test()) {
    if (performance.now() > deadline) throw new Error("waited in vain");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

describe("agent", () => {
  it("spawns, shows, waits and answers per id", async () => {
    const spawned = await ended(
      start(["spawn", "--name", "talker", "-o", "text", "--", "sh", "-c", "echo hello; exit 3"]),
    );
    expect(spawned).toMatchObject({
      exit: 0,
      stdout: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{26}\n$/),
      stderr: "",
    });
    const id = spawned.stdout.trim();
    const waited = await agent("wait", "talker", "--timeout", "15s");
    expect(waited).toMatchObject({ exit: 1, error: { code: "WORKER_FAILED" } });
    expect(JSON.parse(waited.error!.detail!)).toMatchObject({
      results: [{ id, status: "failed", exit_code: 3 }],
    });
    expect((await agent("wait", id, "--exit-code-from", id)).exit).toBe(3);
    expect(await agent("kill", "talker")).toMatchObject({
      exit: 0,
      data: { effect: "noop", results: [{ id, effect: "noop" }] },
    });
    expect(await agent("kill", "talker", "nobody")).toMatchObject({
      exit: 2,
      error: { code: "PARTIAL_FAILURE" },
    });
    const { stdout } = await ended(start(["logs", "talker", "-o", "text"]));
    expect(stdout).toMatch(/talker\.1 +│ hello\n/);
    expect(stdout).toContain("exited with code 3");
    expect((await agent("info", "nobody")).exit).toBe(5);
  });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("leaves the worker running after %s in watch, and says so", async (signal, exit) => {
    const name = `long-${exit}`;
    await agent("spawn", "--name", name, "--", "sh", "-c", "echo up; sleep 300");
    const watching = start(["watch", name, "--from", "0", "-o", "text"]);
    await until(() => watching.out().includes("│ up"));
    watching.child.kill(signal);
    const { exit: code, stderr } = await ended(watching);
    expect(code).toBe(exit);
    expect(stderr).toContain(`The worker goes on. To end it: agent kill ${name}`);
    expect((await agent("info", name)).data.status).toBe("running");
    expect(await agent("kill", name, "--grace", "1s")).toMatchObject({
      exit: 0,
      data: { effect: "deleted" },
    });
  });

  it("ends a watch in json with one CANCELLED envelope", async () => {
    const watching = start(["watch", "--all", "--from", "0", "-o", "json"]);
    await until(() => watching.out().includes("\n"));
    watching.child.kill("SIGINT");
    const { exit, stdout } = await ended(watching);
    expect(exit).toBe(130);
    expect(ResponseEnvelope.parse(JSON.parse(stdout.trimEnd().split("\n").at(-1)!))).toMatchObject({
      ok: false,
      error: { code: "CANCELLED" },
    });
  });

  it("ends quietly with 0 when its reader goes away", async () => {
    const watching = start(["watch", "--all", "--from", "0", "-o", "json"]);
    await until(() => watching.out() !== "");
    const end = ended(watching);
    watching.child.stdout!.destroy();
    await agent("spawn", "--", "true");
    expect(await end).toMatchObject({ exit: 0, stderr: "" });
  });

  it("refuses to stop the daemon while agents run", async () => {
    await agent("spawn", "--name", "busy", "--", "sleep", "300");
    expect(await agent("daemon", "stop")).toMatchObject({ exit: 4, error: { code: "AGENTS_RUNNING" } });
    expect(await agent("kill", "--all", "--grace", "1s")).toMatchObject({ exit: 0 });
  });
});

describe("agent demo", () => {
  const demos = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith("holdfast-demo-"));

  it("shows a crash, a come-back and nothing left behind in under 15 s, and removes all of it", async () => {
    const before = new Set(demos());
    const begun = performance.now();
    const { exit, stdout, stderr } = await ended(start(["demo", "-o", "json"]));
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
    expect(performance.now() - begun).toBeLessThan(15_000);
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.at(-1)).toMatchObject({
      ok: true,
      data: { started: 4, exited: 4, restarts: 1, gaps: 0, left_behind: 0 },
    });
    expect(lines.slice(0, -1).map((record) => record.seq)).toEqual(
      lines.slice(0, -1).map((_, index) => index + 1),
    );
    expect(demos().filter((name) => !before.has(name))).toEqual([]);
  });

  it("cleans up when it is stopped in the middle", async () => {
    const before = new Set(demos());
    const running = start(["demo", "-o", "json"]);
    await until(() => running.out().includes('"worker_spawned"'));
    const [mine] = demos().filter((name) => !before.has(name));
    running.child.kill("SIGINT");
    expect((await ended(running)).exit).toBe(130);
    expect(existsSync(join(tmpdir(), mine!))).toBe(false);
  });
});
