/** Nodes as fibers, on a store in memory, in time that the test moves. */
import { it } from "@effect/vitest";
import { Effect } from "effect";
import { TestClock } from "effect/testing";
import { describe, expect } from "vitest";
import { CanaryMachine, Flock, startedMember } from "../support/canaries.ts";
import { Door } from "../support/door.ts";
import { MemoryStore } from "../support/memory-store.ts";

const HOUR_MS = 3_600_000;

/** Time passes in steps, since a promise needs a turn of the loop. */
const pass = (ms: number) =>
  Effect.gen(function* () {
    for (let left = ms; left > 0; left -= 50) {
      yield* TestClock.adjust(Math.min(50, left));
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)));
    }
  });

const cluster = Effect.gen(function* () {
  const flock = new Flock();
  const rows = new MemoryStore();
  const door = new Door(rows);
  const machines = yield* Effect.forEach(["a", "b", "c"], (id, at) =>
    CanaryMachine.make(id, flock, (at - 1) * HOUR_MS),
  );
  const lives = new Map<string, { readonly kill: Effect.Effect<void> }>();
  const start = (machine: CanaryMachine) =>
    Effect.map(startedMember(machine, door.store), (life) => void lives.set(machine.id, life));
  for (const machine of machines) yield* start(machine);
  yield* pass(1_000);
  const workers = ["u", "v", "w"];
  for (const worker of workers)
    yield* Effect.promise(() =>
      rows.place({
        worker,
        spec_digest: "",
        on_partition: worker === "u" ? "continue" : "stop",
        needs: {},
      }),
    );
  yield* pass(3_000);
  const machineOf = (worker: string) =>
    machines.find(({ id }) => id === flock.nodeOf(worker)) as CanaryMachine;
  return { flock, rows, door, machines, lives, start, workers, machineOf };
});

describe("nodes of a cluster, their clocks an hour apart", () => {
  it.effect("share the workers among them", () =>
    Effect.gen(function* () {
      const { flock, workers } = yield* cluster;
      expect(workers.map((worker) => flock.nodeOf(worker)).sort()).toEqual(["a", "b", "c"]);
      yield* pass(30_000);
      expect(flock.starts).toHaveLength(3);
    }),
  );

  it.effect(
    "search for what a worker left before they start it again, and for nothing of one that never began",
    () =>
      Effect.gen(function* () {
        const { machines, lives, machineOf } = yield* cluster;
        const searched = () => machines.flatMap((machine) => machine.searched);
        expect(searched()).toEqual([]);
        yield* lives.get(machineOf("w").id)!.kill;
        yield* pass(10_000);
        expect(searched()).toEqual(["w"]);
      }),
  );

  it.effect("take over within ten seconds from one whose daemon is dead, and never overlap", () =>
    Effect.gen(function* () {
      const { flock, lives, machineOf } = yield* cluster;
      const { id } = machineOf("w");
      yield* lives.get(id)!.kill;
      yield* pass(10_000);
      expect(flock.nodeOf("w")).toBeDefined();
      expect(flock.nodeOf("w")).not.toBe(id);
      expect(flock.overlaps).toEqual([]);
    }),
  );

  it.effect("leave alone what a daemon adopts that comes back within the lease", () =>
    Effect.gen(function* () {
      const { flock, lives, start, machineOf } = yield* cluster;
      const machine = machineOf("w");
      yield* lives.get(machine.id)!.kill;
      yield* pass(1_000);
      yield* start(machine);
      yield* pass(30_000);
      expect([flock.startsOf("w"), flock.nodeOf("w")]).toEqual([1, machine.id]);
    }),
  );

  it.effect("start again what an adopted run was, once it has ended", () =>
    Effect.gen(function* () {
      const { flock, lives, start, machineOf } = yield* cluster;
      const machine = machineOf("w");
      yield* lives.get(machine.id)!.kill;
      yield* start(machine);
      yield* pass(1_000);
      yield* Effect.promise(() => machine.sweep("w"));
      yield* pass(2_000);
      expect([flock.startsOf("w"), flock.nodeOf("w")]).toEqual([2, machine.id]);
    }),
  );

  it.effect("stop what stops, and let go on what goes on, while the store is away for ten minutes", () =>
    Effect.gen(function* () {
      const { flock, door } = yield* cluster;
      door.isShut = true;
      yield* pass(8_000);
      expect([...flock.singing].map(({ worker }) => worker)).toEqual(["u"]);
      yield* pass(600_000);
      door.isShut = false;
      yield* pass(5_000);
      expect([flock.startsOf("u"), flock.startsOf("v"), flock.startsOf("w")]).toEqual([1, 2, 2]);
      expect(flock.overlaps).toEqual([]);
    }),
  );

  it.effect("stop what stops on one that cannot keep its lease, and take it back once it can", () =>
    Effect.gen(function* () {
      const { flock, rows, machineOf } = yield* cluster;
      const machine = machineOf("w");
      const { kept } = machine;
      machine.isFull = true;
      yield* pass(20_000);
      expect(machine.kept).toEqual(kept);
      expect(machine.reports).toContain("the keeping of the lease");
      expect(flock.nodeOf("w")).toBeDefined();
      expect(flock.nodeOf("w")).not.toBe(machine.id);
      expect(flock.overlaps).toEqual([]);
      machine.isFull = false;
      yield* pass(3_000);
      expect(machine.kept?.until_ms).toBeGreaterThan(machine.now());
      const { nodes } = yield* Effect.promise(() => rows.view(machine.id));
      expect(nodes.find(({ id }) => id === machine.id)?.state).toBe("active");
    }),
  );

  it.effect("let a tombstone win, also over a node that is back", () =>
    Effect.gen(function* () {
      const { flock, rows, lives, start, machineOf } = yield* cluster;
      const machine = machineOf("u");
      yield* lives.get(machine.id)!.kill;
      yield* Effect.promise(() => rows.kill("u"));
      yield* pass(20_000);
      expect(flock.nodeOf("u")).toBe(machine.id);
      yield* start(machine);
      yield* pass(5_000);
      expect(flock.nodeOf("u")).toBeUndefined();
    }),
  );

  it.effect("move the workers of one that drains, and no others", () =>
    Effect.gen(function* () {
      const { flock, rows, machineOf } = yield* cluster;
      const { id } = machineOf("w");
      yield* Effect.promise(() => rows.drain(id, true));
      yield* pass(5_000);
      expect(flock.nodeOf("w")).not.toBe(id);
      expect([flock.startsOf("u"), flock.startsOf("v"), flock.startsOf("w")]).toEqual([1, 1, 2]);
    }),
  );
});
