/** The whole supervisor over an in-memory spawner: a real log, no processes, and time on a test clock. */

import { it } from "@effect/vitest";
import { Effect, Fiber, Stream } from "effect";
import { TestClock } from "effect/testing";
import { describe, expect } from "vitest";
import { EXITS_PER_TURN_MAX } from "../../src/base/limits.ts";
import { HoldfastError } from "../../src/protocol/errors.ts";
import { figure } from "../support/figures.ts";
import { elapse, memoryMachine, memoryRuntime, nth, settled, spec, until } from "./memory-runtime.ts";

describe("a worker under the root supervisor", () => {
  it.effect("is started, runs, and its exit is recorded once with what follows", () =>
    Effect.gen(function* () {
      const { runtime, memory, log } = yield* memoryRuntime;
      const { id } = yield* runtime.spawn(spec({ restart: "temporary" }));
      (yield* nth(memory, 1)).exit(0);
      const [ended] = yield* runtime.wait([id]);
      expect(ended).toMatchObject({ status: "completed", exit_code: 0 });
      expect(log.stream(id).map((record) => record.type)).toEqual([
        "worker_spawn_requested",
        "worker_state_changed",
        "worker_spawned",
        "worker_started",
        "worker_state_changed",
        "worker_exited",
        "worker_completed",
        "worker_ended",
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
      expect(yield* runtime.info(id)).toMatchObject({
        incarnation: 2,
        restarts: 1,
        window: { used: 1, max: 3, period_ms: 60_000 },
      });
    }),
  );

  it.effect(
    "begins with a fresh window when it is restarted by name, and info shows the one that decides",
    () =>
      Effect.gen(function* () {
        const { runtime, memory } = yield* memoryRuntime;
        const { id } = yield* runtime.spawn(spec({ max_restarts: 2 }));
        for (let n = 1; n <= 3; n++) (yield* nth(memory, n)).exit(1);
        yield* runtime.wait([id]);
        expect(yield* runtime.info(id)).toMatchObject({ state: "failed", incarnation: 3 });
        yield* runtime.restart([id]);
        expect((yield* runtime.info(id)).window).toMatchObject({ used: 0, max: 2 });
        (yield* nth(memory, 4)).exit(1);
        yield* nth(memory, 5);
        yield* settled;
        expect((yield* runtime.info(id)).window).toMatchObject({ used: 1, max: 2 });
      }),
  );

  it.effect("that loops is given up; a bystander lives", () =>
    Effect.gen(function* () {
      const { runtime, memory, log } = yield* memoryRuntime;
      const bystander = yield* runtime.spawn(spec());
      yield* nth(memory, 1);
      const { id } = yield* runtime.spawn(spec({ max_restarts: 2 }));
      for (let n = 2; n <= 4; n += 1) (yield* nth(memory, n)).exit(1);
      const [ended] = yield* runtime.wait([id]);
      expect(ended?.status).toBe("failed");
      expect(log.stream(id).filter((record) => record.type === "worker_exited")).toHaveLength(3);
      expect(log.stream(id).map((record) => record.type)).toContain("supervisor_escalated");
      expect((yield* runtime.info(bystander.id)).status).toBe("running");
    }),
  );

  it.effect("is begun again also when more agents end at once than one turn carries on", () =>
    Effect.gen(function* () {
      const { runtime, memory, log } = yield* memoryRuntime;
      const count = EXITS_PER_TURN_MAX + 40;
      for (let n = 0; n < count; n += 1) yield* runtime.spawn(spec());
      yield* nth(memory, count);
      yield* until("all run", () => log.workers().every(({ state }) => state === "running"));
      for (const run of [...memory.runs]) run.exit(1);
      yield* nth(memory, 2 * count);
      yield* until("all run again", () => log.workers().every(({ state }) => state === "running"));
      expect(new Set(memory.runs.map(({ request }) => request.worker_id)).size).toBe(count);
      expect(log.workers().every(({ incarnation, restarts }) => incarnation === 2 && restarts === 1)).toBe(
        true,
      );
    }),
  );

  it.effect("whose start fails counts the failure and is tried again", () =>
    Effect.gen(function* () {
      const { runtime, memory, log } = yield* memoryRuntime;
      memory.failNext(new HoldfastError("EXEC_FAILED", "It is not a program."));
      const { id } = yield* runtime.spawn(spec());
      yield* nth(memory, 1);
      yield* settled;
      const exits = log.stream(id, ["worker_exited"]);
      expect(exits).toHaveLength(1);
      expect(exits[0]?.payload).toMatchObject({
        reason: "start_failed",
        exit_code: null,
        error: { code: "EXEC_FAILED" },
      });
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
      expect(yield* runtime.kill({ ids: [id] })).toMatchObject([
        { ok: true, effect: "deleted", status: "cancelled" },
      ]);
      expect(run.signals).toEqual(["SIGTERM"]);
      yield* TestClock.adjust("1 hour");
      yield* settled;
      expect(memory.runs.length).toBe(1);
      expect(yield* runtime.kill({ ids: [id] })).toMatchObject([
        { ok: true, effect: "noop", status: "cancelled" },
      ]);
    }),
  );

  it.effect("wins against a start that has recorded nothing yet", () =>
    Effect.gen(function* () {
      const { runtime, memory, count } = yield* memoryRuntime;
      const { id } = yield* runtime.spawn(spec());
      expect(yield* runtime.kill({ ids: [id] })).toMatchObject([{ ok: true, status: "cancelled" }]);
      yield* settled;
      expect((yield* runtime.info(id)).state).toBe("cancelled");
      expect(memory.runs.every((run) => run.signals.length > 0)).toBe(true);
      expect(count(id, "worker_ended")).toBe(1);
    }),
  );

  it.effect("wins against the end of a backoff, in whatever order they come", () =>
    Effect.gen(function* () {
      const { runtime, memory, log, count } = yield* memoryRuntime;
      for (let turns = 0; turns < 12; turns += 1) {
        const { id } = yield* runtime.spawn(spec({ backoff_min_ms: 1_000, backoff_max_ms: 1_000 }));
        (yield* nth(memory, memory.runs.length + 1)).exit(1);
        yield* until("backing off", () => count(id, "worker_restart_scheduled") === 1);
        yield* settled;
        const ringing = yield* Effect.forkChild(TestClock.adjust("1 second"));
        for (let turn = 0; turn < turns; turn += 1) yield* Effect.yieldNow;
        expect(yield* runtime.kill({ ids: [id] })).toMatchObject([{ ok: true, status: "cancelled" }]);
        yield* Fiber.join(ringing);
        yield* settled;
        expect(log.worker(id)?.state).toBe("cancelled");
        expect(log.stream(id).at(-1)?.type).toBe("worker_ended");
        expect(count(id, "worker_exited")).toBe(log.worker(id)?.incarnation);
      }
    }),
  );

  it.effect("of an agent that is being started waits for it and ends it", () =>
    Effect.gen(function* () {
      const { runtime, memory, count } = yield* memoryRuntime;
      const release = memory.hold();
      const { id } = yield* runtime.spawn(spec());
      yield* until("begun", () => count(id, "worker_state_changed") === 1);
      yield* settled;
      const killing = yield* Effect.forkChild(runtime.kill({ ids: [id] }));
      yield* until("requested", () => count(id, "worker_cancel_requested") === 1);
      release();
      expect(yield* Fiber.join(killing)).toMatchObject([{ ok: true, status: "cancelled" }]);
      expect(memory.runs.map((run) => run.signals)).toEqual([["SIGTERM"]]);
    }),
  );

  it.effect("a thousand times at once loses no exit", () =>
    Effect.gen(function* () {
      const { runtime, memory, count } = yield* memoryRuntime;
      const { id } = yield* runtime.spawn(spec());
      yield* nth(memory, 1);
      yield* settled;
      const replies = yield* Effect.all(
        Array.from({ length: 3 }, () => runtime.kill({ ids: Array(1_000).fill(id) as string[] })),
        { concurrency: "unbounded" },
      );
      expect(replies.flat().every((reply) => reply.ok && reply.status === "cancelled")).toBe(true);
      expect(count(id, "worker_cancel_requested")).toBe(1);
    }),
  );

  it.effect("with a signal that does not exist is refused", () =>
    Effect.gen(function* () {
      const { runtime } = yield* memoryRuntime;
      expect(yield* Effect.flip(runtime.kill({ ids: ["x"], signal: "SIGNOPE" }))).toMatchObject({
        code: "INVALID_REQUEST",
      });
    }),
  );

  it.effect("is final for its agent's own spawns, too", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* memoryRuntime;
      memory.onSignal = (run, signal) => (signal === "SIGKILL" ? run.exit(signal) : undefined);
      const parent = yield* runtime.spawn(spec());
      const run = yield* nth(memory, 1);
      yield* settled;
      const killing = yield* Effect.forkChild(
        runtime.kill({ ids: [parent.id], subtree: true, grace_ms: 5_000 }),
      );
      yield* until("terminated", () => run.signals.length === 1);
      expect(yield* Effect.flip(runtime.spawn(spec({ parent: parent.id })))).toMatchObject({
        code: "INVALID_STATE",
      });
      yield* TestClock.adjust("5 seconds");
      yield* Fiber.join(killing);
      expect((yield* runtime.list()).length).toBe(0);
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
      expect(replies).toMatchObject([
        { id: "nobody", ok: false, error: { code: "WORKER_NOT_FOUND" } },
        { id, ok: true, effect: "deleted" },
      ]);
    }),
  );

  it.effect(
    "names the worker that a mistyped name may mean, a living one first, else one that has ended",
    () =>
      Effect.gen(function* () {
        const { runtime, memory } = yield* memoryRuntime;
        yield* runtime.spawn(spec({ name: "web-one", restart: "temporary" }));
        const suggestion = Effect.map(Effect.flip(runtime.info("web")), (error) => error.suggestion);
        expect(yield* suggestion).toBe("Did you mean web-one? See all with: agent list");
        (yield* nth(memory, 1)).exit(0);
        yield* settled;
        expect(yield* suggestion).toBe("Did you mean web-one? See all with: agent list --all");
        yield* runtime.spawn(spec({ name: "web-two" }));
        expect(yield* suggestion).toBe("Did you mean web-two? See all with: agent list");
      }),
  );

  it.effect("takes no beginning of an id that is too short, and says how long it must be", () =>
    Effect.gen(function* () {
      const { runtime } = yield* memoryRuntime;
      const { id } = yield* runtime.spawn(spec());
      const suggestion = (ref: string) =>
        Effect.map(Effect.flip(runtime.info(ref)), (error) => error.suggestion);
      expect(yield* suggestion(id.slice(0, 3))).toBe("A prefix of an id needs at least 4 characters.");
      expect(yield* suggestion("n")).toBe("List the workers with `agent list --all`.");
      expect((yield* runtime.info(id.slice(0, 4))).id).toBe(id);
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
      const { id } = yield* runtime.spawn(spec());
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

describe("restart by name, at a bad moment", () => {
  it.effect("of what is being killed starts it once the kill is through", () =>
    Effect.gen(function* () {
      const { runtime, memory, typesOf } = yield* memoryRuntime;
      memory.onSignal = () => undefined;
      const { id } = yield* runtime.spawn(spec());
      const run = yield* nth(memory, 1);
      yield* settled;
      const killing = yield* Effect.forkChild(runtime.kill({ ids: [id] }));
      yield* until("terminated", () => run.signals.length === 1);
      const restarting = yield* Effect.forkChild(runtime.restart([id]));
      yield* settled;
      expect(memory.runs.length).toBe(1);
      run.exit(0);
      yield* Fiber.join(killing);
      expect(yield* Fiber.join(restarting)).toMatchObject([{ ok: true, effect: "updated" }]);
      yield* nth(memory, 2);
      yield* settled;
      expect(typesOf(id).filter((type) => type === "worker_ended")).toHaveLength(1);
      expect((yield* runtime.info(id)).state).toBe("running");
    }),
  );

  it.effect("at the moment of its end starts it, and never leaves it waiting for nobody", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* memoryRuntime;
      for (let turns = 0; turns < 25; turns += 1) {
        const { id } = yield* runtime.spawn(spec({ restart: "temporary" }));
        const run = yield* nth(memory, memory.runs.length + 1);
        yield* settled;
        const before = memory.runs.length;
        run.exit(0);
        for (let turn = 0; turn < turns; turn += 1)
          yield* turn % 3 === 2
            ? Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
            : Effect.yieldNow;
        yield* runtime.restart([id]);
        yield* nth(memory, before + 1);
        yield* settled;
        expect((yield* runtime.info(id)).state).toBe("running");
      }
    }),
  );

  it.effect("twice at once starts what has ended once", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* memoryRuntime;
      const { id } = yield* runtime.spawn(spec());
      yield* nth(memory, 1);
      yield* settled;
      yield* runtime.kill({ ids: [id] });
      yield* Effect.all([runtime.restart([id]), runtime.restart([id])], { concurrency: 2 });
      yield* nth(memory, 2);
      yield* settled;
      expect(memory.runs.length).toBe(2);
      expect(yield* runtime.info(id)).toMatchObject({ state: "running", incarnation: 2 });
    }),
  );

  it.effect("overrules a limit that is being carried out", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* memoryRuntime;
      memory.onSignal = () => undefined;
      const { id } = yield* runtime.spawn(spec({ timeout_ms: 1_000 }));
      const run = yield* nth(memory, 1);
      yield* settled;
      yield* TestClock.adjust("1 second");
      yield* until("terminated", () => run.signals.length === 1);
      yield* runtime.restart([id]);
      run.exit(0);
      yield* nth(memory, 2);
      yield* settled;
      expect((yield* runtime.info(id)).state).toBe("running");
    }),
  );
});

describe("limits", () => {
  it.effect("the budget of time is summed over all incarnations", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* memoryRuntime;
      const { id } = yield* runtime.spawn(spec({ budget: { wall_ms: 60_000 }, on_breach: "stop" }));
      const first = yield* nth(memory, 1);
      yield* settled;
      yield* TestClock.adjust("40 seconds");
      first.exit(1);
      yield* nth(memory, 2);
      yield* settled;
      yield* elapse(20);
      expect((yield* runtime.info(id)).state).toBe("running");
      yield* elapse(1);
      expect(yield* runtime.wait([id])).toMatchObject([
        { status: "failed", error: { code: "BUDGET_EXCEEDED" } },
      ]);
    }),
  );

  it.effect("the wall clock of an incarnation ends it for good", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* memoryRuntime;
      const { id } = yield* runtime.spawn(spec({ timeout_ms: 30_000 }));
      yield* nth(memory, 1);
      yield* settled;
      yield* TestClock.adjust("30 seconds");
      const [ended] = yield* runtime.wait([id]);
      expect(ended).toMatchObject({
        status: "failed",
        error: { code: "TIMEOUT", message: "It ran longer than 30s" },
      });
      expect(memory.runs.length).toBe(1);
    }),
  );

  it.effect("no progress for the stall time, and no answer, restarts a worker; progress keeps it", () =>
    Effect.gen(function* () {
      const { runtime, memory, log } = yield* memoryRuntime;
      const { id } = yield* runtime.spawn(spec({ stall_ms: 10_000, heartbeat_ms: 1_000 }));
      const run = yield* nth(memory, 1);
      yield* settled;
      yield* TestClock.adjust("8 seconds");
      run.print("stdout", "still here\n");
      yield* settled;
      yield* TestClock.adjust("8 seconds");
      yield* settled;
      expect(memory.runs.length).toBe(1);
      yield* elapse(25);
      yield* nth(memory, 2);
      expect(log.stream(id, ["worker_limit_reached"])).toHaveLength(1);
      expect(log.stream(id, ["worker_failed"])[0]?.payload).toMatchObject({
        error: { code: "IDLE_TIMEOUT" },
      });
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

  it.effect("gives all their grace at the same time, but an agent's own spawns theirs before its own", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* memoryRuntime;
      memory.onSignal = () => undefined;
      const signalled = () => memory.runs.map(({ signals }) => signals.length);
      const parent = yield* runtime.spawn(spec());
      yield* nth(memory, 1);
      for (const [n, over] of [{ parent: parent.id }, { parent: parent.id }].entries()) {
        yield* runtime.spawn(spec(over));
        yield* nth(memory, n + 2);
      }
      yield* settled;
      const stopping = yield* Effect.forkChild(runtime.shutdown("kill", "test"));
      yield* until("both children are stopped", () => signalled().join() === "0,1,1");
      memory.runs[2]?.exit("SIGTERM");
      yield* settled;
      expect(signalled()).toEqual([0, 1, 1]);
      memory.runs[1]?.exit("SIGTERM");
      yield* until("the parent is stopped", () => signalled().join() === "1,1,1");
      memory.runs[0]?.exit("SIGTERM");
      yield* Fiber.join(stopping);
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

describe("a shutdown", () => {
  it.effect("while an agent is being started leaves it to the next runtime", () =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      const release = machine.memory.hold();
      const { runtime, crash } = yield* machine.boot();
      const { id } = yield* runtime.spawn(spec());
      yield* until("begun", () => machine.count(id, "worker_state_changed") === 1);
      yield* runtime.shutdown("keep", "test");
      yield* crash;
      release();
      const run = yield* nth(machine.memory, 1);
      expect(run.signals).toEqual([]);
      const next = yield* machine.boot();
      yield* until("running", () => machine.log.worker(id)?.state === "running");
      expect(yield* next.runtime.kill({ ids: [id] })).toMatchObject([{ ok: true }]);
    }),
  );

  it.effect("that kills leaves out nobody who is being admitted, and admits nobody more", () =>
    Effect.gen(function* () {
      const { runtime, memory, log } = yield* memoryRuntime;
      const spawning = yield* Effect.forkChild(
        Effect.all(
          Array.from({ length: 20 }, () => Effect.exit(runtime.spawn(spec()))),
          { concurrency: "unbounded" },
        ),
      );
      yield* Effect.yieldNow;
      yield* runtime.shutdown("kill", "test");
      yield* Fiber.join(spawning);
      yield* settled;
      expect(log.workers().every((row) => row.state === "cancelled")).toBe(true);
      expect(memory.runs.every((run) => run.signals.length > 0)).toBe(true);
      expect(yield* Effect.flip(runtime.spawn(spec()))).toMatchObject({ code: "UNAVAILABLE" });
    }),
  );

  it.effect("tells those who wait or watch that nothing comes any more", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* memoryRuntime;
      const { id } = yield* runtime.spawn(spec());
      yield* nth(memory, 1);
      yield* settled;
      const waiting = yield* Effect.forkChild(Effect.flip(runtime.wait([id])));
      const watching = yield* Effect.forkChild(
        Effect.flip(Stream.runDrain(runtime.watch({ from: 0, follow: true }))),
      );
      yield* settled;
      yield* runtime.shutdown("keep", "test");
      expect(yield* Fiber.join(waiting)).toMatchObject({ code: "UNAVAILABLE" });
      expect(yield* Fiber.join(watching)).toMatchObject({ code: "UNAVAILABLE" });
    }),
  );
});

describe("raw output", () => {
  it.effect("of a worker that was never started is not there, and no other file is read for it", () =>
    Effect.gen(function* () {
      const { runtime } = yield* memoryRuntime;
      const { id } = yield* runtime.spawn(spec());
      yield* runtime.kill({ ids: [id] });
      const raw = yield* Effect.exit(runtime.raw(id, "stdout", 0, 10));
      const started = (yield* runtime.info(id)).incarnation > 0;
      expect(raw._tag).toBe(started ? "Success" : "Failure");
    }),
  );
});

describe("names and idempotency", () => {
  it.effect("a name is unique among living workers, also for two spawns at once", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* memoryRuntime;
      const spawns = yield* Effect.all(
        [
          Effect.exit(runtime.spawn(spec({ name: "one" }))),
          Effect.exit(runtime.spawn(spec({ name: "one" }))),
        ],
        { concurrency: 2 },
      );
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
      const replies = yield* Effect.all(
        Array.from({ length: 100 }, () => runtime.spawn(spec(), { idempotency_key: "k" })),
        { concurrency: 10 },
      );
      yield* settled;
      expect(new Set(replies.map((reply) => reply.id)).size).toBe(1);
      expect(replies.filter((reply) => reply.effect === "created")).toHaveLength(1);
      expect(memory.runs.length).toBe(1);
      figure("R13", { rounds: replies.length, failures: 0, note: "requests with one key: one worker" });
    }),
  );
});

it.effect("an idempotency key that another worker was asked for with is refused, also after a boot", () =>
  Effect.gen(function* () {
    const { boot, memory } = yield* memoryMachine;
    const { runtime, crash } = yield* boot();
    const key = { idempotency_key: "k" };
    const asked = spec({ env: { TOKEN: "s3cret-s3cret" }, argv: ["agent", "s3cret-s3cret"] });
    const { id } = yield* runtime.spawn(asked, key);
    yield* nth(memory, 1);
    yield* crash;
    const { runtime: next } = yield* boot();
    for (const other of [{ argv: ["agent", "other"] }, { restart: "temporary" as const }, { cwd: "/tmp" }])
      expect(yield* Effect.flip(next.spawn({ ...asked, ...other }, key))).toMatchObject({
        code: "VERSION_CONFLICT",
      });
    // Nothing but who asks differs.
    expect(yield* next.spawn({ ...asked, parent: id }, key)).toMatchObject({ id, effect: "noop" });
    expect(memory.runs.length).toBe(1);
  }),
);

describe("watch", () => {
  it.effect("refuses a cursor after the end of the log, and takes the end itself", () =>
    Effect.gen(function* () {
      const { runtime, memory, log } = yield* memoryRuntime;
      const { id } = yield* runtime.spawn(spec({ restart: "temporary" }));
      (yield* nth(memory, 1)).exit(0);
      yield* runtime.wait([id]);
      const head = log.head();
      const read = (from: number) => Stream.runCollect(runtime.watch({ ids: [id], from, follow: false }));
      expect(yield* read(head)).toEqual([]);
      expect(yield* Effect.flip(read(head + 1))).toMatchObject({
        code: "CURSOR_UNKNOWN",
        message: expect.stringContaining(`The log ends at record ${head}, and ${head + 1} is after it`),
        suggestion: expect.stringContaining(`--from ${head}`),
      });
    }),
  );

  it.effect("from a cursor gives every record once, in order, and ends with the worker", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* memoryRuntime;
      const { id } = yield* runtime.spawn(spec({ restart: "temporary" }));
      const watching = yield* Effect.forkChild(
        Stream.runCollect(runtime.watch({ ids: [id], from: 0, follow: false })),
      );
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

it.effect(
  "a launch for which nothing is left is tried again until it succeeds, in the same incarnation",
  () =>
    Effect.gen(function* () {
      const { memory, runtime, log, reports } = yield* memoryRuntime;
      const short = new HoldfastError("UNAVAILABLE", "Too many files are open to start an agent.");
      memory.failNext(short, short);
      const { id } = yield* runtime.spawn(spec({ restart: "temporary" }));
      yield* settled;
      expect(memory.runs).toHaveLength(0);
      yield* elapse(2);
      expect(memory.runs).toHaveLength(1);
      expect(log.worker(id)).toMatchObject({ state: "running", incarnation: 1, restarts: 0 });
      expect(reports).toHaveLength(1);
    }),
);

it.effect("a launch for which nothing comes free in time has failed, and says why", () =>
  Effect.gen(function* () {
    const { memory, runtime, log } = yield* memoryRuntime;
    memory.failNext(
      ...Array.from({ length: 100 }, () => new HoldfastError("UNAVAILABLE", "Nothing is left.")),
    );
    const { id } = yield* runtime.spawn(spec({ restart: "temporary" }));
    yield* elapse(31);
    expect(log.worker(id)).toMatchObject({ state: "failed", error: { code: "UNAVAILABLE" } });
  }),
);
