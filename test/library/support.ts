/** A state directory of a test's own, runtimes over it that are closed at the end, and programs that use the library. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type LogRecord, Runtime } from "../../src/library/index.ts";

export const stateDirectory = (): string => {
  const dir = mkdtempSync(join(tmpdir(), "holdfast-library-"));
  onTestFinished(async () => {
    // Workers that a test left running end here, also after it failed.
    await (await Runtime.open({ stateDir: dir })).close();
    rmSync(dir, { recursive: true, force: true });
  });
  return dir;
};

/** A failure inside fails the test: a runtime that is used well has nothing to report. */
export const openRuntime = async (stateDir = stateDirectory()): Promise<Runtime> => {
  const reports: string[] = [];
  const runtime = await Runtime.open({ stateDir, report: (message) => reports.push(message) });
  onTestFinished(async () => {
    await runtime.close();
    if (reports.length > 0) throw new Error(reports.join("\n"));
  });
  return runtime;
};

export const collect = async <A>(items: AsyncIterable<A>): Promise<readonly A[]> => {
  const all: A[] = [];
  for await (const item of items) all.push(item);
  return all;
};

/** The first record of a type, as soon as it is there. */
export const first = async <T extends LogRecord["type"]>(
  records: AsyncIterable<LogRecord>,
  type: T,
): Promise<Extract<LogRecord, { type: T }>> => {
  for await (const record of records)
    if (record.type === type) return record as Extract<LogRecord, { type: T }>;
  throw new Error(`no ${type} came`);
};

export const until = async (
  condition: () => boolean | Promise<boolean>,
  what: string,
  withinMs = 100_000,
): Promise<void> => {
  const deadline = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};

export const isRunning = (pid: number): boolean => {
  const stat = `/proc/${pid}/stat`;
  try {
    return existsSync(stat) && !/\) Z /.test(readFileSync(stat, "utf8"));
  } catch {
    return false;
  }
};

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Program {
  readonly process: ChildProcess;
  readonly ended: Promise<Ended>;
  stdout(): string;
}

/** The output of the `agent` command for a state directory; throws if it fails. */
export const agent = async (stateDir: string, ...argv: string[]): Promise<string> => {
  const command = join(import.meta.dirname, "../../bin/agent");
  const child = spawn(process.execPath, [command, ...argv, "--state-dir", stateDir], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
  const code = await new Promise((resolve) => child.on("close", resolve));
  if (code !== 0) throw new Error(`agent ${argv.join(" ")} ended with ${code}: ${stderr}${stdout}`);
  return stdout;
};

/** Runs a program on this Node; it is killed at the end of the test if it still runs. */
export const program = (file: string, args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Program => {
  const child = spawn(process.execPath, [file, ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
  const ended = new Promise<Ended>((resolve) =>
    child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr })),
  );
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return { process: child, ended, stdout: () => stdout };
};
