/** Agents survive their supervisor: one runtime dies without a word, and the next one over the same log takes over. */
import { it } from "@effect/vitest";
import { Effect, Fiber } from "effect";
import { TestClock } from "effect/testing";
import { describe, expect } from "vitest";
import { HoldfastError } from "../../../src/protocol/errors.ts";
import { adapterWith, memoryMachine, nth, settled, spec, until } from "../memory-runtime.ts";

const dead = { exit_code: null, signal: null, reason: "unknown" };

describe("an agent that runs", () => {
  it.effect("is adopted and read on at the checkpoint: no line is lost, none is told twice", () =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      const first = yield* machine.boot();
      const { id } = yield* first.runtime.spawn(spec({ restart: "temporary" }));
      const run = yield* nth(machine.memory, 1);
      run.print("stdout", "one\ntwo\nthr");
      yield* until("two lines", () => machine.printed(id).length === 2);
      yield* first.crash;
      run.print("stdout", "ee\nfour\n");
      const second = yield* machine.boot();
      yield* until("all lines", () => machine.printed(id).length === 4);
      run.print("stdout", "five\n");
      run.exit(0);
      expect(yield* second.runtime.wait([id])).toMatchObject([{ status: "completed", exit_code: 0 }]);
      expect(machine.printed(id)).toEqual(["one\n", "two\n", "three\n", "four\n", "five\n"]);
      expect(machine.count(id, "worker_adopted")).toBe(1);
      expect(machine.count(id, "worker_exited")).toBe(1);
    }),
  );

  it.effect("whose start is not on record is recorded as started, with its process", () =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      const release = machine.memory.hold();
      const first = yield* machine.boot();
      const { id } = yield* first.runtime.spawn(spec());
      yield* until("begun", () => machine.count(id, "worker_state_changed") === 1);
      yield* settled;
      yield* first.crash;
      release();
      yield* nth(machine.memory, 1);
      expect(machine.count(id, "worker_spawned")).toBe(0);
      const second = yield* machine.boot();
      yield* until("spawned", () => machine.count(id, "worker_spawned") === 1);
      expect(yield* second.runtime.info(id)).toMatchObject({ state: "running", pid: 1 });
      expect(machine.memory.runs.length).toBe(1);
    }),
  );

  it.effect("and was killed before the crash is ended after it, and stays dead", () =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      machine.memory.onSignal = () => undefined;
      const first = yield* machine.boot();
      const { id } = yield* first.runtime.spawn(spec());
      const run = yield* nth(machine.memory, 1);
      yield* settled;
      yield* Effect.forkChild(Effect.exit(first.runtime.kill({ ids: [id], grace_ms: 5_000 })));
      yield* until("terminated", () => run.signals.length === 1);
      yield* first.crash;
      machine.memory.onSignal = (one, signal) => one.exit(signal);
      const second = yield* machine.boot();
      expect(yield* second.runtime.wait([id])).toMatchObject([
        { status: "cancelled", error: { code: "WORKER_CANCELLED" } },
      ]);
      expect(machine.count(id, "worker_cancel_requested")).toBe(1);
      expect(machine.memory.runs.length).toBe(1);
    }),
  );

  it.effect("has what is left of its wall clock, not all of it again", () =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      const first = yield* machine.boot();
      const { id } = yield* first.runtime.spawn(spec({ timeout_ms: 60_000 }));
      yield* nth(machine.memory, 1);
      yield* settled;
      yield* TestClock.adjust("50 seconds");
      yield* first.crash;
      const second = yield* machine.boot();
      yield* until("adopted", () => machine.count(id, "worker_adopted") === 1);
      yield* settled;
      yield* TestClock.adjust("9 seconds");
      yield* settled;
      expect((yield* second.runtime.info(id)).state).toBe("running");
      yield* TestClock.adjust("1 second");
      expect(yield* second.runtime.wait([id])).toMatchObject([
        { status: "failed", error: { code: "TIMEOUT" } },
      ]);
    }),
  );

  it.effect("and had passed its budget when the daemon died is stopped by the next one", () =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      const usage = {
        input_tokens: 60,
        output_tokens: 60,
        cached_tokens: 0,
        reasoning_tokens: 0,
        cost_usd: null,
      };
      const adapterFor = () => adapterWith({ validate: () => [] });
      const first = yield* machine.boot({ adapterFor });
      const { id } = yield* first.runtime.spawn(spec({ budget: { tokens: 100 }, on_breach: "stop" }));
      yield* nth(machine.memory, 1);
      yield* settled;
      yield* first.crash;
      machine.log.append([
        {
          type: "turn_completed",
          stream: `worker:${id}`,
          worker_id: id,
          incarnation: 1,
          payload: { turn: 1, usage, duration_ms: 1 },
        },
      ]);
      const second = yield* machine.boot({ adapterFor });
      expect(yield* second.runtime.wait([id])).toMatchObject([
        { status: "failed", error: { code: "BUDGET_EXCEEDED" } },
      ]);
    }),
  );

  it.effect(
    "and cannot be looked up is named by a stop with all agents, and the daemon goes on with it",
    () =>
      Effect.gen(function* () {
        const machine = yield* memoryMachine;
        const first = yield* machine.boot();
        const { id } = yield* first.runtime.spawn(spec());
        yield* nth(machine.memory, 1);
        yield* settled;
        yield* first.crash;
        let isBlind = true;
        const { spawner } = machine.services;
        const blind: typeof spawner = {
          ...spawner,
          observe: (asked) =>
            isBlind ? Promise.reject(new Error("no descriptors are left")) : spawner.observe(asked),
        };
        const fiber = yield* Effect.forkChild(machine.boot({ spawner: blind }));
        yield* settled;
        yield* TestClock.adjust("10 seconds");
        const { runtime } = yield* Fiber.join(fiber);
        const stop = yield* Effect.forkChild(Effect.flip(runtime.shutdown("kill", "test")));
        yield* settled;
        yield* TestClock.adjust("10 seconds");
        expect(yield* Fiber.join(stop)).toMatchObject({
          code: "AGENTS_RUNNING",
          info: { details: { running: [id] } },
        });
        isBlind = false;
        yield* TestClock.adjust("60 seconds");
        yield* until("adopted", () => machine.count(id, "worker_adopted") === 1);
        yield* runtime.shutdown("kill", "test");
        expect(machine.count(id, "worker_ended")).toBe(1);
      }),
  );

  it.effect("is supervised to its end and not started again where its launch spec is lost", () =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      const first = yield* machine.boot();
      const { id } = yield* first.runtime.spawn(spec());
      const run = yield* nth(machine.memory, 1);
      yield* settled;
      yield* first.crash;
      machine.specs.clear();
      const second = yield* machine.boot();
      run.print("stdout", "still read\n");
      yield* until("read", () => machine.printed(id).length === 1);
      run.exit(1);
      expect(yield* second.runtime.wait([id])).toMatchObject([{ status: "failed" }]);
      expect(machine.memory.runs.length).toBe(1);
    }),
  );
});

describe("an agent that ended while nobody watched", () => {
  it.effect("is settled with its exit and all it wrote, once, and its policy decides", () =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      const first = yield* machine.boot();
      const { id } = yield* first.runtime.spawn(spec({ restart: "transient" }));
      const run = yield* nth(machine.memory, 1);
      yield* settled;
      yield* first.crash;
      run.print("stdout", "last words\n");
      run.exit(7);
      const second = yield* machine.boot();
      yield* nth(machine.memory, 2);
      yield* settled;
      expect(machine.printed(id)).toEqual(["last words\n"]);
      expect(machine.log.stream(id, ["worker_exited"]).map(({ payload }) => payload)).toMatchObject([
        { exit_code: 7, reason: "exited" },
      ]);
      expect(yield* second.runtime.info(id)).toMatchObject({ state: "running", incarnation: 2, restarts: 1 });
    }),
  );

  it.effect("and of which nobody can say how is lost, and its policy decides", () =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      const first = yield* machine.boot();
      const { id } = yield* first.runtime.spawn(spec({ restart: "temporary" }));
      const run = yield* nth(machine.memory, 1);
      yield* settled;
      yield* first.crash;
      run.lose();
      const second = yield* machine.boot();
      expect(yield* second.runtime.wait([id])).toMatchObject([
        { status: "failed", exit_code: null, error: { code: "WORKER_LOST" } },
      ]);
      expect(machine.log.stream(id, ["worker_exited"]).map(({ payload }) => payload)).toMatchObject([dead]);
    }),
  );

  it.effect(
    "or was never started is a failed start that no policy counts: what was asked for is started",
    () =>
      Effect.gen(function* () {
        const machine = yield* memoryMachine;
        machine.memory.hold();
        const first = yield* machine.boot();
        const { id } = yield* first.runtime.spawn(spec({ restart: "temporary" }));
        yield* until("begun", () => machine.count(id, "worker_state_changed") === 1);
        yield* first.crash;
        // The launch of the dead daemon never comes; those of the next one do.
        machine.memory.hold()();
        const second = yield* machine.boot();
        (yield* nth(machine.memory, 1)).exit(0);
        expect(yield* second.runtime.wait([id])).toMatchObject([{ status: "completed" }]);
        expect(machine.log.stream(id, ["worker_exited"]).map(({ payload }) => payload)).toMatchObject([
          { reason: "start_failed", error: { code: "WORKER_LOST" } },
          { reason: "exited", exit_code: 0 },
        ]);
        expect(yield* second.runtime.info(id)).toMatchObject({ incarnation: 2, restarts: 0 });
      }),
  );
});

describe("a worker without an agent", () => {
  it.effect("waits out what is left of its backoff", () =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      const first = yield* machine.boot();
      const { id } = yield* first.runtime.spawn(spec({ backoff_min_ms: 60_000, backoff_max_ms: 60_000 }));
      (yield* nth(machine.memory, 1)).exit(1);
      yield* until("backing off", () => machine.count(id, "worker_restart_scheduled") === 1);
      yield* TestClock.adjust("40 seconds");
      yield* first.crash;
      yield* machine.boot();
      yield* settled;
      yield* TestClock.adjust("19 seconds");
      yield* settled;
      expect(machine.memory.runs.length).toBe(1);
      yield* TestClock.adjust("1 second");
      yield* nth(machine.memory, 2);
    }),
  );

  it.effect("that was requested and never begun is started", () =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      const first = yield* machine.boot();
      const { id } = yield* first.runtime.spawn(spec());
      yield* first.crash;
      yield* machine.boot();
      yield* nth(machine.memory, 1);
      expect(machine.count(id, "worker_spawn_requested")).toBe(1);
    }),
  );

  it.effect("keeps its restart window over restarts of the runtime", () =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      let { runtime, crash } = yield* machine.boot();
      const { id } = yield* runtime.spawn(spec({ max_restarts: 2, restart_period_ms: 60_000 }));
      for (let n = 1; n <= 3; n += 1) {
        (yield* nth(machine.memory, n)).exit(1);
        yield* until(`exit ${n}`, () => machine.count(id, "worker_exited") === n);
        yield* settled;
        yield* crash;
        ({ runtime, crash } = yield* machine.boot());
      }
      expect((yield* runtime.info(id)).status).toBe("failed");
      expect(machine.count(id, "supervisor_escalated")).toBe(1);
      expect(machine.memory.runs.length).toBe(3);
    }),
  );
});

describe("the next boot", () => {
  it.effect("writes nothing of what is settled, and of each agent that runs only who supervises it now", () =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      const first = yield* machine.boot();
      const killed = yield* first.runtime.spawn(spec());
      const running = yield* first.runtime.spawn(spec());
      const resting = yield* first.runtime.spawn(spec({ backoff_min_ms: 60_000, backoff_max_ms: 60_000 }));
      yield* nth(machine.memory, 3);
      yield* settled;
      yield* first.runtime.kill({ ids: [killed.id] });
      machine.memory.runs.find((run) => run.request.worker_id === resting.id)?.exit(1);
      yield* until("backing off", () => machine.count(resting.id, "worker_restart_scheduled") === 1);
      yield* first.crash;
      for (let boots = 0; boots < 2; boots += 1) {
        const head = machine.log.head();
        const { crash } = yield* machine.boot();
        yield* settled;
        yield* crash;
        const written = machine.log.read(head, 100).records;
        expect(written.map((record) => [record.type, record.worker_id])).toEqual([
          ["daemon_started", undefined],
          ["worker_adopted", running.id],
        ]);
      }
    }),
  );

  it.effect(
    "takes over what it can: a worker that cannot be looked up is said to be unsupervised, and the others live",
    () =>
      Effect.gen(function* () {
        const machine = yield* memoryMachine;
        const first = yield* machine.boot();
        const odd = yield* first.runtime.spawn(spec());
        const other = yield* first.runtime.spawn(spec());
        yield* nth(machine.memory, 2);
        yield* settled;
        yield* first.crash;
        const { spawner } = machine.services;
        let mended = false;
        const observe: typeof spawner.observe = async (run) => {
          if (run.worker_id === odd.id && !mended) throw new HoldfastError("INTERNAL", "no such table");
          return spawner.observe(run);
        };
        const booting = yield* Effect.forkChild(machine.boot({ spawner: { ...spawner, observe } }));
        for (let tries = 0; tries < 4; tries += 1) {
          yield* settled;
          yield* TestClock.adjust("1 second");
        }
        const { runtime } = yield* Fiber.join(booting);
        expect(yield* runtime.kill({ ids: [odd.id] })).toMatchObject([
          { ok: false, error: { code: "INVALID_STATE" } },
        ]);
        expect(yield* Effect.flip(runtime.wait([odd.id]))).toMatchObject({ code: "INVALID_STATE" });
        expect(yield* runtime.kill({ ids: [other.id] })).toMatchObject([{ ok: true, effect: "deleted" }]);
        expect(machine.reports).toContainEqual(expect.stringContaining(odd.id));
        // It is looked up again on the period.
        mended = true;
        yield* TestClock.adjust("5 seconds");
        yield* settled;
        expect(yield* runtime.kill({ ids: [odd.id] })).toMatchObject([{ ok: true, effect: "deleted" }]);
      }),
  );
});
