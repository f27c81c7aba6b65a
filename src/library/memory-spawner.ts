/**
 * A `RuntimeSpawner` without processes and without files: its runs end when the test says so. It proves that the layers
 * above the spawner know nothing of processes, and it drives the supervisor on a test clock. Its runs outlive the runtime
 * that launched them, as processes do: the next runtime over the same spawner observes them.
 */
import type { SpoolName } from "../adapters/adapter.ts";
import type {
  LaunchRequest,
  ObservedRun,
  Run,
  RunId,
  RunInput,
  RuntimeAbility,
  RuntimeSpawner,
  SignalReport,
} from "../adapters/spawner.ts";
import { HoldfastError } from "../protocol/errors.ts";
import { type RunExit, UNKNOWN_EXIT } from "../protocol/incarnation.ts";
import { exitOf } from "./memory-exit.ts";
import { MemorySource } from "./memory-source.ts";

export interface MemoryRun {
  readonly request: LaunchRequest;
  /** Signals that reached the run, in order; `kill` counts as SIGKILL. */
  readonly signals: readonly string[];
  /** The next write stops after this many bytes and never returns, as if the daemon had died in it. */
  tearNext: number | undefined;
  /** The next write fails as on a full disk, and writes nothing. */
  refuseNext: boolean;
  /** Everything that was written to the run's stdin. */
  readonly stdin: string;
  /** The stdin is closed. */
  readonly stdinEnded: boolean;
  print(stream: SpoolName, text: string): void;
  /** The state of the run while it lives. */
  process: Exclude<ReturnType<Run["process"]>, "dead">;
  /** Ends the run with a code or by a signal. A second call has no effect. */
  exit(how: number | NodeJS.Signals): void;
  /** Ends the run without a known exit: whatever watched it died with it, or the machine did. */
  lose(cause?: "machine_restarted"): void;
}

export interface MemorySpawner {
  readonly spawner: RuntimeSpawner;
  readonly runs: readonly MemoryRun[];
  /** The next launches fail with these errors, one each. */
  failNext(...errors: readonly HoldfastError[]): void;
  /** Launches wait from now on, until the returned function is called. */
  hold(): () => void;
  /** Called for each signal. By default the signal ends the run. */
  onSignal: (run: MemoryRun, signal: NodeJS.Signals) => void;
  /** Called after each write to a stdin, and when it is closed. By default nothing is read. */
  onInput: (run: MemoryRun) => void;
}

interface MadeRun {
  readonly run: Run;
  readonly handle: MemoryRun;
  /** Undefined while the run lives. */
  readonly ended: () => RunExit | undefined;
}

const ABILITIES: ReadonlySet<RuntimeAbility> = new Set(["pause", "input", "limits", "sandbox", "lifeline"]);

export const makeMemorySpawner = (): MemorySpawner => {
  const runs: MemoryRun[] = [];
  const made = new Map<string, MadeRun>();
  const failures: HoldfastError[] = [];
  let held: Promise<void> | undefined;

  const observe = ({ worker_id, incarnation }: RunId): ObservedRun => {
    const found = made.get(keyOf(worker_id, incarnation));
    if (found === undefined) return { kind: "never_started" };
    const { run } = found;
    const exit = found.ended();
    if (exit === undefined) return { kind: "running", run };
    return exit.reason === "unknown" ? { kind: "lost", run } : { kind: "finished", exit, run };
  };

  const memory: MemorySpawner = {
    spawner: {
      backend_kind: "memory",
      abilities: ABILITIES,
      check: async () => undefined,
      launch: async (request) => {
        const failure = failures.shift();
        if (failure !== undefined) throw failure;
        await held;
        const key = keyOf(request.worker_id, request.incarnation);
        if (made.has(key)) throw new HoldfastError("INVALID_STATE", `Run ${key} was launched before.`);
        const one = makeRun(
          request,
          runs.length + 1,
          (handle, signal) => memory.onSignal(handle, signal),
          (handle) => memory.onInput(handle),
        );
        made.set(key, one);
        runs.push(one.handle);
        return one.run;
      },
      observe: async (id) => observe(id),
      living: async () =>
        [...made.values()]
          .filter(({ ended }) => ended() === undefined)
          .map(({ run: { worker_id, incarnation } }) => ({ worker_id, incarnation, pids: [] })),
      end: async (id) => {
        made.get(keyOf(id.worker_id, id.incarnation))?.handle.exit("SIGKILL");
        return { survivors: [] };
      },
      output: ({ worker_id, incarnation }, stream) =>
        made.get(keyOf(worker_id, incarnation))?.run.source(stream),
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

/** A run in memory: its state, and its input. */
class StoredRun {
  readonly output = { stdout: new MemorySource(), stderr: new MemorySource() };
  ended: RunExit | undefined;
  listener: (() => void) | undefined;
  stdin: Buffer<ArrayBufferLike>;
  isClosed = false;
  readonly signals: string[] = [];
  readonly exited = Promise.withResolvers<RunExit>();

  constructor(request: LaunchRequest) {
    this.stdin = Buffer.from(request.stdin.kind === "empty" ? "" : request.stdin.text);
  }

  end(exit: RunExit): void {
    if (this.ended !== undefined) return;
    this.ended = exit;
    // As with a real process, the sender of a signal knows of it before the exit is reported.
    queueMicrotask(() => this.exited.resolve(exit));
    this.listener?.();
  }

  append(bytes: Uint8Array): void {
    this.stdin = Buffer.concat([this.stdin, bytes]);
  }
}

const handleOf = (standing: StoredRun, request: LaunchRequest): MemoryRun => ({
  request,
  signals: standing.signals,
  tearNext: undefined,
  refuseNext: false,
  get stdin() {
    return standing.stdin.toString();
  },
  get stdinEnded() {
    return standing.isClosed;
  },
  process: "running",
  print: (stream, text) => {
    standing.output[stream].append(text);
    standing.listener?.();
  },
  exit: (how) => standing.end(exitOf(how)),
  lose: (cause) => standing.end(cause === undefined ? UNKNOWN_EXIT : { ...UNKNOWN_EXIT, cause }),
});

type Signalling = Pick<Run, "process" | "signal" | "pause" | "unpause" | "kill">;

const signallingOf = (
  standing: StoredRun,
  handle: MemoryRun,
  onSignal: MemorySpawner["onSignal"],
): Signalling => {
  const deliver = async (signal: NodeJS.Signals): Promise<SignalReport> => {
    if (standing.ended !== undefined) return [];
    standing.signals.push(signal);
    onSignal(handle, signal);
    return "run";
  };
  const turn = (process: "running" | "stopped", signal: NodeJS.Signals): SignalReport => {
    if (standing.ended !== undefined || handle.process === process) return [];
    handle.process = process;
    standing.signals.push(signal);
    return "run";
  };
  return {
    process: () => (standing.ended === undefined ? handle.process : "dead"),
    signal: (signal) => {
      turn("running", "SIGCONT");
      return deliver(signal as NodeJS.Signals);
    },
    pause: async () => turn("stopped", "SIGSTOP"),
    unpause: async () => turn("running", "SIGCONT"),
    kill: () => deliver("SIGKILL"),
  };
};

const inputOf = (standing: StoredRun, handle: MemoryRun, onInput: MemorySpawner["onInput"]): RunInput => ({
  stdin_start: standing.stdin.length,
  stdinBytes: () => standing.stdin.length,
  stdinFrom: (offset) => standing.stdin.subarray(offset),
  write: async (bytes) => {
    const { tearNext, refuseNext } = handle;
    handle.tearNext = undefined;
    handle.refuseNext = false;
    if (refuseNext) throw new Error("ENOSPC: no space left on device");
    if (tearNext !== undefined) {
      standing.append(Buffer.from(bytes).subarray(0, tearNext));
      return new Promise<never>(() => undefined);
    }
    standing.append(Buffer.from(bytes));
    onInput(handle);
  },
  closeStdin: async () => {
    standing.isClosed = true;
    onInput(handle);
  },
  isStdinClosed: () => standing.isClosed,
});

const makeRun = (
  request: LaunchRequest,
  number: number,
  onSignal: MemorySpawner["onSignal"],
  onInput: MemorySpawner["onInput"],
): MadeRun => {
  const { worker_id, incarnation } = request;
  const standing = new StoredRun(request);
  const handle = handleOf(standing, request);
  const run: Run = {
    worker_id,
    incarnation,
    ref: `memory-${number}`,
    exited: standing.exited.promise,
    onOutput: (given) => {
      standing.listener = given;
    },
    source: (stream) => standing.output[stream],
    ...signallingOf(standing, handle, onSignal),
    input: inputOf(standing, handle, onInput),
    dispose: () => {
      standing.listener = undefined;
    },
  };
  return { run, handle, ended: () => standing.ended };
};
