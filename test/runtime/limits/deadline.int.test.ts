/** The deadline of a worker, over a real log: it ends the worker in whatever state it is, also after a daemon that was away. */
import { it } from "@effect/vitest";
import { Effect } from "effect";
import { TestClock } from "effect/testing";
import { describe, expect } from "vitest";
import { TreeSpec } from "../../../src/protocol/tree.ts";
import type { WorkerSpecInput } from "../../../src/protocol/worker.ts";
import { elapse, memoryMachine, memoryRuntime, nth, settled, spec, until } from "../memory-runtime.ts";

const DEADLINE = "1970-01-01T00:00:10.000Z";
const until10 = (over: Partial<WorkerSpecInput> = {}) => spec({ deadline_at: DEADLINE, ...over });
const PASSED = {
  status: "failed",
  end_cause: "deadline",
  reason: `Its deadline has passed: ${DEADLINE}`,
};

describe("a worker with a deadline", () => {
  it.effect("is ended then, whatever its restarts did, and not started again", () =>
    Effect.gen(function* () {
      const { runtime, memory, log } = yield* memoryRuntime;
      const { id } = yield* runtime.spawn(until10());
      (yield* nth(memory, 1)).exit(1);
      const second = yield* nth(memory, 2);
      yield* settled;
      yield* elapse(9);
      expect(second.signals).toEqual([]);
      yield* elapse(1);
      expect(second.signals).toEqual(["SIGTERM"]);
      expect(yield* runtime.wait([id])).toMatchObject([{ ...PASSED, error: { code: "DEADLINE_PASSED" } }]);
      expect(log.stream(id, ["worker_limit_reached"])).toMatchObject([
        { payload: { limit: "deadline", value: 10_000, bound: 10_000 } },
      ]);
      expect(memory.runs).toHaveLength(2);
      expect(yield* runtime.restart([id])).toMatchObject([{ ok: false, error: { code: "DEADLINE_PASSED" } }]);
    }),
  );

  it.effect("is ended while it waits for a restart", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* memoryRuntime;
      const { id } = yield* runtime.spawn(until10({ backoff_min_ms: 60_000, backoff_max_ms: 60_000 }));
      (yield* nth(memory, 1)).exit(1);
      yield* elapse(11);
      expect(yield* runtime.wait([id])).toMatchObject([PASSED]);
      expect(memory.runs).toHaveLength(1);
    }),
  );

  it.effect("is ended while it is paused", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* memoryRuntime;
      const { id } = yield* runtime.spawn(until10());
      yield* nth(memory, 1);
      yield* settled;
      yield* runtime.pause([id]);
      yield* elapse(11);
      expect(yield* runtime.wait([id])).toMatchObject([PASSED]);
    }),
  );

  it.effect("is ended in the queue, and the next one starts", () =>
    Effect.gen(function* () {
      const { boot, memory } = yield* memoryMachine;
      const { runtime } = yield* boot({}, { running_max: 1 });
      const first = yield* runtime.spawn(spec());
      yield* nth(memory, 1);
      const { id } = yield* runtime.spawn(until10());
      const last = yield* runtime.spawn(spec());
      yield* settled;
      yield* elapse(11);
      expect(yield* runtime.wait([id])).toMatchObject([PASSED]);
      yield* runtime.kill({ ids: [first.id], grace_ms: 0 });
      const next = yield* nth(memory, 2);
      expect(next.request.worker_id).toBe(last.id);
    }),
  );

  it.effect("of a tree ends alone: its sibling goes on, and no restart of the tree brings it back", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* memoryRuntime;
      const member = (name: string, own: WorkerSpecInput) =>
        ({ type: "worker", name, depends_on: [], spec: own }) as const;
      yield* runtime.applyTree(
        TreeSpec.parse({
          name: "crew",
          file: "/crew/holdfast.yaml",
          root: {
            type: "supervisor",
            name: "crew",
            config: { strategy: "one_for_all", max_restarts: 0 },
            depends_on: [],
            children: [member("brief", until10()), member("steady", spec())],
          },
        }),
      );
      yield* nth(memory, 2);
      yield* settled;
      yield* elapse(11);
      expect(yield* runtime.wait(["brief"])).toMatchObject([PASSED]);
      expect(yield* runtime.list()).toMatchObject([{ name: "steady", state: "running" }]);
      expect(memory.runs).toHaveLength(2);
    }),
  );

  it.effect("is refused once it has passed", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* memoryRuntime;
      yield* elapse(10);
      expect(yield* Effect.flip(runtime.spawn(until10()))).toMatchObject({
        code: "DEADLINE_PASSED",
        message: `Its deadline has passed, so it is not started: ${DEADLINE}.`,
      });
      expect(memory.runs).toHaveLength(0);
    }),
  );
});

describe("a daemon that was away over the deadline", () => {
  it.effect("takes the agent over and ends it", () =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      const first = yield* machine.boot();
      const { id } = yield* first.runtime.spawn(until10());
      const run = yield* nth(machine.memory, 1);
      yield* settled;
      yield* first.crash;
      yield* TestClock.adjust("1 hour");
      const second = yield* machine.boot();
      yield* until("adopted", () => machine.count(id, "worker_adopted") === 1);
      yield* elapse(1);
      expect(run.signals).toEqual(["SIGTERM"]);
      expect(yield* second.runtime.wait([id])).toMatchObject([PASSED]);
    }),
  );

  it.effect("starts no worker that waited for a restart", () =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      const first = yield* machine.boot();
      const { id } = yield* first.runtime.spawn(until10({ backoff_min_ms: 5_000, backoff_max_ms: 5_000 }));
      (yield* nth(machine.memory, 1)).exit(1);
      yield* until("backs off", () => machine.count(id, "worker_restart_scheduled") === 1);
      yield* first.crash;
      yield* TestClock.adjust("1 hour");
      const second = yield* machine.boot();
      yield* elapse(1);
      expect(yield* second.runtime.wait([id])).toMatchObject([PASSED]);
      expect(machine.memory.runs).toHaveLength(1);
    }),
  );
});
