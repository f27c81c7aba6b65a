/**
 * Holdfast's side of `supervisor.ts`, in a process of its own: the real shell (spawn, machine, decisions, records, restarts)
 * over a log in memory and agents that are objects.
 */

import { Effect, Scope } from "effect";
import { makeDefects } from "../src/actors/defects.ts";
import type { AgentAdapter } from "../src/adapters/adapter.ts";
import { command } from "../src/adapters/kinds/command/index.ts";
import type { RunProcesses } from "../src/adapters/posix.ts";
import { builtIn } from "../src/adapters/registry.ts";
import type { LaunchRequest, Run, RuntimeSpawner } from "../src/adapters/spawner.ts";
import { MemorySource } from "../src/library/memory-source.ts";
import type { RunExit } from "../src/protocol/incarnation.ts";
import type { WorkerSpecInput } from "../src/protocol/worker.ts";
import type { RuntimeServices } from "../src/runtime/core.ts";
import { makeRuntime } from "../src/runtime/runtime.ts";
import { makeMemoryLog } from "./memory-log.ts";
import { measure } from "./supervisor-measure.ts";

/** A command whose output nobody reads: its objects write none. */
const silent: AgentAdapter = { ...(command as AgentAdapter), streams: [] };

const CRASHED: RunExit = {
  exit_code: 1,
  signal: null,
  signal_inferred: false,
  raw_status: 1,
  reason: "exited",
};
const SWEPT = { method: "pid_namespace", unreadable: 0, survivors: [], killed: 0 } as const;

const NOTHING = new MemorySource();
const ALIVE = { pid: 1, start_time: "1", boot_id: "memory", pid_ns: "memory" };

/** An agent of the bench: it runs until it is crashed. Its processes are recorded as those of a real run are. */
class ObjectRun implements Run, RunProcesses {
  readonly worker_id: string;
  readonly incarnation: number;
  readonly agent: RunProcesses["agent"];
  readonly pgid: number;
  readonly exited: Promise<RunExit>;
  crash!: (exit: RunExit) => void;
  constructor({ worker_id, incarnation }: LaunchRequest, pid: number) {
    this.worker_id = worker_id;
    this.incarnation = incarnation;
    this.agent = { ...ALIVE, pid };
    this.pgid = pid;
    this.exited = new Promise((resolve) => {
      this.crash = resolve;
    });
  }
  get launcher() {
    return this.agent;
  }
  get posix(): RunProcesses {
    return this;
  }
  resources(): undefined {}
  onOutput(): void {}
  source(): MemorySource {
    return NOTHING;
  }
  process(): "running" {
    return "running";
  }
  async signal(): Promise<readonly number[]> {
    return [];
  }
  async kill(): Promise<readonly number[]> {
    return [];
  }
  async sweep() {
    return SWEPT;
  }
  variables() {
    return {};
  }
  dispose(): void {}
}

const spec: WorkerSpecInput = {
  kind: "command",
  argv: ["agent"],
  cwd: "/",
  restart: "permanent",
  max_restarts: 1_000_000,
  restart_period_ms: 1_000,
  timeout_ms: 0,
  stall_ms: 0,
  backoff_min_ms: 0,
  backoff_max_ms: 0,
};

await measure(async (count) => {
  let started = 0;
  let awaited = { started: count, reached: Promise.withResolvers<void>() };
  const log = makeMemoryLog(() => {
    started += 1;
    if (started === awaited.started) awaited.reached.resolve();
  });
  const runs = new Map<string, ObjectRun>();
  const spawner: RuntimeSpawner = {
    backend_kind: "memory",
    abilities: new Set(),
    check: async () => undefined,
    launch: async (request) => {
      const run = new ObjectRun(request, runs.size + 1);
      runs.set(request.worker_id, run);
      return run;
    },
    observe: async () => ({ kind: "never_started" }),
    living: async () => [],
    end: async () => ({ survivors: [] }),
    close: async () => undefined,
  };
  const plan = { argv: ["agent"], env: {}, stdin: { kind: "empty" } } as const;
  const prepared = Effect.succeed({ plan, env: {}, client_env: {}, secrets: [] });
  const services: RuntimeServices = {
    log,
    views: log,
    upkeep: log,
    spawner,
    workerDir: () => "/nonexistent",
    files: {
      save: async () => undefined,
      load: () => Promise.reject(new Error("The bench keeps no specs.")),
      saveMessage: async () => undefined,
      loadMessage: async () => undefined,
      dropMessage: async () => undefined,
      saveScripts: async () => undefined,
      left: async () => undefined,
      size: async () => 0,
      remove: async () => undefined,
    },
    boot_id: "bench",
    probe: { fileExists: async () => false, isDirectory: async () => true, portAccepts: async () => false },
    random: Math.random,
    zone: "UTC",
    workers_max: count,
    machine: { uptimeMs: () => undefined, memAvailableBytes: () => undefined },
    adapterFor: () => silent,
    prepare: () => prepared,
    defects: makeDefects((message, cause) => process.stderr.write(`${message}: ${String(cause)}\n`)),
    report: (message, cause) => process.stderr.write(`${message}: ${String(cause)}\n`),
  };
  const options = {
    version: "bench",
    state_dir: "/nonexistent",
    registry: builtIn,
  };
  const runtime = await Effect.runPromise(Scope.provide(makeRuntime(services, options), Scope.makeUnsafe()));
  await Effect.runPromise(
    Effect.forEach(Array.from({ length: count }), () => runtime.spawn(spec), {
      concurrency: 64,
      discard: true,
    }),
  );
  await awaited.reached.promise;
  return async () => {
    awaited = { started: started + count, reached: Promise.withResolvers<void>() };
    for (const run of runs.values()) run.crash(CRASHED);
    await awaited.reached.promise;
  };
});
