/** A store that fails: a request fails typed and nothing has changed; a fact waits until the store can take it. */
import { it } from "@effect/vitest";
import { Effect, Exit, Fiber } from "effect";
import { TestClock } from "effect/testing";
import { describe, expect } from "vitest";
import { HoldfastError } from "../../src/protocol/errors.ts";
import type { RecordType } from "../../src/protocol/records.ts";
import type { Store } from "../../src/store/upkeep.ts";
import { elapse, memoryMachine, nth, settled, spec, until } from "./memory-runtime.ts";

const full = () => new HoldfastError("DISK_FULL", "The disk of the event log is full.");

/** The same log, whose commits of any of the types named fail while `broken` is set. */
const failing = (log: Store) => {
  const state = {
    broken: false,
    types: undefined as readonly RecordType[] | undefined,
    cause: full as () => unknown,
    refused: 0,
  };
  const refuses = (types: readonly RecordType[]) =>
    state.broken && (state.types === undefined || types.some((type) => state.types?.includes(type)));
  const commit: Store["commit"] = async (drafts, options) => {
    if (!refuses(drafts.map(({ type }) => type))) return log.commit(drafts, options);
    state.refused += 1;
    throw state.cause();
  };
  return { state, log: { ...log, commit } };
};

const machineWithFailingStore = Effect.gen(function* () {
  const machine = yield* memoryMachine;
  const { state, log } = failing(machine.log);
  const { runtime, crash } = yield* machine.boot({ log });
  return { ...machine, runtime, crash, store: state };
});

/** Enough time for what is tried again to be tried again. */
const retried = Effect.andThen(TestClock.adjust("2 seconds"), settled);

describe("while the store fails", () => {
  it.effect("a spawn fails with its error, and no agent is started", () =>
    Effect.gen(function* () {
      const { runtime, memory, store, log } = yield* machineWithFailingStore;
      store.broken = true;
      expect(yield* Effect.flip(runtime.spawn(spec({ name: "one" })))).toMatchObject({ code: "DISK_FULL" });
      store.broken = false;
      yield* retried;
      expect(memory.runs).toEqual([]);
      expect(log.workers()).toEqual([]);
      yield* runtime.spawn(spec({ name: "one" }));
    }),
  );

  it.effect("a kill fails with its error, and the agent is not signalled", () =>
    Effect.gen(function* () {
      const { runtime, memory, store } = yield* machineWithFailingStore;
      const { id } = yield* runtime.spawn(spec());
      const run = yield* nth(memory, 1);
      yield* settled;
      store.broken = true;
      expect(yield* runtime.kill({ ids: [id] })).toMatchObject([{ ok: false, error: { code: "DISK_FULL" } }]);
      yield* retried;
      expect(run.signals).toEqual([]);
      store.broken = false;
      expect(yield* runtime.kill({ ids: [id] })).toMatchObject([{ ok: true, status: "cancelled" }]);
    }),
  );

  it.effect("an exit, and what the agent wrote before it, wait; then they are recorded once", () =>
    Effect.gen(function* () {
      const machine = yield* machineWithFailingStore;
      const { id } = yield* machine.runtime.spawn(spec({ restart: "temporary" }));
      const run = yield* nth(machine.memory, 1);
      yield* settled;
      machine.store.broken = true;
      run.print("stdout", "one\ntwo\n");
      run.exit(5);
      for (let n = 0; n < 5; n += 1) yield* retried;
      expect(machine.store.refused).toBeGreaterThan(3);
      expect(machine.printed(id)).toEqual([]);
      machine.store.broken = false;
      yield* TestClock.adjust("1 second");
      expect(yield* machine.runtime.wait([id])).toMatchObject([{ status: "failed", exit_code: 5 }]);
      expect(machine.printed(id)).toEqual(["one\n", "two\n"]);
      expect(machine.count(id, "worker_exited")).toBe(1);
    }),
  );

  it.effect("the end of a worker is told to nobody before it is on record, behind all its output", () =>
    Effect.gen(function* () {
      const machine = yield* machineWithFailingStore;
      const { id } = yield* machine.runtime.spawn(spec({ restart: "temporary" }));
      const waiting = yield* Effect.forkChild(machine.runtime.wait([id]));
      const run = yield* nth(machine.memory, 1);
      yield* settled;
      Object.assign(machine.store, { broken: true, types: ["worker_completed"] });
      run.print("stdout", "last words\n");
      run.exit(0);
      for (let n = 0; n < 5; n += 1) yield* retried;
      expect(machine.store.refused).toBeGreaterThan(0);
      expect(waiting.pollUnsafe()).toBeUndefined();
      expect((yield* machine.runtime.info(id)).completion).toBeNull();
      machine.store.broken = false;
      yield* TestClock.adjust("1 second");
      expect(yield* Fiber.join(waiting)).toMatchObject([{ status: "completed", exit_code: 0 }]);
      expect(waiting.pollUnsafe()).toBeDefined();
      const types = machine.typesOf(id);
      const places = (["agent.event", "worker_exited", "worker_completed"] as const).map((type) =>
        types.lastIndexOf(type),
      );
      expect(places).toEqual([...places].sort((one, other) => one - other));
      expect(places[0]).toBeGreaterThan(-1);
    }),
  );

  it.effect("an exit that could not be recorded before a crash is recorded after it", () =>
    Effect.gen(function* () {
      const machine = yield* machineWithFailingStore;
      const { id } = yield* machine.runtime.spawn(spec({ restart: "temporary" }));
      const run = yield* nth(machine.memory, 1);
      yield* settled;
      machine.store.broken = true;
      run.print("stdout", "one\n");
      run.exit(5);
      yield* retried;
      yield* machine.crash;
      const { runtime } = yield* machine.boot();
      expect(yield* runtime.wait([id])).toMatchObject([{ status: "failed", exit_code: 5 }]);
      expect(machine.printed(id)).toEqual(["one\n"]);
    }),
  );

  it.effect("a start whose record waits is adopted by the next runtime after a crash", () =>
    Effect.gen(function* () {
      const machine = yield* machineWithFailingStore;
      machine.store.types = ["worker_spawned"];
      machine.store.broken = true;
      const { id } = yield* machine.runtime.spawn(spec());
      yield* nth(machine.memory, 1);
      yield* retried;
      expect(machine.store.refused).toBeGreaterThan(1);
      yield* machine.crash;
      const { runtime } = yield* machine.boot();
      yield* until("running", () => machine.log.worker(id)?.state === "running");
      expect(machine.typesOf(id).filter((type) => type !== "worker_state_changed")).toEqual([
        "worker_spawn_requested",
        "worker_adopted",
        "worker_spawned",
        "worker_started",
      ]);
      expect(yield* runtime.kill({ ids: [id] })).toMatchObject([{ ok: true }]);
    }),
  );

  it.effect("a stall is found again once it can be recorded, and heartbeats of others are not held up", () =>
    Effect.gen(function* () {
      const machine = yield* machineWithFailingStore;
      const { id } = yield* machine.runtime.spawn(spec({ restart: "temporary", stall_ms: 3_000 }));
      yield* nth(machine.memory, 1);
      yield* settled;
      machine.store.broken = true;
      yield* elapse(20);
      expect((yield* machine.runtime.info(id)).state).toBe("running");
      machine.store.broken = false;
      yield* elapse(8);
      expect(yield* machine.runtime.wait([id])).toMatchObject([{ error: { code: "IDLE_TIMEOUT" } }]);
    }),
  );

  it.effect("a shutdown that can stop no agent names them and goes on; the next one stops them", () =>
    Effect.gen(function* () {
      const machine = yield* machineWithFailingStore;
      const { runtime } = machine;
      const { id } = yield* runtime.spawn(spec());
      yield* nth(machine.memory, 1);
      yield* settled;
      machine.store.broken = true;
      const refused = yield* Effect.flip(runtime.shutdown("kill", "test"));
      expect(refused).toMatchObject({ code: "AGENTS_RUNNING", info: { details: { running: [id] } } });
      expect(refused.message).toContain("The disk of the event log is full");
      machine.store.broken = false;
      expect((yield* runtime.info(id)).state).toBe("running");
      const other = yield* runtime.spawn(spec());
      yield* nth(machine.memory, 2);
      yield* settled;
      yield* runtime.shutdown("kill", "test");
      for (const one of [id, other.id]) expect(machine.count(one, "worker_ended")).toBe(1);
    }),
  );
});

describe("a record that the store can never take", () => {
  it.effect("ends the worker that made it, and no other", () =>
    Effect.gen(function* () {
      const machine = yield* machineWithFailingStore;
      const sibling = yield* machine.runtime.spawn(spec());
      yield* nth(machine.memory, 1);
      const { id } = yield* machine.runtime.spawn(spec());
      const run = yield* nth(machine.memory, 2);
      yield* settled;
      Object.assign(machine.store, {
        broken: true,
        types: ["agent.event"],
        cause: () => new TypeError("not JSON"),
      });
      run.print("stdout", "poison\n");
      expect(yield* machine.runtime.wait([id])).toMatchObject([
        { status: "failed", error: { code: "INTERNAL" } },
      ]);
      expect(run.signals).toEqual(["SIGKILL"]);
      expect((yield* machine.runtime.info(sibling.id)).state).toBe("running");
    }),
  );
});

describe("a log that cannot be read", () => {
  it.effect("fails queries with a typed error", () =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      let broken = false;
      const guard =
        <A extends unknown[], R>(read: (...args: A) => R) =>
        (...args: A): R => {
          if (broken) throw new HoldfastError("STORE_FAILED", "The event log cannot be read.");
          return read(...args);
        };
      const { log } = machine;
      const guarded = {
        ...log,
        worker: guard(log.worker),
        workers: guard(log.workers),
        living: guard(log.living),
        countWorkers: guard(log.countWorkers),
        byId: guard(log.byId),
        turns: guard(log.turns),
        read: guard(log.read),
        readLines: guard(log.readLines),
        stream: guard(log.stream),
        seqAt: guard(log.seqAt),
      };
      const { runtime } = yield* machine.boot({ log: guarded, views: guarded });
      const { id } = yield* runtime.spawn(spec());
      yield* nth(machine.memory, 1);
      yield* settled;
      broken = true;
      const requests: Effect.Effect<unknown, HoldfastError>[] = [
        runtime.list(),
        runtime.info(id),
        runtime.tree(),
        runtime.resolve(id),
        runtime.output(id),
        runtime.wait([id]),
        runtime.status(),
        runtime.raw(id, "stdout", 0, 1),
        runtime.send(id, "x"),
        runtime.spawn(spec(), { idempotency_key: "k" }),
        runtime.kill({ ids: [id], subtree: true }),
      ];
      for (const request of requests) {
        const exit = yield* Effect.exit(request);
        expect(Exit.isFailure(exit) && exit.cause.reasons).toMatchObject([
          { _tag: "Fail", error: { code: "STORE_FAILED" } },
        ]);
      }
      broken = false;
      expect((yield* runtime.info(id)).state).toBe("running");
    }),
  );
});

it.effect("a request that is given up in the middle is carried out all the same, as its record says", () =>
  Effect.gen(function* () {
    const machine = yield* memoryMachine;
    const gate = Promise.withResolvers<void>();
    let gated = false;
    const commit: Store["commit"] = async (drafts, options) => {
      const records = await machine.log.commit(drafts, options);
      if (drafts.some(({ type }) => type === "worker_cancel_requested")) {
        gated = true;
        await gate.promise;
      }
      return records;
    };
    const { runtime } = yield* machine.boot({ log: { ...machine.log, commit } });
    const { id } = yield* runtime.spawn(spec());
    const run = yield* nth(machine.memory, 1);
    yield* settled;
    const killing = yield* Effect.forkChild(runtime.kill({ ids: [id] }));
    yield* until("on record", () => gated);
    killing.interruptUnsafe();
    gate.resolve();
    yield* Fiber.await(killing);
    expect(yield* runtime.wait([id])).toMatchObject([{ status: "cancelled" }]);
    expect(run.signals).toEqual(["SIGTERM"]);
  }),
);
