/**
 * The runtime of `Runtime.open({ engine })`: each run is a promise of this program instead of a process. It ends with the
 * program; the journal of its session is a file, so the next program goes on in the middle of a turn.
 */
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type {
  LaunchRequest,
  ObservedRun,
  Run,
  RunId,
  RunInput,
  RuntimeSpawner,
  SignalReport,
} from "../adapters/spawner.ts";
import { ENGINE_ENDED_RUNS_MAX, REPLY_MAX_BYTES } from "../base/limits.ts";
import { makeLineSplitter } from "../base/line-splitter.ts";
import type { AgentEngine } from "../engine/engine.ts";
import { type FunctionTool, functionTools } from "../engine/functions.ts";
import { fileJournals } from "../engine/journals.ts";
import type { Model } from "../engine/model.ts";
import { nativeEngine } from "../engine/native.ts";
import { partsOf } from "../engine/parts.ts";
import type { EngineInput, EngineLine, EngineOpening } from "../protocol/engine-lines.ts";
import { HoldfastError } from "../protocol/errors.ts";
import { type RunExit, UNKNOWN_EXIT } from "../protocol/incarnation.ts";
import { exitOf } from "./memory-exit.ts";
import { MemorySource } from "./memory-source.ts";

/** Called for the runs of the engine. An error that a hook throws is reported, and changes nothing. */
export interface EngineHooks {
  start?(run: RunId): void;
  /** Called about once a second while the run lives. */
  heartbeat?(run: RunId): void;
  completion?(run: RunId): void;
  failure?(run: RunId, error: { readonly code: string; readonly message: string }): void;
  cancel?(run: RunId): void;
}

export interface EngineOptions {
  /** An engine of your own, in the place of Holdfast's. */
  readonly engine?: AgentEngine;
  /** The model of all runs. Default: the provider that begins the name of a run's model. */
  readonly model?: Model;
  /** The tools of all runs, by name, each made by `functionTool`. */
  readonly tools?: Readonly<Record<string, FunctionTool>>;
  readonly hooks?: EngineHooks;
}

/** The input of a run: bytes for the runtime, lines for the engine. */
class EngineRunInput implements RunInput {
  readonly stdin_start: number;
  private readonly chunks: Buffer[];
  private readonly splitter = makeLineSplitter(REPLY_MAX_BYTES);
  private readonly waiting: EngineInput[] = [];
  private bytes: number;
  private isClosed = false;
  private wake: () => void = () => undefined;

  constructor(first: string) {
    this.chunks = [Buffer.from(first)];
    this.stdin_start = this.chunks[0]!.length;
    this.bytes = this.stdin_start;
  }

  stdinBytes(): number {
    return this.bytes;
  }

  stdinFrom(offset: number): Uint8Array {
    return Buffer.concat(this.chunks).subarray(offset);
  }

  async write(bytes: string | Uint8Array): Promise<void> {
    const chunk = Buffer.from(bytes as Uint8Array);
    this.chunks.push(chunk);
    this.bytes += chunk.length;
    for (const line of this.splitter.push(chunk))
      if ("text" in line) this.waiting.push(JSON.parse(line.text.toString("utf8")) as EngineInput);
    this.wake();
  }

  async closeStdin(): Promise<void> {
    this.isClosed = true;
    this.wake();
  }

  isStdinClosed(): boolean {
    return this.isClosed;
  }

  async *inputs(): AsyncGenerator<EngineInput> {
    for (;;) {
      while (this.waiting.length > 0) yield this.waiting.shift()!;
      if (this.isClosed) return;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }
}

type EngineHook = (hooks: EngineHooks, run: RunId) => void;

/** One run of the engine. */
class EngineRunInMemory implements Run {
  readonly worker_id: string;
  readonly incarnation: number;
  readonly ref = "engine";
  readonly input: EngineRunInput;
  readonly exited: Promise<RunExit>;
  private readonly output = { stdout: new MemorySource(), stderr: new MemorySource() };
  private readonly stopped = new AbortController();
  private readonly resolveExit: (exit: RunExit) => void;
  private readonly hook: (call: EngineHook) => void;
  private error: { readonly code: string; readonly message: string } | null = null;
  private isOver = false;
  private listener: (() => void) | undefined;

  constructor(
    { worker_id, incarnation, stdin }: LaunchRequest,
    hook: (call: EngineHook, run: RunId) => void,
  ) {
    this.worker_id = worker_id;
    this.incarnation = incarnation;
    this.input = new EngineRunInput(stdin.kind === "empty" ? "" : stdin.text);
    const { promise, resolve } = Promise.withResolvers<RunExit>();
    this.exited = promise;
    this.resolveExit = resolve;
    this.hook = (call) => hook(call, { worker_id, incarnation });
  }

  begin(engine: AgentEngine): void {
    const opening = JSON.parse(new TextDecoder().decode(this.input.stdinFrom(0))) as EngineOpening;
    this.hook((hooks, run) => hooks.start?.(run));
    const run = {
      opening,
      inputs: this.input.inputs(),
      tell: (line: EngineLine) => this.tell(line),
      signal: this.stopped.signal,
    };
    engine.run(run).then(
      () => this.end(exitOf(this.stopped.signal.aborted ? "SIGTERM" : 0)),
      (cause: unknown) => {
        this.output.stderr.append(`${cause instanceof Error ? cause.message : String(cause)}\n`);
        this.error ??= { code: "AGENT_FAILED", message: "The engine has thrown an error." };
        this.end(exitOf(1));
      },
    );
  }

  onOutput(listener: () => void): void {
    this.listener = listener;
  }

  source(stream: "stdout" | "stderr"): MemorySource {
    return this.output[stream];
  }

  process(): "running" | "dead" {
    if (this.isOver) return "dead";
    this.hook((hooks, run) => hooks.heartbeat?.(run));
    return "running";
  }

  /** TERM and INT end the run as soon as its step allows it; other signals mean nothing to it. */
  async signal(name: string): Promise<SignalReport> {
    if (this.isOver) return [];
    if (name === "SIGTERM" || name === "SIGINT") this.stopped.abort();
    return "run";
  }

  async kill(): Promise<SignalReport> {
    if (this.isOver) return [];
    this.stopped.abort();
    this.end(exitOf("SIGKILL"));
    return "run";
  }

  dispose(): void {
    this.listener = undefined;
  }

  private tell(line: EngineLine): void {
    // A step that was under way when the run was killed has nothing more to say.
    if (this.isOver) return;
    if (line.type === "refused" || line.type === "end") this.error = line.error;
    this.output.stdout.append(`${JSON.stringify(line)}\n`);
    this.listener?.();
  }

  private end(exit: RunExit): void {
    if (this.isOver) return;
    this.isOver = true;
    const { error } = this;
    if (exit.signal !== null) this.hook((hooks, run) => hooks.cancel?.(run));
    else if (error === null) this.hook((hooks, run) => hooks.completion?.(run));
    else this.hook((hooks, run) => hooks.failure?.(run, error));
    this.resolveExit(exit);
    this.listener?.();
  }
}

/** A run of an earlier program: it ended with it, and its journal says how far it came. */
const lostRun = ({ worker_id, incarnation }: RunId): Run => ({
  worker_id,
  incarnation,
  exited: Promise.resolve(UNKNOWN_EXIT),
  onOutput: () => undefined,
  source: () => new MemorySource(),
  process: () => "dead",
  signal: async () => [],
  kill: async () => [],
  dispose: () => undefined,
});

const engineOf = ({ engine, model, tools }: EngineOptions, directory: string): AgentEngine =>
  engine ??
  nativeEngine({
    journals: fileJournals(directory),
    parts: (opening) =>
      partsOf(opening, {
        ...(model === undefined ? {} : { model }),
        ...(tools === undefined ? {} : { tools: functionTools(tools) }),
      }),
    sleep: (ms, signal) => wait(ms, undefined, { signal }).catch(() => undefined),
  });

interface EndedEngineRun {
  readonly run: EngineRunInMemory;
  readonly exit: RunExit;
}

const keyOf = ({ worker_id, incarnation }: RunId): string => `${worker_id}/${incarnation}`;

/** The journals of the sessions are below the state directory. */
export const engineRuntime = (
  options: EngineOptions,
  stateDir: string,
  report: (message: string, cause?: unknown) => void = () => undefined,
): RuntimeSpawner => {
  const engine = engineOf(options, join(stateDir, "engine"));
  const runs = new Map<string, EngineRunInMemory>();
  const ended = new Map<string, EndedEngineRun>();
  /** The oldest is forgotten: the log has its end. */
  const remember = (key: string, run: EndedEngineRun): void => {
    ended.set(key, run);
    const [oldest] = ended.keys();
    if (ended.size > ENGINE_ENDED_RUNS_MAX && oldest !== undefined) ended.delete(oldest);
  };
  const hook = (call: EngineHook, run: RunId): void => {
    try {
      call(options.hooks ?? {}, run);
    } catch (cause) {
      report(`a hook of the engine failed for worker ${run.worker_id}`, cause);
    }
  };
  const observe = (id: RunId & { readonly ref?: string | undefined }): ObservedRun => {
    const key = keyOf(id);
    const run = runs.get(key);
    if (run !== undefined) return { kind: "running", run };
    const over = ended.get(key);
    if (over !== undefined) return { kind: "finished", ...over };
    return id.ref === undefined ? { kind: "never_started" } : { kind: "lost", run: lostRun(id) };
  };
  return {
    backend_kind: "in_process",
    abilities: new Set(["input"]),
    check: async () => undefined,
    launch: async (request) => {
      const key = keyOf(request);
      if (runs.has(key) || ended.has(key))
        throw new HoldfastError("INVALID_STATE", `Run ${key} was launched before.`);
      const run = new EngineRunInMemory(request, hook);
      runs.set(key, run);
      void run.exited.then((exit) => {
        runs.delete(key);
        remember(key, { run, exit });
      });
      run.begin(engine);
      return run;
    },
    observe: async (id) => observe(id),
    living: async () =>
      [...runs.values()].map(({ worker_id, incarnation }) => ({ worker_id, incarnation, pids: [] })),
    end: async (id) => {
      await runs.get(keyOf(id))?.kill();
      return { survivors: [] };
    },
    close: async () => {
      for (const run of runs.values()) await run.kill();
    },
  };
};
