/**
 * A `RuntimeSpawner` without processes: its runs end when the test says so. It proves the seam (nothing above it knows of
 * processes) and drives the supervisor on a test clock. Its runs outlive the runtime that launched them, as processes do:
 * the next runtime over the same spawner observes them. Only the spools are files, in a directory that the caller owns.
 */
import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { HoldfastError } from "../protocol/errors.ts";
import type { RunExit } from "../protocol/incarnation.ts";
import type { SpoolName } from "./adapter.ts";
import type { LaunchRequest, Observed, Run, RunId, RuntimeSpawner } from "./spawner.ts";

export interface MemoryRun {
  readonly request: LaunchRequest;
  /** Signals that reached it, in order; `kill` counts as SIGKILL. */
  readonly signals: readonly string[];
  /** Its next write stops after so many bytes and is never answered: the daemon died in it. */
  tearNext: number | undefined;
  /** Its next write fails, and nothing of it is there: the disk is full. */
  refuseNext: boolean;
  /** All that was written to it. */
  readonly stdin: string;
  /** And nothing more comes. */
  readonly stdinEnded: boolean;
  print(stream: SpoolName, text: string): void;
  /** Its word in the process table while it has not ended. */
  process: Exclude<ReturnType<Run["process"]>, "dead">;
  /** End it: with a code, or by a signal. A second call does nothing. */
  exit(how: number | NodeJS.Signals): void;
  /** End it so that nobody can say how: its launcher died with it, or the whole machine did. */
  lose(cause?: "machine_restarted"): void;
}

export interface MemorySpawner {
  readonly spawner: RuntimeSpawner;
  readonly runs: readonly MemoryRun[];
  /** The next launches fail with these, one each. */
  failNext(...errors: readonly HoldfastError[]): void;
  /** Launches wait from now on; the function returned lets them go on. */
  hold(): () => void;
  /** Called for each signal: a fixture's manners. The default ends the run by that signal. */
  onSignal: (run: MemoryRun, signal: NodeJS.Signals) => void;
  /** Called after each write to a stdin, and when it is closed. The default reads nothing. */
  onInput: (run: MemoryRun) => void;
}

interface Made {
  readonly run: Run;
  readonly handle: MemoryRun;
  /** Undefined while it runs. */
  readonly ended: () => RunExit | undefined;
}

export const makeMemorySpawner = (dir: string): MemorySpawner => {
  const runs: MemoryRun[] = [];
  const made = new Map<string, Made>();
  const failures: HoldfastError[] = [];
  let held: Promise<void> | undefined;

  const observe = ({ worker_id, incarnation }: RunId): Observed => {
    const found = made.get(keyOf(worker_id, incarnation));
    if (found === undefined) return { kind: "never_started" };
    const { run } = found;
    const exit = found.ended();
    if (exit === undefined) return { kind: "running", run };
    return exit.reason === "unknown" ? { kind: "lost", run } : { kind: "finished", exit, run };
  };

  const memory: MemorySpawner = {
    spawner: {
      check: async () => undefined,
      launch: async (request) => {
        const failure = failures.shift();
        if (failure !== undefined) throw failure;
        await held;
        const one = makeRun(
          dir,
          request,
          runs.length + 1,
          (handle, signal) => memory.onSignal(handle, signal),
          (handle) => memory.onInput(handle),
        );
        made.set(keyOf(request.worker_id, request.incarnation), one);
        runs.push(one.handle);
        return one.run;
      },
      observe: async (id) => observe(id),
      living: async () =>
        [...made.values()]
          .filter(({ ended }) => ended() === undefined)
          .map(({ run: { worker_id, incarnation, pgid } }) => ({ worker_id, incarnation, pids: [pgid] })),
      originOf: () => ({ type: "outside" }),
      originIn: () => ({ type: "outside" }),
      end: async (id) => {
        made.get(keyOf(id.worker_id, id.incarnation))?.handle.exit("SIGKILL");
        return { method: "pid_namespace", unreadable: 0, survivors: [], killed: 1 };
      },
      polled: () => 0,
      workerDir: (workerId) => join(dir, workerId),
      close: async () => undefined,
    },
    runs,
    failNext: (...errors) => {
      failures.push(...errors);
    },
    hold: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return () => {
        held = undefined;
        resolve();
      };
    },
    onSignal: (run, signal) => run.exit(signal),
    onInput: () => undefined,
  };
  return memory;
};

const keyOf = (workerId: string, incarnation: number): string => `${workerId}/${incarnation}`;

const exitOf = (how: number | NodeJS.Signals): RunExit => ({
  exit_code: typeof how === "number" ? how : null,
  signal: typeof how === "number" ? null : how,
  signal_inferred: false,
  raw_status: typeof how === "number" ? how : null,
  reason: typeof how === "number" ? "exited" : "signalled",
});

const LOST: RunExit = {
  exit_code: null,
  signal: null,
  signal_inferred: false,
  raw_status: null,
  reason: "unknown",
};

const makeRun = (
  dir: string,
  request: LaunchRequest,
  pid: number,
  onSignal: (run: MemoryRun, signal: NodeJS.Signals) => void,
  onInput: (run: MemoryRun) => void,
): Made => {
  const home = join(dir, request.worker_id, String(request.incarnation));
  mkdirSync(home, { recursive: true });
  const spool = (stream: SpoolName) => join(home, stream);
  for (const stream of ["stdout", "stderr"] as const) appendFileSync(spool(stream), "");

  let listener: (() => void) | undefined;
  let ended: RunExit | undefined;
  const signals: string[] = [];
  let stdin = Buffer.from(request.stdin.kind === "empty" ? "" : request.stdin.text);
  let isClosed = false;
  const exited = Promise.withResolvers<RunExit>();
  const end = (exit: RunExit): void => {
    if (ended !== undefined) return;
    ended = exit;
    // As of a real process, whoever sent a signal knows that before the exit is heard.
    queueMicrotask(() => exited.resolve(exit));
    listener?.();
  };
  const handle: MemoryRun = {
    request,
    signals,
    tearNext: undefined,
    refuseNext: false,
    get stdin() {
      return stdin.toString();
    },
    get stdinEnded() {
      return isClosed;
    },
    process: "running",
    print: (stream, text) => {
      appendFileSync(spool(stream), text);
      listener?.();
    },
    exit: (how) => end(exitOf(how)),
    lose: (cause) => end(cause === undefined ? LOST : { ...LOST, cause }),
  };
  const deliver = async (signal: NodeJS.Signals): Promise<readonly number[]> => {
    if (ended !== undefined) return [];
    signals.push(signal);
    onSignal(handle, signal);
    return [pid];
  };
  const standing = (process: "running" | "stopped", signal: NodeJS.Signals): readonly number[] => {
    if (ended !== undefined || handle.process === process) return [];
    handle.process = process;
    signals.push(signal);
    return [pid];
  };
  const identity = { pid, start_time: String(pid), boot_id: "memory", pid_ns: "memory" };
  const run: Run = {
    worker_id: request.worker_id,
    incarnation: request.incarnation,
    agent: identity,
    launcher: identity,
    pgid: pid,
    exited: exited.promise,
    onOutput: (given) => {
      listener = given;
    },
    process: () => (ended === undefined ? handle.process : "dead"),
    signal: (signal) => {
      standing("running", "SIGCONT");
      return deliver(signal as NodeJS.Signals);
    },
    pause: async () => standing("stopped", "SIGSTOP"),
    unpause: async () => standing("running", "SIGCONT"),
    kill: () => deliver("SIGKILL"),
    sweep: async () => ({ method: "pid_namespace", unreadable: 0, survivors: [], killed: 0 }),
    stdin_start: stdin.length,
    stdinBytes: () => stdin.length,
    stdinFrom: (offset) => stdin.subarray(offset),
    write: async (bytes) => {
      const { tearNext } = handle;
      handle.tearNext = undefined;
      const isRefused = handle.refuseNext;
      handle.refuseNext = false;
      if (isRefused) throw new Error("ENOSPC: no space left on device");
      if (tearNext !== undefined) {
        stdin = Buffer.concat([stdin, Buffer.from(bytes).subarray(0, tearNext)]);
        return new Promise<never>(() => undefined);
      }
      stdin = Buffer.concat([stdin, Buffer.from(bytes)]);
      onInput(handle);
    },
    closeStdin: async () => {
      isClosed = true;
      onInput(handle);
    },
    isStdinClosed: () => isClosed,
    variables: (names) =>
      Object.fromEntries(
        Object.entries(request.env).filter(([name]) => ended === undefined && names.includes(name)),
      ),
    tail: async (stream, bytes) => readFileSync(spool(stream)).subarray(-bytes).toString("utf8"),
    spool,
    release: async () => false,
    held: (stream, ingested) => Math.max(0, readFileSync(spool(stream)).length - ingested),
    dispose: () => {
      listener = undefined;
    },
  };
  return { run, handle, ended: () => ended };
};
