/** Paused workers over a real log: no clock counts, a pause outlives its daemon, and a stop ends it. */
import { it } from "@effect/vitest";
import { Effect } from "effect";
import { describe, expect } from "vitest";
import { elapse, memoryMachine, memoryRuntime, nth, settled, spec } from "../memory-runtime.ts";

const world = (over = {}) =>
  Effect.gen(function* () {
    const machine = yield* memoryRuntime;
    const { id } = yield* machine.runtime.spawn(spec(over));
    const run = yield* nth(machine.memory, 1);
    yield* settled;
    return { ...machine, id, run };
  });

describe("a paused worker", () => {
  it.effect("is stopped after the record, shown as paused, and goes on after the other one", () =>
    Effect.gen(function* () {
      const { runtime, id, run, count } = yield* world();
      expect(yield* runtime.pause([id], { reason: "too hot" })).toMatchObject([
        { ok: true, effect: "updated" },
      ]);
      expect(yield* runtime.pause([id])).toMatchObject([{ ok: true, effect: "noop" }]);
      yield* settled;
      expect(run.signals).toEqual(["SIGSTOP"]);
      const paused = [{ reason: "operator", detail: "too hot" }];
      const shown = { state: "running", status: "running", reason: "paused: too hot", paused };
      expect(yield* runtime.info(id)).toMatchObject(shown);
      expect(yield* runtime.list()).toMatchObject([shown]);
      expect((yield* runtime.tree()).children).toMatchObject([shown]);
      const why = yield* runtime.why(id);
      expect(why.reason).toBe("paused: too hot");
      expect(why.records.at(-1)).toMatchObject({
        type: "worker_paused",
        payload: { ...paused[0], pids: [1] },
      });
      expect(yield* runtime.unpause([id])).toMatchObject([{ ok: true, effect: "updated" }]);
      expect(yield* runtime.unpause([id])).toMatchObject([{ ok: true, effect: "noop" }]);
      yield* settled;
      expect(run.signals).toEqual(["SIGSTOP", "SIGCONT"]);
      expect(yield* runtime.info(id)).not.toHaveProperty("paused");
      expect([count(id, "worker_paused"), count(id, "worker_unpaused")]).toEqual([1, 1]);
    }),
  );

  it.effect("whose daemon died before it let it go on is let go on by the next one", () =>
    Effect.gen(function* () {
      const { boot, memory } = yield* memoryMachine;
      const first = yield* boot();
      const { id } = yield* first.runtime.spawn(spec());
      const run = yield* nth(memory, 1);
      yield* settled;
      yield* first.runtime.pause([id]);
      yield* first.runtime.unpause([id]);
      yield* settled;
      yield* first.crash;
      // As after a crash between the record and the signal.
      run.process = "stopped";
      yield* boot();
      yield* settled;
      expect(run.signals).toEqual(["SIGSTOP", "SIGCONT", "SIGCONT"]);
    }),
  );

  it.effect("that was paused while it started stands still once it runs", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* memoryRuntime;
      const release = memory.hold();
      const { id } = yield* runtime.spawn(spec());
      yield* settled;
      expect(yield* runtime.pause([id])).toMatchObject([{ ok: true }]);
      release();
      const run = yield* nth(memory, 1);
      yield* settled;
      expect(run.signals).toEqual(["SIGSTOP"]);
    }),
  );

  it.effect("and let go on before it ran is never stopped", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* memoryRuntime;
      const release = memory.hold();
      const { id } = yield* runtime.spawn(spec());
      yield* settled;
      yield* runtime.pause([id]);
      yield* runtime.unpause([id]);
      release();
      const run = yield* nth(memory, 1);
      yield* settled;
      expect([run.signals, run.process]).toEqual([[], "running"]);
    }),
  );

  it.effect("passes neither its timeout nor its stall time, and has what was left of both afterwards", () =>
    Effect.gen(function* () {
      const { runtime, id, run, typesOf } = yield* world({
        timeout_ms: 30_000,
        stall_ms: 20_000,
        heartbeat_ms: 2_000,
      });
      yield* elapse(15);
      yield* runtime.pause([id]);
      const types = typesOf(id);
      yield* elapse(600);
      expect(typesOf(id)).toEqual(types);
      yield* runtime.unpause([id]);
      yield* elapse(13);
      expect(run.signals).toEqual(["SIGSTOP", "SIGCONT"]);
      expect((yield* runtime.info(id)).question).toBeUndefined();
      yield* elapse(4);
      expect(run.signals).toEqual(["SIGSTOP", "SIGCONT", "SIGTERM"]);
      expect(yield* runtime.wait([id])).toMatchObject([{ status: "failed", error: { code: "TIMEOUT" } }]);
    }),
  );

  it.effect("that is asked whether it is stuck has all of its time to answer when it goes on", () =>
    Effect.gen(function* () {
      const { runtime, id, count } = yield* world({ stall_ms: 10_000, heartbeat_ms: 1_000 });
      yield* elapse(22);
      expect(count(id, "worker_question")).toBe(1);
      yield* runtime.pause([id]);
      yield* elapse(60);
      yield* runtime.unpause([id]);
      yield* elapse(8);
      expect(count(id, "worker_limit_reached")).toBe(0);
      yield* elapse(4);
      expect(count(id, "worker_limit_reached")).toBe(1);
    }),
  );

  it.effect("that is killed goes on first, and ends by TERM", () =>
    Effect.gen(function* () {
      const { runtime, id, run } = yield* world();
      yield* runtime.pause([id]);
      yield* settled;
      expect(yield* runtime.kill({ ids: [id] })).toMatchObject([{ ok: true, effect: "deleted" }]);
      expect(run.signals).toEqual(["SIGSTOP", "SIGCONT", "SIGTERM"]);
    }),
  );

  it.effect("that is restarted runs anew, not paused", () =>
    Effect.gen(function* () {
      const { runtime, memory, id } = yield* world();
      yield* runtime.pause([id]);
      yield* runtime.restart([id]);
      const next = yield* nth(memory, 2);
      yield* settled;
      expect(next.signals).toEqual([]);
      expect(yield* runtime.info(id)).not.toHaveProperty("paused");
    }),
  );

  it.effect("that somebody else kills is restarted by its policy, not paused", () =>
    Effect.gen(function* () {
      const { runtime, memory, id, run } = yield* world();
      yield* runtime.pause([id]);
      yield* settled;
      run.exit("SIGKILL");
      const next = yield* nth(memory, 2);
      yield* settled;
      expect(next.signals).toEqual([]);
      expect(yield* runtime.info(id)).toMatchObject({ state: "running", incarnation: 2, restarts: 1 });
    }),
  );

  it.effect("of which no agent runs cannot be paused", () =>
    Effect.gen(function* () {
      const { runtime, id, run } = yield* world({ backoff_min_ms: 60_000, backoff_max_ms: 60_000 });
      run.exit(1);
      yield* settled;
      expect(yield* runtime.pause([id])).toMatchObject([{ ok: false, error: { code: "INVALID_STATE" } }]);
      yield* runtime.kill({ ids: [id] });
      expect(yield* runtime.pause([id])).toMatchObject([{ ok: false, error: { code: "INVALID_STATE" } }]);
      expect(yield* runtime.unpause([id])).toMatchObject([{ ok: true, effect: "noop" }]);
    }),
  );
});

describe("a daemon that finds a paused worker", () => {
  it.effect("stops its agent again where it runs, counts no time of it, and can let it go on", () =>
    Effect.gen(function* () {
      const { runtime, crash, boot, id, run } = yield* world({ timeout_ms: 30_000 });
      yield* elapse(10);
      yield* runtime.pause([id]);
      yield* settled;
      yield* crash;
      // As after a crash between the record and the signal.
      run.process = "running";
      yield* elapse(60);
      const next = (yield* boot()).runtime;
      yield* settled;
      expect(run.signals).toEqual(["SIGSTOP", "SIGSTOP"]);
      expect(yield* next.info(id)).toMatchObject({ reason: "paused: operator" });
      yield* elapse(60);
      yield* next.unpause([id]);
      yield* elapse(18);
      expect(run.signals).toEqual(["SIGSTOP", "SIGSTOP", "SIGCONT"]);
      yield* elapse(4);
      expect(run.signals.at(-1)).toBe("SIGTERM");
    }),
  );
});
