/**
 * The `agent` command under a state directory of the test's own, with the daemon as it is shipped. `start` runs it as people
 * do, in a process; `agent` and `text` run it in the test's process, which takes a tenth of the processor.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tryConnect } from "../../../src/daemon/connect.ts";
import { socketPath } from "../../../src/daemon/paths.ts";
import { ResponseEnvelope } from "../../../src/protocol/envelope-schemas.ts";
import { AGENT, assertBuilt, CACHE } from "../../support/built.ts";
import { agent as runHere } from "./agent.ts";

const WAIT_MAX_MS = 100_000;
const RM_TRIES_MAX = 5;
/** Between two looks. */
const LOOK_PAUSE_MIN_MS = 60;

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
  /** By SIGKILL. Until it is gone a client may still connect to it, and gets no answer. */
  killDaemon(): Promise<void>;
  /** Ends its daemon with all agents, and removes the directory. */
  close(): Promise<void>;
}

/** Some commands for another host are run there by a process that has this one's stdout; `daemon run` becomes the daemon. */
const needsProcess = (argv: readonly string[]): boolean =>
  argv.some((word) => /^--host(=|$)/.test(word)) || (argv.includes("daemon") && argv.includes("run"));

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

  const here = (argv: readonly string[]): Promise<Ended> =>
    needsProcess(argv)
      ? start(argv).ended
      : runHere(argv, { stdin: "", env: { ...CACHE, HOLDFAST_HOME: home } });

  const agent: Commands["agent"] = async (...argv) => {
    const ran = await here(["-o", "json", ...argv]);
    const envelope = ResponseEnvelope.parse(JSON.parse(ran.stdout.trimEnd().split("\n").at(-1)!));
    const { data, error, warnings, meta } = envelope;
    return { ...ran, data: data as Record<string, unknown>, error, warnings, meta };
  };

  const daemonPid = async () => (await agent("daemon", "status")).data.pid as number;

  return {
    home,
    start,
    agent,
    text: (...argv) => here(["-o", "text", ...argv]),
    daemonPid,
    killDaemon: async () => {
      process.kill(await daemonPid(), "SIGKILL");
      await until(async () => {
        const socket = await tryConnect(socketPath(home, process.getuid?.() ?? 0));
        socket?.destroy();
        return socket === undefined;
      });
    },
    close: async () => {
      await start(["daemon", "stop", "--kill-agents"]).ended;
      // The guard of a cluster's node may still write its file: rmSync does not try again.
      await rm(home, { recursive: true, force: true, maxRetries: RM_TRIES_MAX });
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
