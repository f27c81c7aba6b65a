/** A machine without processes: a real log, an in-memory spawner and any number of runtimes over them, one after the other. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Clock, Effect, Exit, Scope } from "effect";
import { TestClock } from "effect/testing";
import { makeDefects } from "../../src/actors/defects.ts";
import type { AgentAdapter } from "../../src/adapters/adapter.ts";
import { command } from "../../src/adapters/kinds/command/index.ts";
import { builtIn } from "../../src/adapters/registry.ts";
import { type MemoryRun, type MemorySpawner, makeMemorySpawner } from "../../src/library/memory-spawner.ts";
import { HoldfastError } from "../../src/protocol/errors.ts";
import type { RecordType } from "../../src/protocol/records.ts";
import type { Roles } from "../../src/protocol/roles.ts";
import type { WorkerSpec, WorkerSpecInput } from "../../src/protocol/worker.ts";
import type { RuntimeServices } from "../../src/runtime/core.ts";
import { makeRuntime } from "../../src/runtime/runtime.ts";
import { openLog } from "../../src/store/sqlite/log.ts";
import type { Limits } from "../../src/supervisor/admission/seats.ts";
import { withProcesses } from "../support/memory-processes.ts";

export const spec = (over: Partial<WorkerSpecInput> = {}): WorkerSpecInput => ({
  kind: "command",
  argv: ["agent"],
  cwd: "/",
  restart: "permanent",
  timeout_ms: 0,
  stall_ms: 0,
  backoff_min_ms: 0,
  backoff_max_ms: 0,
  ...over,
});

export const memoryMachine = Effect.gen(function* () {
  const dir = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "holdfast-memory-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true })),
  );
  const memory = makeMemorySpawner();
  const log = yield* Effect.acquireRelease(
    Effect.sync(() => openLog({ file: join(dir, "holdfast.db") })),
    (opened) => Effect.sync(() => opened.close()),
  );
  const specs = new Map<string, WorkerSpec>();
  const messages = new Map<string, string>();
  const reports: string[] = [];
  const services: RuntimeServices = {
    log,
    views: log,
    upkeep: log,
    spawner: withProcesses(memory.spawner),
    workerDir: (id) => join(dir, "runs", id),
    files: {
      save: async (id, saved) => void specs.set(id, saved),
      load: async (id) => {
        const found = specs.get(id);
        if (found === undefined) throw new HoldfastError("INVALID_STATE", "The launch spec is not kept.");
        return found;
      },
      saveMessage: async (_, id, text) => void messages.set(id, text),
      loadMessage: async (_, id) => messages.get(id),
      dropMessage: async (_, id) => void messages.delete(id),
      saveScripts: async () => undefined,
      left: async () => undefined,
      size: async (id) => (specs.has(id) ? 100 : 0),
      remove: async (id) => void specs.delete(id),
    },
    machine: { uptimeMs: () => undefined, memAvailableBytes: () => undefined },
    boot_id: "boot",
    random: () => 0,
    zone: "UTC",
    probe: { fileExists: async () => false, isDirectory: async () => true, portAccepts: async () => false },
    adapterFor: (kind) => (kind === "command" ? command : undefined),
    prepare: (adapter, given, incarnation, session, worker_id) =>
      Effect.sync(() => ({
        plan: adapter.plan({ spec: given, worker_id, incarnation, session, binary: "" }),
        env: {},
        client_env: given.client_env,
        secrets: [],
      })),
    defects: makeDefects((message) => void reports.push(message)),
    report: (message) => void reports.push(message),
  };

  /** A runtime over the same log and the same agents. `crash` is what kill -9 of a daemon is to them. */
  const boot = (over: Partial<RuntimeServices> = {}, limits: Partial<Limits> = {}, roles: Roles = {}) =>
    Effect.gen(function* () {
      const scope = yield* Scope.make();
      const crash = Scope.close(scope, Exit.void);
      yield* Effect.addFinalizer(() => crash);
      const runtime = yield* Scope.provide(
        makeRuntime(
          { ...services, ...over },
          { version: "test", state_dir: dir, registry: builtIn, limits, roles },
        ),
        scope,
      );
      return { runtime, crash };
    });

  const typesOf = (id: string, after = 0): RecordType[] =>
    log
      .stream(id)
      .filter((record) => record.seq > after)
      .map((record) => record.type);
  const count = (id: string, type: RecordType): number => log.stream(id, [type]).length;
  const printed = (id: string): string[] =>
    log
      .stream(id, ["agent.event"])
      .flatMap((record) =>
        record.type === "agent.event" && record.payload.text !== undefined ? [record.payload.text] : [],
      );

  return { memory, log, services, specs, reports, dir, boot, typesOf, count, printed };
});

export const memoryRuntime = Effect.gen(function* () {
  const machine = yield* memoryMachine;
  return { ...machine, ...(yield* machine.boot()) };
});

/** The command adapter with some of its functions replaced. */
export const adapterWith = (over: Partial<AgentAdapter>): AgentAdapter => ({
  ...(command as AgentAdapter),
  ...over,
});

/** Lets everything that is not waiting for time come to rest: real promises (commits) and fibers take turns. */
export const settled = Effect.promise(async () => {
  for (let turn = 0; turn < 60; turn += 1) await new Promise((resolve) => setImmediate(resolve));
});

/** More seconds than a test needs: a caller who gives so many means milliseconds. */
const ELAPSE_MAX_S = 900;

/** Time goes by second by second, and all that is due comes to rest in between. */
export const elapse = (seconds: number) =>
  Effect.gen(function* () {
    if (seconds > ELAPSE_MAX_S) throw new Error(`elapse takes seconds, and ${seconds} are too many`);
    for (let n = 0; n < seconds; n += 1) {
      yield* TestClock.adjust("1 second");
      yield* settled;
    }
  });

/**
 * The clock of the test, with time that no timer of the runtime sees: what a sleep of the machine or a SIGSTOP of the daemon
 * is to it, and a wall clock that is set.
 */
export const shiftingClock = Effect.map(Clock.Clock, (clock) => {
  const shift = { mono_ms: 0, uptime_ms: 0, wall_ms: 0 };
  const monoNanos = () => clock.monotonicTimeNanosUnsafe() + BigInt(shift.mono_ms) * 1_000_000n;
  const wallMs = () => clock.currentTimeMillisUnsafe() + shift.wall_ms;
  const shifted: Clock.Clock = {
    ...clock,
    currentTimeMillisUnsafe: wallMs,
    currentTimeMillis: Effect.sync(wallMs),
    monotonicTimeNanosUnsafe: monoNanos,
    monotonicTimeNanos: Effect.sync(monoNanos),
  };
  /** /proc/uptime goes with the monotonic clock, and on while the machine sleeps. */
  const uptimeMs = () => Number(monoNanos() / 1_000_000n) + shift.uptime_ms;
  return { shift, clock: shifted, uptimeMs };
});

const TURNS_MAX = 2_000;
export const until = (what: string, condition: () => boolean) =>
  Effect.gen(function* () {
    for (let turn = 0; turn < TURNS_MAX; turn += 1) {
      if (condition()) return;
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)));
      yield* Effect.yieldNow;
    }
    throw new Error(`never: ${what}`);
  });

/** The nth launch on this machine. */
export const nth = (memory: MemorySpawner, n: number) =>
  Effect.map(
    until(`launch ${n}`, () => memory.runs.length >= n),
    () => memory.runs[n - 1] as MemoryRun,
  );
