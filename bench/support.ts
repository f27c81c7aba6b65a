/** Parts that the benches share: a daemon of their own in a temporary state directory, a client, percentiles. */
import { execFile, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { REPLY_MAX_BYTES } from "../src/base/limits.ts";
import { DAEMON_NODE_FLAGS } from "../src/daemon/node-flags.ts";

export const root = resolve(import.meta.dirname, "..");
export const agentBin = join(root, "bin/agent");

export interface Result {
  readonly name: string;
  /** The line of the table: what was measured, and its floor in the same run. */
  readonly measured: string;
  readonly floor: string;
  /** As a ratio, or in the unit that the threshold has. */
  readonly value: string;
  readonly threshold: string;
  readonly ok: boolean;
}

/** A bench with columns of its own. */
export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Rows whose threshold is missed. */
  readonly missed: number;
}

export const percentile = (sorted: readonly number[], p: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * p) / 100))] ?? Number.NaN;
export const ascending = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);
export const ms = (value: number): string => `${value.toFixed(value < 10 ? 2 : 1)} ms`;

export interface BenchDaemon {
  readonly dir: string;
  readonly pid: number;
  /** One request; resolves with the data of its terminal envelope, rejects on an error envelope. */
  request<T>(command: string, data: object): Promise<T>;
  /** A watch: each progress line's text, until the terminal envelope. */
  watch(data: object, onLine: (line: string) => void): Promise<void>;
  agent(...args: readonly string[]): Promise<string>;
  /** SIGKILL, and gone: its agents go on, and the next one in its directory finds them. */
  kill9(): Promise<void>;
  stop(): Promise<void>;
}

const RM_TRIES_MAX = 10;

/** A guard of a daemon's lease outlives it by some seconds, and may write there meanwhile. Only the asynchronous `rm` tries again. */
export const removeDirectory = (dir: string): Promise<void> =>
  rm(dir, { recursive: true, force: true, maxRetries: RM_TRIES_MAX });

type Exchange = <T>(command: string, data: object, onProgress?: (line: string) => void) => Promise<T>;

/** One request on a connection of its own: the data of its terminal envelope, or a rejection for an error envelope. */
export const exchangeOver =
  (socketPath: string): Exchange =>
  <T>(command: string, data: object, onProgress?: (line: string) => void) =>
    new Promise<T>((done, fail) => {
      const socket = createConnection(socketPath);
      socket.on("error", fail);
      // All of a large answer, as the command itself asks for it.
      const meta = { request_id: "bench", inline_max_bytes: REPLY_MAX_BYTES };
      socket.write(`${JSON.stringify({ version: 1, command, data, meta })}\n`);
      createInterface({ input: socket }).on("line", (line) => {
        if (line.includes('"status":"progress"')) return onProgress?.(line);
        const envelope = JSON.parse(line) as { status: string; data: T; error: { message: string } };
        socket.end();
        if (envelope.status === "ok") done(envelope.data);
        else fail(new Error(envelope.error.message));
      });
    });

export const startDaemon = async (
  env: Record<string, string> = {},
  nodeArgs: readonly string[] = [],
  /** A state directory to keep. Default: one of its own, which is removed at its end. */
  kept?: string,
): Promise<BenchDaemon> => {
  const dir = kept ?? mkdtempSync(join(tmpdir(), "holdfast-bench-"));
  const socketPath = join(dir, "agent.sock");
  const child = spawn(
    process.execPath,
    [...DAEMON_NODE_FLAGS, ...nodeArgs, join(root, "dist/daemon.js"), "--state-dir", dir],
    { stdio: "ignore", env: { ...environment(), ...env } },
  );
  const deadline = Date.now() + 10_000;
  while (!(await accepts(socketPath))) {
    if (Date.now() > deadline || child.exitCode !== null) throw new Error("the daemon did not start");
    await new Promise((done) => setTimeout(done, 10));
  }
  const exchange = exchangeOver(socketPath);
  return {
    dir,
    pid: child.pid as number,
    request: (command, data) => exchange(command, data),
    watch: async (data, onLine) => void (await exchange("agent/watch", data, onLine)),
    agent: async (...args) =>
      (
        await promisify(execFile)(process.execPath, [agentBin, ...args], {
          env: { ...environment(), HOLDFAST_HOME: dir },
          maxBuffer: 1 << 28,
        })
      ).stdout,
    kill9: async () => {
      child.kill("SIGKILL");
      if (child.exitCode === null && child.signalCode === null)
        await new Promise((done) => child.once("exit", done));
    },
    stop: async () => {
      await exchange("daemon/stop", { agents: "kill" });
      if (child.exitCode === null) await new Promise((done) => child.once("exit", done));
      if (kept === undefined) await removeDirectory(dir);
    },
  };
};

/** A killed daemon leaves its socket's file: that it is there says nothing. */
const accepts = (path: string): Promise<boolean> =>
  new Promise((done) => {
    const socket = createConnection(path);
    socket.on("error", () => done(false));
    socket.on("connect", () => {
      socket.destroy();
      done(true);
    });
  });

export const environment = (): Record<string, string> => ({
  PATH: process.env.PATH ?? "/usr/bin:/bin",
  HOME: tmpdir(),
  LANG: "C.UTF-8",
});

/** The data of `agent/spawn` takes for a command, with everything that could get in the way of a measurement switched off. */
export const command = (argv: readonly string[], over: object = {}): object => ({
  spec: {
    kind: "command",
    argv,
    cwd: "/",
    client_env: environment(),
    restart: "temporary",
    timeout_ms: 0,
    stall_ms: 0,
    ...over,
  },
});

const SIDE_BY_SIDE = 16;

/** So many workers, a few requests at a time; answers the pids of their agents once all of them run. */
export const spawnSideBySide = async (
  daemon: BenchDaemon,
  count: number,
  what: object,
): Promise<number[]> => {
  let left = count;
  const one = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await daemon.request("agent/spawn", what);
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, one));
  for (;;) {
    const { workers } = await daemon.request<{ workers: { pid: number | null }[] }>("agent/list", {});
    const pids = workers.flatMap(({ pid }) => (pid === null ? [] : [pid]));
    if (pids.length >= count) return pids;
    await new Promise((done) => setTimeout(done, 50));
  }
};

/** A transcript of claude: a recorded one where the given material is present, else the project's own. */
export const transcript = (
  recorded = join(root, "../shared/data/cli-transcripts/claude-2.1.329/shell/stdout.ndjson"),
): string =>
  readFileSync(
    existsSync(recorded) ? recorded : join(root, "test/recordings/claude-code/real-shell.ndjson"),
    "utf8",
  );

/** CLK_TCK, the same on every Linux. */
const TICK_MS = 10;

/** The processor time of children that were waited for, and of theirs: cutime and cstime of proc(5). */
export const childrenMs = (pid: number | "self" = "self"): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[13]) + Number(fields[14])) * TICK_MS;
};
