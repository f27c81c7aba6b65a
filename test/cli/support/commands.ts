/** The `agent` command as people run it: real processes, under a state directory of the test's own. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ResponseEnvelope } from "../../../src/protocol/envelope-schemas.ts";
import { AGENT, assertBuilt, CACHE } from "../../support/built.ts";

const WAIT_MAX_MS = 100_000;
/** Between two looks. */
const LOOK_PAUSE_MIN_MS = 20;

export interface Running {
  readonly child: ChildProcess;
  out(): string;
  err(): string;
  /** Once it has ended and its output is read. */
  readonly ended: Promise<Ended>;
}

export interface Ended {
  readonly exit: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Answer extends Ended {
  readonly data: Record<string, unknown>;
  readonly error: ResponseEnvelope["error"];
  readonly meta: ResponseEnvelope["meta"];
  readonly warnings: readonly string[];
}

export interface Commands {
  readonly home: string;
  start(argv: readonly string[], env?: Readonly<Record<string, string>>, cwd?: string): Running;
  /** In JSON; the last line is the envelope. */
  agent(...argv: string[]): Promise<Answer>;
  text(...argv: string[]): Promise<Ended>;
  daemonPid(): Promise<number>;
  /** Ends its daemon with all agents, and removes the directory. */
  close(): Promise<void>;
}

export const makeCommands = (): Commands => {
  assertBuilt();
  const home = mkdtempSync(join(tmpdir(), "holdfast-e2e-"));

  const start: Commands["start"] = (argv, env = {}, cwd = process.cwd()) => {
    const child = spawn(process.execPath, [AGENT, ...argv], {
      cwd,
      env: { PATH: process.env.PATH, ...CACHE, HOLDFAST_VALIDATE: "1", HOLDFAST_HOME: home, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let [out, err] = ["", ""];
    child.stdout!.on("data", (chunk) => {
      out += chunk;
    });
    child.stderr!.on("data", (chunk) => {
      err += chunk;
    });
    const ended = new Promise<Ended>((resolve) =>
      child.on("close", (exit) => resolve({ exit, stdout: out, stderr: err })),
    );
    return { child, out: () => out, err: () => err, ended };
  };

  const agent: Commands["agent"] = async (...argv) => {
    const ran = await start(["-o", "json", ...argv]).ended;
    const envelope = ResponseEnvelope.parse(JSON.parse(ran.stdout.trimEnd().split("\n").at(-1)!));
    const { data, error, warnings, meta } = envelope;
    return { ...ran, data: data as Record<string, unknown>, error, warnings, meta };
  };

  return {
    home,
    start,
    agent,
    text: (...argv) => start(["-o", "text", ...argv]).ended,
    daemonPid: async () => (await agent("daemon", "status")).data.pid as number,
    close: async () => {
      await start(["daemon", "stop", "--kill-agents"]).ended;
      rmSync(home, { recursive: true, force: true });
    },
  };
};

export const until = async (test: () => boolean | Promise<boolean>): Promise<void> => {
  const deadline = performance.now() + WAIT_MAX_MS;
  for (;;) {
    const began = performance.now();
    if (await test()) return;
    const now = performance.now();
    if (now > deadline) throw new Error("waited in vain");
    // A look that is a command takes a processor: what it waits for needs one too.
    await new Promise((resolve) => setTimeout(resolve, Math.max(LOOK_PAUSE_MIN_MS, now - began)));
  }
};
