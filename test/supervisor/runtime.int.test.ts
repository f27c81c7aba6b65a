/** The whole supervisor over an in-memory spawner: a real log, no processes, and time on a test clock. */
import { Effect, Fiber, Stream } from "effect";
import { TestClock } from "effect/testing";
import { describe, expect } from "vitest";
import { it } from "@effect/vitest";
import { HoldfastError } from "../../src/protocol/errors.ts";
import type { MemoryRun, MemorySpawner } from "../../src/adapters/memory-spawner.ts";
import { memoryRuntime, spec } from "./memory-runtime.ts";

/** Lets everything that is not waiting for time come to rest: real promises (commits) and fibers take turns. */
const settled = Effect.promise(async () => {
  for (let turn = 0; turn < 60; turn += 1) await new Promise((resolve) => setImmediate(resolve));
});
const until = (what: string, condition: () => boolean) =>
  Effect.gen(function* () {
    for (let turn = 0; turn < 400; turn += 1) {
      if (condition()) return;
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)));
      yield* Effect.yieldNow;
    }
    throw new Error(`never: ${what}`);
  });
const nth = (memory: MemorySpawner, n: number) => Effect.map(until(`launch ${n}`, () => memory.runs.length >= n), () => memory.runs[n - 1] as MemoryRun);

describe("a worker under the root supervisor", () => {
  it.effect("is started, runs, and its exit is recorded once with what follows", () =>
    Effect.gen(function* () {
      const { runtime, memory, log } = yield* memoryRuntime;
      const { id } = yield* runtime.spawn(spec({ restart: "temporary" }));
      (yield* nth(memory, 1)).exit(0);
      const [ended] = yield* runtime.wait([id]);
      expect(ended).toMatchObject({ status: "completed", exit_code: 0 });
      expect(log.stream(id).map((record) => record.type)).toEqual([
        "worker_spawn_requested", "worker_state_changed", "worker_spawned", "worker_started", "worker_state_changed", "worker_exited", "worker_completed", "worker_ended",
      ]);
    }),
  );

  it.effect("is restarted after its backoff, and not before", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* memoryRuntime;
      const { id } = yield* runtime.spawn(spec({ backoff_min_ms: 60_000, backoff_max_ms: 60_000 }));
      (yield* nth(memory, 1)).exit(3);
      yield* until("backing off", () => memory.runs.length === 1);
      yield* settled;
      expect((yield* runtime.info(id)).state).toBe("backing_off");
      yield* TestClock.adjust("59 seconds");
      yield* settled;
      expect(memory.runs.length).toBe(1);
      yield* TestClock.adjust("1 second");
      yield* nth(memory, 2);
      yield* settled;
      expect(yield* runtime.info(id)).toMatchObject({ incarnation: 2, restarts: 1, window: { used: 1, max: 3, period_ms: 60_000 } });
    }),
  );

  it.effect("that loops is given up; a bystander lives", () =>
    Effect.gen(function* () {
      const { runtime, memory, log } = yield* memoryRuntime;
      const bystander = yield* runtime.spawn(spec());
      yield* nth(memory, 1);
      const { id } = yield* runtime.spawn(spec({ max_restarts: 2, backoff_min_ms: 0, backoff_max_ms: 0 }));
      for (let n = 2; n <= 4; n += 1) (yield* nth(memory, n)).exit(1);
      const [ended] = yield* runtime.wait([id]);
      expect(ended?.status).toBe("failed");
      expect(log.stream(id).filter((record) => record.type === "worker_exited")).toHaveLength(3);
      expect(log.stream(id).map((record) => record.type)).toContain("supervisor_escalated");
      expect((yield* runtime.info(bystander.id)).status).toBe("running");
    }),
  );

  it.effect("whose start fails counts the failure and is tried again", () =>
    Effect.gen(function* () {
      const { runtime, memory, log } = yield* memoryRuntime;
      memory.failNext(new HoldfastError("EXEC_FAILED", "It is not a program."));
      const { id } = yield* runtime.spawn(spec({ backoff_min_ms: 0, backoff_max_ms: 0 }));
      yield* nth(memory, 1);
      yield* settled;
      const exits = log.stream(id, ["worker_exited"]);
      expect(exits).toHaveLength(1);
      expect(exits[0]?.payload).toMatchObject({ reason: "start_failed", exit_code: null, error: { code: "EXEC_FAILED" } });
      expect(yield* runtime.info(id)).toMatchObject({ incarnation: 2, restarts: 1 });
    }),
  );
});

describe("kill", () => {
  it.effect("ends a permanent worker for good; killing it again is a noop", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* memoryRuntime;
      const { id } = yield* runtime.spawn(spec());
      const run = yield* nth(memory, 1);
      yield* settled;
      expect(yield* runtime.kill({ ids: [id] })).toMatchObject([{ ok: true, effect: "deleted", status: "cancelled" }]);
      expect(run.signals).toEqual(["SIGTERM"]);
      yield* TestClock.adjust("1 hour");
      yield* settled;
      expect(memory.runs.length).toBe(1);
      expect(yield* runtime.kill({ ids: [id] })).toMatchObject([{ ok: true, effect: "noop", status: "cancelled" }]);
    }),
  );

  it.effect("gives the grace that was asked for, then kills", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* memoryRuntime;
      memory.onSignal = (run, signal) => (signal === "SIGKILL" ? run.exit(signal) : undefined);
      const { id } = yield* runtime.spawn(spec());
      const run = yield* nth(memory, 1);
      yield* settled;
      const killing = yield* Effect.forkChild(runtime.kill({ ids: [id], grace_ms: 5_000 }));
      yield* until("terminated", () => run.signals.length === 1);
      yield* settled;
      yield* TestClock.adjust("4 seconds");
      yield* settled;
      expect(run.signals).toEqual(["SIGTERM"]);
      yield* TestClock.adjust("1 second");
      yield* until("killed", () => run.signals.length === 2);
      expect(run.signals).toEqual(["SIGTERM", "SIGKILL"]);
      yield* Fiber.join(killing);
    }),
  );

  it.effect("answers for each id: one that nobody knows does not spoil the others", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* memoryRuntime;
      const { id } = yield* runtime.spawn(spec());
      yield* nth(memory, 1);
      yield* settled;
      const replies = yield* runtime.kill({ ids: ["nobody", id] });
      expect(replies).toMatchObject([{ id: "nobody", ok: false, error: { code: "WORKER_NOT_FOUND" } }, { id, ok: true, effect: "deleted" }]);
    }),
  );

  it.effect("of a subtree ends all that its agents spawned", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* memoryRuntime;
      const parent = yield* runtime.spawn(spec());
      const child = yield* runtime.spawn(spec({ parent: parent.id }));
      const other = yield* runtime.spawn(spec());
      yield* nth(memory, 3);
      yield* settled;
      const replies = yield* runtime.kill({ ids: [parent.id], subtree: true });
      expect(replies.map((reply) => reply.id).sort()).toEqual([parent.id, child.id].sort());
      expect((yield* runtime.info(other.id)).status).toBe("running");
    }),
  );
});

describe("restart by name", () => {
  it.effect("starts what was killed, and its policy holds again", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* memoryRuntime;
      const { id } = yield* runtime.spawn(spec({ backoff_min_ms: 0, backoff_max_ms: 0 }));
      yield* nth(memory, 1);
      yield* settled;
      yield* runtime.kill({ ids: [id] });
      yield* runtime.restart([id]);
      (yield* nth(memory, 2)).exit(1);
      yield* nth(memory, 3);
      yield* settled;
      expect(yield* runtime.info(id)).toMatchObject({ status: "running", incarnation: 3, restarts: 1 });
    }),
  );

  it.effect("of a running worker replaces its incarnation", () =>
    Effect.gen(function* () {
      const { runtime, memory, log } = yield* memoryRuntime;
      const { id } = yield* runtime.spawn(spec({ restart: "temporary" }));
      yield* nth(memory, 1);
      yield* settled;
      yield* runtime.restart([id]);
      yield* nth(memory, 2);
      expect(log.stream(id, ["worker_cancelled"])).toHaveLength(1);
    }),
  );
});

describe("limits", () => {
  it.effect("the wall clock of an incarnation ends it for good", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* memoryRuntime;
      const { id } = yield* runtime.spawn(spec({ timeout_ms: 30_000 }));
      yield* nth(memory, 1);
      yield* settled;
      yield* TestClock.adjust("30 seconds");
      const [ended] = yield* runtime.wait([id]);
      expect(ended).toMatchObject({ status: "failed", error: { code: "TIMEOUT", message: "It ran longer than 30s" } });
      expect(memory.runs.length).toBe(1);
    }),
  );

  it.effect("no progress for the stall time restarts a worker; progress keeps it", () =>
    Effect.gen(function* () {
      const { runtime, memory, log } = yield* memoryRuntime;
      const { id } = yield* runtime.spawn(spec({ stall_ms: 10_000, heartbeat_ms: 1_000, backoff_min_ms: 0, backoff_max_ms: 0 }));
      const run = yield* nth(memory, 1);
      yield* settled;
      yield* TestClock.adjust("8 seconds");
      run.print("stdout", "still here\n");
      yield* settled;
      yield* TestClock.adjust("8 seconds");
      yield* settled;
      expect(memory.runs.length).toBe(1);
      yield* TestClock.adjust("5 seconds");
      yield* nth(memory, 2);
      expect(log.stream(id, ["worker_limit_reached"])).toHaveLength(1);
      expect(log.stream(id, ["worker_failed"])[0]?.payload).toMatchObject({ error: { code: "IDLE_TIMEOUT" } });
    }),
  );
});

describe("shutdown", () => {
  it.effect("stops workers in reverse start order", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* memoryRuntime;
      const order: string[] = [];
      memory.onSignal = (run, signal) => {
        order.push(run.request.worker_id);
        run.exit(signal);
      };
      const ids: string[] = [];
      for (let n = 1; n <= 5; n += 1) {
        ids.push((yield* runtime.spawn(spec())).id);
        yield* nth(memory, n);
      }
      yield* settled;
      yield* runtime.shutdown("kill", "test");
      expect(order).toEqual(ids.reverse());
    }),
  );

  it.effect("that keeps the agents signals none of them", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* memoryRuntime;
      yield* runtime.spawn(spec());
      const run = yield* nth(memory, 1);
      yield* settled;
      yield* runtime.shutdown("keep", "test");
      expect(run.signals).toEqual([]);
    }),
  );
});

describe("names and idempotency", () => {
  it.effect("a name is unique among living workers, also for two spawns at once", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* memoryRuntime;
      const spawns = yield* Effect.all([Effect.exit(runtime.spawn(spec({ name: "one" }))), Effect.exit(runtime.spawn(spec({ name: "one" })))], { concurrency: 2 });
      expect(spawns.map((exit) => exit._tag).sort()).toEqual(["Failure", "Success"]);
      yield* nth(memory, 1);
      yield* settled;
      yield* runtime.kill({ ids: ["one"] });
      yield* runtime.spawn(spec({ name: "one" }));
    }),
  );

  it.effect("the same idempotency key a hundred times makes one worker", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* memoryRuntime;
      const replies = yield* Effect.all(Array.from({ length: 100 }, () => runtime.spawn(spec(), { idempotency_key: "k" })), { concurrency: 10 });
      yield* settled;
      expect(new Set(replies.map((reply) => reply.id)).size).toBe(1);
      expect(replies.filter((reply) => reply.effect === "created")).toHaveLength(1);
      expect(memory.runs.length).toBe(1);
    }),
  );
});

describe("watch", () => {
  it.effect("from a cursor gives every record once, in order, and ends with the worker", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* memoryRuntime;
      const { id } = yield* runtime.spawn(spec({ restart: "temporary" }));
      const watching = yield* Effect.forkChild(Stream.runCollect(runtime.watch({ ids: [id], from: 0, follow: false })));
      const run = yield* nth(memory, 1);
      for (let n = 0; n < 500; n += 1) run.print("stdout", `line ${n}\n`);
      run.exit(0);
      const records = yield* Fiber.join(watching);
      const texts = records.flatMap((record) => (record.type === "agent.event" ? [record.payload.text] : []));
      expect(texts).toEqual(Array.from({ length: 500 }, (_, n) => `line ${n}\n`));
      expect(records.at(-1)?.type).toBe("worker_ended");
      const seqs = records.map((record) => record.seq);
      expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
    }),
  );
});
