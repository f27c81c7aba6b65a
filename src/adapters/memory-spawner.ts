/**
 * A `RuntimeSpawner` without processes: its runs end when the test says so. It proves the seam (nothing above it knows of
 * processes) and drives the supervisor on a test clock. Only the spools are files, in a directory that the caller owns.
 */
import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { HoldfastError } from "../protocol/errors.ts";
import type { SpoolName } from "./adapter.ts";
import type { LaunchRequest, Run, RunExit, RuntimeSpawner } from "./spawner.ts";

export interface MemoryRun {
  readonly request: LaunchRequest;
  /** Signals that reached it, in order; `kill` counts as SIGKILL. */
  readonly signals: readonly string[];
  print(stream: SpoolName, text: string): void;
  /** End it: with a code, or by a signal. A second call does nothing. */
  exit(how: number | NodeJS.Signals): void;
}

export interface MemorySpawner {
  readonly spawner: RuntimeSpawner;
  readonly runs: readonly MemoryRun[];
  /** The next launches fail with these, one each. */
  failNext(...errors: readonly HoldfastError[]): void;
  /** Called for each signal: a fixture's manners. The default ends the run by that signal. */
  onSignal: (run: MemoryRun, signal: NodeJS.Signals) => void;
}

export const makeMemorySpawner = (dir: string): MemorySpawner => {
  const runs: MemoryRun[] = [];
  const failures: HoldfastError[] = [];
  const memory: MemorySpawner = {
    spawner: {
      check: async () => undefined,
      launch: async (request) => {
        const failure = failures.shift();
        if (failure !== undefined) throw failure;
        const { run, handle } = makeRun(dir, request, runs.length + 1, (one, signal) => memory.onSignal(one, signal));
        runs.push(handle);
        return run;
      },
      observe: async () => ({ kind: "never_started" }),
      workerDir: (workerId) => join(dir, workerId),
      close: async () => undefined,
    },
    runs,
    failNext: (...errors) => {
      failures.push(...errors);
    },
    onSignal: (run, signal) => run.exit(signal),
  };
  return memory;
};

const makeRun = (dir: string, request: LaunchRequest, pid: number, onSignal: (run: MemoryRun, signal: NodeJS.Signals) => void) => {
  const home = join(dir, request.worker_id, String(request.incarnation));
  mkdirSync(home, { recursive: true });
  const spool = (stream: SpoolName) => join(home, stream);
  for (const stream of ["stdout", "stderr"] as const) appendFileSync(spool(stream), "");

  let listener: () => void = () => undefined;
  let alive = true;
  const signals: string[] = [];
  const ended = Promise.withResolvers<RunExit>();
  const handle: MemoryRun = {
    request,
    signals,
    print: (stream, text) => {
      appendFileSync(spool(stream), text);
      listener();
    },
    exit: (how) => {
      if (!alive) return;
      alive = false;
      const signal = typeof how === "string" ? how : null;
      ended.resolve({ exit_code: typeof how === "number" ? how : null, signal, signal_inferred: false, raw_status: typeof how === "number" ? how : null, reason: signal === null ? "exited" : "signalled" });
      listener();
    },
  };
  const deliver = async (signal: NodeJS.Signals): Promise<readonly number[]> => {
    if (!alive) return [];
    signals.push(signal);
    onSignal(handle, signal);
    return [pid];
  };
  const identity = { pid, start_time: String(pid), boot_id: "memory", pid_ns: "memory" };
  const run: Run = {
    worker_id: request.worker_id,
    incarnation: request.incarnation,
    agent: identity,
    launcher: identity,
    pgid: pid,
    exited: ended.promise,
    onOutput: (given) => {
      listener = given;
    },
    process: () => (alive ? "running" : "dead"),
    signal: deliver,
    kill: () => deliver("SIGKILL"),
    sweep: async () => ({ method: "pid_namespace", unreadable: 0, survivors: [], killed: 0 }),
    write: async (text) => handle.print("stdout", text),
    closeStdin: async () => undefined,
    tail: async (stream, bytes) => readFileSync(spool(stream)).subarray(-bytes).toString("utf8"),
    spool,
    dispose: () => undefined,
  };
  return { run, handle };
};
