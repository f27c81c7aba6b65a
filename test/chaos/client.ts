/**
 * The daemon as it is shipped, in a process of its own, and a client on its socket: for the tests of chaos and for the
 * nemesis, which is no test. A test that starts a daemon here ends it.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";
import { createConnection, type Socket } from "node:net";
import { promisify } from "node:util";
import {
  identityOf,
  isAlive,
  listPids,
  readProc,
  readStat,
  signalProcess,
} from "../../src/adapters/process/identity.ts";
import { markerIn } from "../../src/adapters/process/marker.ts";
import { REPLY_MAX_BYTES } from "../../src/base/limits.ts";
import { socketPath } from "../../src/daemon/paths.ts";
import type { LogRecord, RecordPayloads, RecordType } from "../../src/protocol/records.ts";
import type { RequestInput, RequestName } from "../../src/protocol/requests.ts";
import type { WorkerSpecInput } from "../../src/protocol/worker.ts";
import { AGENT, assertBuilt, CACHE, COMPILED, DAEMON } from "../support/built.ts";

export { AGENT, DAEMON };

/** Nothing here waits longer: this machine may be busy with other work, but not that busy. */
const WAIT_MAX_MS = 240_000;

/** Between two looks. */
const LOOK_PAUSE_MIN_MS = 4;

/** Bytes that one command may print. */
const SAID_MAX_BYTES = 64 * 1024 * 1024;

export const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

export const until = async (
  what: string,
  isSo: () => boolean | Promise<boolean>,
  withinMs = WAIT_MAX_MS,
): Promise<void> => {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const began = performance.now();
    if (await isSo()) return;
    const now = performance.now();
    if (now > deadline) throw new Error(`not within ${withinMs} ms: ${what}`);
    // A look costs the daemon as much as the test: both rest at least as long as it took.
    await sleep(Math.max(LOOK_PAUSE_MIN_MS, now - began));
  }
};

const within = <T>(what: string, promise: Promise<T>, ms = WAIT_MAX_MS): Promise<T> => {
  let timer: NodeJS.Timeout;
  const tooLate = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(new Error(`not within ${ms} ms: ${what}`)), ms);
  });
  return Promise.race([promise, tooLate]).finally(() => clearTimeout(timer));
};

/** Variables of this machine that a test's agents and daemons get. */
export const environment = (): Record<string, string> => ({
  PATH: process.env.PATH ?? "/usr/bin:/bin",
  HOME: "/nonexistent",
  ...CACHE,
  LANG: "C.UTF-8",
});

export const connectTo = (stateDir: string): Promise<Socket> =>
  new Promise((done, fail) => {
    const socket = createConnection(socketPath(stateDir, process.getuid?.() ?? 0));
    socket.once("connect", () => done(socket)).once("error", fail);
  });

const requestLine = (command: string, data: object): string =>
  `${JSON.stringify({ version: 1, command, data, meta: { request_id: "chaos", inline_max_bytes: REPLY_MAX_BYTES } })}\n`;

interface Answer<T> {
  readonly status: "ok" | "error" | "progress";
  readonly data: T;
  readonly error: { readonly message: string | null; readonly details?: object };
}

export interface Watching {
  /** Resolves when the daemon has ended the stream; a connection that breaks rejects. */
  readonly over: Promise<void>;
  stop(): void;
}

export type Agents = {
  readonly id: string;
  readonly state: string;
  readonly status: string;
  readonly pid: number | null;
  readonly incarnation: number;
  readonly parent: string | null;
  readonly reason: string;
};

/** A client of the daemon of a state directory: it needs no process, so it also serves daemons that a test did not start. */
export const clientOf = (stateDir: string) => {
  const exchange = async (
    command: string,
    data: object,
    onProgress: (line: string) => void,
    socket: Socket,
  ): Promise<unknown> =>
    new Promise((done, fail) => {
      socket.on("error", fail).on("close", () => fail(new Error(`the daemon hung up on ${command}`)));
      socket.write(requestLine(command, data));
      let rest = "";
      socket.setEncoding("utf8").on("data", (text: string) => {
        const lines = (rest + text).split("\n");
        rest = lines.pop() as string;
        for (const line of lines) {
          if (line.includes('"status":"progress"')) onProgress(line);
          else conclude(JSON.parse(line) as Answer<unknown>);
        }
      });
      const conclude = ({ status, data: value, error }: Answer<unknown>): void => {
        if (status === "ok") done(value);
        else fail(new Error(`${error.message} ${JSON.stringify(error.details)}`));
        socket.destroy();
      };
    });
  const request = async <T, N extends RequestName = RequestName>(
    command: N,
    data: RequestInput<N>,
  ): Promise<T> => {
    const socket = await connectTo(stateDir);
    return within(command, exchange(command, data, () => undefined, socket) as Promise<T>).finally(() =>
      socket.destroy(),
    );
  };
  const watchLines = async (
    data: RequestInput<"agent/watch">,
    onLine: (line: string) => void,
  ): Promise<Watching> => {
    const socket = await connectTo(stateDir);
    let stopped = false;
    const over = exchange("agent/watch", data, onLine, socket).then(
      () => undefined,
      (cause: unknown) => {
        if (!stopped) throw cause;
      },
    );
    over.catch(() => undefined);
    return {
      over,
      stop: () => {
        stopped = true;
        socket.destroy();
      },
    };
  };
  /** Every record that the log has now, of the given types. */
  const history = async <T extends RecordType>(
    types: readonly T[],
    ids: readonly string[] = [],
  ): Promise<readonly RecordOf<T>[]> => {
    const found: RecordOf<T>[] = [];
    const query = {
      from: 0,
      follow: false,
      types: [...types],
      ...(ids.length === 0 ? { all: true } : { ids: [...ids] }),
    };
    const watching = await watchLines(query, (line) =>
      found.push((JSON.parse(line) as Answer<RecordOf<T>>).data),
    );
    await within("the history", watching.over);
    return found;
  };
  return {
    request,
    watchLines,
    history,
    spawn: async (argv: readonly string[], over: Partial<WorkerSpecInput> = {}): Promise<string> =>
      (await request<{ id: string }>("agent/spawn", { spec: specOf(argv, over) })).id,
    kill: (ids: readonly string[], grace_ms = 200) => request("agent/kill", { ids: [...ids], grace_ms }),
    wait: (ids: readonly string[]) => request("agent/wait", { ids: [...ids] }),
    info: (id: string) => request<Agents>("agent/info", { id }),
    list: async () => (await request<{ workers: readonly Agents[] }>("agent/list", { all: true })).workers,
    output: async (id: string) => (await request<{ text: string }>("agent/output", { id })).text,
  };
};

export type RecordOf<T extends RecordType> = LogRecord & {
  readonly type: T;
  readonly payload: RecordPayloads[T];
};
export type Client = ReturnType<typeof clientOf>;

/** A command that nothing but the test ends. */
const specOf = (argv: readonly string[], over: Partial<WorkerSpecInput>): WorkerSpecInput => ({
  kind: "command",
  argv: [...argv],
  cwd: "/",
  client_env: environment(),
  restart: "temporary",
  timeout_ms: 0,
  stall_ms: 0,
  backoff_min_ms: 0,
  backoff_max_ms: 0,
  ...over,
});

export interface Daemon extends Client {
  readonly stateDir: string;
  readonly pid: number;
  readonly process: ChildProcess;
  /** SIGKILL, and gone. */
  kill9(): Promise<void>;
  /** The `agent` command against this daemon. */
  agent(...args: readonly string[]): Promise<string>;
  agentSays(...args: readonly string[]): Promise<{ readonly stdout: string; readonly stderr: string }>;
}

/** One start of a daemon: it may die before it answers, which `ended` tells. */
export interface Launched extends Daemon {
  readonly ended: () => boolean;
  signal(name: NodeJS.Signals): boolean;
  /** Resolves when it answers; false when it has ended before. */
  answers(): Promise<boolean>;
  /** The id of its store, once it has answered. */
  storeId(): string | undefined;
  /** Its output on its stdout and stderr, with those before it. */
  said(): string;
}

export interface Surroundings {
  readonly env?: Readonly<Record<string, string>>;
  /** Loaded before the daemon's program. */
  readonly hook?: string;
  /** The path of the daemon's program. */
  readonly flags?: readonly string[];
}

export const launchDaemon = (
  stateDir: string,
  { env = {}, hook, flags = [] }: Surroundings = {},
): Launched => {
  assertBuilt();
  const said = `${stateDir}.said`;
  const fd = openSync(said, "a");
  const agentSays = (...args: readonly string[]) =>
    promisify(execFile)(process.execPath, [AGENT, ...args], {
      env: { ...environment(), HOLDFAST_VALIDATE: "1", HOLDFAST_HOME: stateDir },
      maxBuffer: SAID_MAX_BYTES,
    });
  const imported = hook === undefined ? [] : ["--import", hook];
  const daemon = spawn(process.execPath, [...imported, DAEMON, "--state-dir", stateDir, ...flags], {
    cwd: "/",
    env: { ...environment(), ...COMPILED, ...env },
    stdio: ["ignore", fd, fd],
  });
  closeSync(fd);
  const ended = () => daemon.exitCode !== null || daemon.signalCode !== null;
  const client = clientOf(stateDir);
  let storeId: string | undefined;
  return {
    ...client,
    stateDir,
    pid: daemon.pid as number,
    process: daemon,
    ended,
    signal: (name) => daemon.kill(name),
    storeId: () => storeId,
    said: () => readFileSync(said, "utf8"),
    answers: async () => {
      let answered = false;
      await until("the daemon answers", async () => {
        if (ended()) return true;
        const status = await client
          .request<{ pid: number; store_id: string }>("daemon/status", {})
          .catch(() => undefined);
        storeId = status?.store_id ?? storeId;
        answered = status?.pid === daemon.pid;
        return answered;
      });
      return answered;
    },
    kill9: async () => {
      daemon.kill("SIGKILL");
      await until("the daemon is gone", ended);
    },
    agent: async (...args) => (await agentSays(...args)).stdout,
    agentSays,
  };
};

/** The processes that carry the marker of a store, and the worker in whose run each is. */
export const marked = (storeId: string) => {
  const block = Buffer.alloc(256 * 1024);
  return listPids().flatMap((pid) => {
    const stat = readStat(pid);
    const environ = stat && readProc(`/proc/${pid}/environ`, block);
    const [store, worker] = (typeof environ === "object" ? markerIn(environ) : undefined)?.split("/") ?? [];
    return store === storeId ? [{ worker: worker!, identity: identityOf(pid, stat!.start_time) }] : [];
  });
};

/** Tidies up after a test, by the marker of its own store; no test counts by it. */
export const endMarked = (storeId: string): void => {
  for (const { identity } of marked(storeId)) signalProcess(identity, "SIGKILL");
};

/** Exactly the process that had this pid at that start time. Its first thread may be gone while others still end: its sockets are open. */
export const lives = (pid: number, startTime = readStat(pid)?.start_time ?? ""): boolean =>
  isAlive(identityOf(pid, startTime)) || (readStat(pid)?.start_time === startTime && threadsOf(pid) > 1);

const threadsOf = (pid: number): number => {
  try {
    return readdirSync(`/proc/${pid}/task`).length;
  } catch {
    return 0;
  }
};
