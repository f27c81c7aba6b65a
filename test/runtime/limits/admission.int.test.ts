/** Admission over a real log: slots, the queue, depth and memory. */
import { it } from "@effect/vitest";
import { Effect } from "effect";
import { describe, expect } from "vitest";
import { HoldfastError } from "../../../src/protocol/errors.ts";
import { SupervisorConfig, type TreeSpec, WorkerNode } from "../../../src/protocol/tree.ts";
import type { Limits } from "../../../src/supervisor/admission/seats.ts";
import { figure } from "../../support/figures.ts";
import { elapse, memoryMachine, nth, settled, spec, until } from "../memory-runtime.ts";

const once = (over = {}) => spec({ restart: "temporary", ...over });

/** With `limits`, a machine whose free memory the test sets, and a look at which agents run. */
const limited = (limits: Partial<Limits>) =>
  Effect.gen(function* () {
    const machine = yield* memoryMachine;
    const free = { bytes: Number.MAX_SAFE_INTEGER };
    const port = { uptimeMs: () => undefined, memAvailableBytes: () => free.bytes };
    const boot = () => machine.boot({ machine: port }, limits);
    const { runs } = machine.memory;
    const over = new Set<number>();
    /** Ends the nth run, from 1. */
    const end = (n: number, code = 0) => {
      over.add(n);
      runs[n - 1]?.exit(code);
    };
    const running = () => runs.length - over.size;
    return { ...machine, ...(yield* boot()), boot, free, end, running, runs };
  });

describe("slots", () => {
  it.effect("of 200 spawns at once with 7 slots never more than 7 are held, and all 200 run", () =>
    Effect.gen(function* () {
      const { runtime, running, runs, end } = yield* limited({ running_max: 7 });
      const replies = yield* Effect.all(
        Array.from({ length: 200 }, () => runtime.spawn(once())),
        { concurrency: "unbounded" },
      );
      let observed = 0;
      for (let n = 1; n <= 200; n += 1) {
        yield* until(`launch ${n}`, () => runs.length >= n);
        yield* settled;
        observed = Math.max(observed, running());
        end(n);
      }
      expect(observed).toBe(7);
      const ended = yield* runtime.wait(replies.map(({ id }) => id));
      expect(ended.every(({ status }) => status === "completed")).toBe(true);
      figure("R28", {
        rounds: ended.length,
        failures: 0,
        note: "spawns at once with 7 slots: never more than 7 held",
      });
    }),
  );

  it.effect("are free again after every end: an exit, a start that fails, a kill, a kill in the queue", () =>
    Effect.gen(function* () {
      const { runtime, memory, runs, end } = yield* limited({ running_max: 1 });
      yield* runtime.spawn(once());
      yield* nth(memory, 1);
      memory.failNext(new HoldfastError("EXEC_FAILED", "no"));
      const failing = yield* runtime.spawn(once());
      const waiting = yield* runtime.spawn(once());
      const third = yield* runtime.spawn(once());
      const fourth = yield* runtime.spawn(once());
      yield* runtime.kill({ ids: [waiting.id] });
      end(1);
      expect(yield* runtime.wait([failing.id])).toMatchObject([{ error: { code: "EXEC_FAILED" } }]);
      yield* nth(memory, 2);
      yield* settled;
      yield* runtime.kill({ ids: [third.id] });
      yield* nth(memory, 3);
      expect(runs.map(({ request }) => request.worker_id).slice(1)).toEqual([third.id, fourth.id]);
      expect((yield* runtime.info(waiting.id)).state).toBe("cancelled");
    }),
  );

  it.effect("are kept between two incarnations", () =>
    Effect.gen(function* () {
      const { runtime, memory, end, runs } = yield* limited({ running_max: 1 });
      const first = yield* runtime.spawn(spec({ backoff_min_ms: 5_000, backoff_max_ms: 5_000 }));
      yield* nth(memory, 1);
      yield* runtime.spawn(once());
      end(1, 1);
      yield* settled;
      expect((yield* runtime.info(first.id)).state).toBe("backing_off");
      expect(runs).toHaveLength(1);
      yield* elapse(6);
      yield* nth(memory, 2);
      expect(runs[1]?.request).toMatchObject({ worker_id: first.id, incarnation: 2 });
    }),
  );

  it.effect("and the queue are those of the log after the daemon has died", () =>
    Effect.gen(function* () {
      const { runtime, memory, runs, crash, boot, end } = yield* limited({ running_max: 2 });
      const ids: string[] = [];
      for (let n = 0; n < 4; n += 1) ids.push((yield* runtime.spawn(once())).id);
      yield* nth(memory, 2);
      yield* settled;
      yield* crash;
      const next = yield* boot();
      yield* elapse(3);
      expect(runs).toHaveLength(2);
      const states = yield* Effect.forEach(ids, (id) => next.runtime.info(id));
      expect(states.map(({ state }) => state)).toEqual(["running", "running", "pending", "pending"]);
      expect(states.map(({ queue }) => queue?.place)).toEqual([undefined, undefined, 1, 2]);
      end(1);
      const third = yield* nth(memory, 3);
      expect(third.request.worker_id).toBe(ids[2]);
    }),
  );
});

describe("the queue", () => {
  it.effect("is seen in the list and in the log, goes by priority, and moves up", () =>
    Effect.gen(function* () {
      const { runtime, memory, log, end, runs } = yield* limited({ running_max: 1 });
      yield* runtime.spawn(once());
      yield* nth(memory, 1);
      const low = yield* runtime.spawn(once({ priority: "low" }));
      const normal = yield* runtime.spawn(once());
      const critical = yield* runtime.spawn(once({ priority: "critical" }));
      const places = Effect.map(runtime.list(), (rows) =>
        rows.flatMap(({ id, state, reason, queue }) => (queue ? [[id, state, reason]] : [])),
      );
      expect(yield* places).toEqual([
        [low.id, "pending", "queued: place 3, priority low, waits for a slot"],
        [normal.id, "pending", "queued: place 2, priority normal, waits for a slot"],
        [critical.id, "pending", "queued: place 1, priority critical, waits for a slot"],
      ]);
      expect(log.stream(low.id, ["worker_queued"])).toMatchObject([
        { payload: { place: 1, priority: "low", waits_for: "slot" } },
      ]);
      end(1);
      yield* nth(memory, 2);
      expect(runs[1]?.request.worker_id).toBe(critical.id);
      expect(yield* places).toHaveLength(2);
      expect((yield* runtime.info(critical.id)).queue).toBeUndefined();
    }),
  );

  it.effect("has a bound, beyond which a spawn is denied and makes nothing", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* limited({ running_max: 1, queue_max: 1 });
      yield* runtime.spawn(once());
      yield* nth(memory, 1);
      yield* runtime.spawn(once());
      const denied = yield* Effect.flip(runtime.spawn(once()));
      expect(denied).toMatchObject({
        code: "QUEUE_FULL",
        info: { details: { reason_code: "local_limit_exceeded" } },
      });
      expect(yield* runtime.list({ all: true })).toHaveLength(2);
    }),
  );

  it.effect("is not jumped by a restart that is asked for by name", () =>
    Effect.gen(function* () {
      const { runtime, memory, runs } = yield* limited({ running_max: 1 });
      yield* runtime.spawn(once());
      yield* nth(memory, 1);
      const waiting = yield* runtime.spawn(once());
      expect(yield* runtime.restart([waiting.id])).toMatchObject([{ effect: "noop" }]);
      yield* elapse(2);
      expect(runs).toHaveLength(1);
    }),
  );

  it.effect("lets nobody go while the daemon shuts down", () =>
    Effect.gen(function* () {
      const { runtime, memory, runs, log, end } = yield* limited({ running_max: 1 });
      yield* runtime.spawn(once());
      yield* nth(memory, 1);
      const waiting = yield* runtime.spawn(once({ priority: "low" }));
      yield* runtime.spawn(once());
      end(1);
      yield* nth(memory, 2);
      // In reverse start order: the one that waits is stopped after the one whose slot it waits for.
      yield* runtime.shutdown("kill", "test");
      yield* settled;
      expect(runs).toHaveLength(2);
      expect(log.worker(waiting.id)?.state).toBe("cancelled");
    }),
  );

  it.effect("takes a worker that has ended and is started again", () =>
    Effect.gen(function* () {
      const { runtime, memory, runs, end } = yield* limited({ running_max: 1 });
      const first = yield* runtime.spawn(once());
      yield* nth(memory, 1);
      end(1);
      yield* runtime.wait([first.id]);
      yield* runtime.spawn(once());
      yield* nth(memory, 2);
      yield* runtime.restart([first.id]);
      yield* settled;
      expect(runs).toHaveLength(2);
      expect((yield* runtime.info(first.id)).queue).toMatchObject({ place: 1, waits_for: "slot" });
      end(2);
      const again = yield* nth(memory, 3);
      expect(again.request).toMatchObject({ worker_id: first.id, incarnation: 2 });
    }),
  );
});

describe("spawns of agents", () => {
  it.effect("may go three deep, and no deeper", () =>
    Effect.gen(function* () {
      const { runtime } = yield* limited({});
      let parent: string | undefined;
      for (let depth = 0; depth <= 3; depth += 1)
        parent = (yield* runtime.spawn(once(parent === undefined ? {} : { parent }))).id;
      const denied = yield* Effect.flip(runtime.spawn(once({ parent })));
      expect(denied).toMatchObject({
        code: "DEPTH_LIMIT_EXCEEDED",
        info: { details: { reason_code: "depth_limit_exceeded" } },
      });
      expect(yield* runtime.list()).toHaveLength(4);
    }),
  );

  it.effect("is bounded by all above it, after a restart of the daemon too", () =>
    Effect.gen(function* () {
      const { runtime, memory, runs, crash, boot, end } = yield* limited({});
      const top = yield* runtime.spawn(once({ max_concurrency: 1 }));
      const child = yield* runtime.spawn(once({ parent: top.id, argv: ["child"] }));
      yield* nth(memory, 2);
      const second = yield* runtime.spawn(once({ parent: top.id }));
      expect((yield* runtime.info(second.id)).queue).toMatchObject({ place: 1 });
      const looser = yield* Effect.flip(runtime.spawn(once({ parent: top.id, max_concurrency: 2 })));
      expect(looser.info.details).toEqual({ reason_code: "policy_violation" });
      // Others are not held up by it.
      yield* runtime.spawn(once());
      yield* nth(memory, 3);
      yield* settled;
      yield* crash;
      const next = yield* boot();
      yield* elapse(2);
      expect(runs).toHaveLength(3);
      // Its only slot is held by the one that asks.
      const below = yield* Effect.flip(next.runtime.spawn(once({ parent: child.id })));
      expect(below.info.details).toEqual({ reason_code: "local_limit_exceeded" });
      end(runs.findIndex(({ request }) => request.worker_id === child.id) + 1);
      const started = yield* nth(memory, 4);
      expect(started.request.worker_id).toBe(second.id);
    }),
  );

  it.effect("and cannot be started is denied as spawn_failed", () =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      const check = () => Promise.reject(new HoldfastError("BINARY_NOT_FOUND", "no such program"));
      const { runtime } = yield* machine.boot({ spawner: { ...machine.memory.spawner, check } });
      const denied = yield* Effect.flip(runtime.spawn(once()));
      expect(denied).toMatchObject({
        code: "BINARY_NOT_FOUND",
        info: { details: { reason_code: "spawn_failed" } },
      });
    }),
  );
});

describe("workers of a file", () => {
  const leaf = (name: string) => WorkerNode.parse({ type: "worker", name, spec: spec() });
  const file = (config: object, ...children: WorkerNode[]): TreeSpec => ({
    name: "crew",
    file: "/crew.yaml",
    root: {
      type: "supervisor",
      name: "crew",
      config: SupervisorConfig.parse({ backoff_min_ms: 0, backoff_max_ms: 0, ...config }),
      depends_on: [],
      children,
    },
  });

  it.effect("take slots too: their tree comes up as slots are freed, and goes down from the queue", () =>
    Effect.gen(function* () {
      const { runtime, memory, runs, end } = yield* limited({ running_max: 2 });
      yield* runtime.spawn(once());
      yield* nth(memory, 1);
      yield* runtime.applyTree(file({}, leaf("a"), leaf("b"), leaf("c")));
      yield* nth(memory, 2);
      yield* settled;
      expect(runs).toHaveLength(2);
      expect((yield* runtime.info("b")).queue).toMatchObject({ waits_for: "slot" });
      end(1);
      const second = yield* nth(memory, 3);
      yield* settled;
      expect(second.request.worker_id).toBe((yield* runtime.info("b")).id);
      yield* runtime.downTree("crew");
      const next = yield* runtime.spawn(once());
      const started = yield* nth(memory, 4);
      expect(started.request.worker_id).toBe(next.id);
    }),
  );

  it.effect("under a dynamic supervisor give their slots back, one after the other", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* limited({ running_max: 1 });
      yield* runtime.applyTree(file({ strategy: "dynamic" }));
      for (let n = 1; n <= 3; n += 1) {
        const { id } = yield* runtime.spawn(once({ supervisor: "crew" }));
        const run = yield* nth(memory, n);
        expect(run.request.worker_id).toBe(id);
        yield* settled;
        yield* runtime.kill({ ids: [id] });
      }
    }),
  );

  it.effect("that run when the daemon dies hold their slots under the next one", () =>
    Effect.gen(function* () {
      const { runtime, memory, runs, crash, boot } = yield* limited({ running_max: 1 });
      const waiting = yield* runtime.applyTree(file({}, leaf("a")));
      expect(waiting.changes).toHaveLength(2);
      yield* nth(memory, 1);
      const queued = yield* runtime.spawn(once());
      yield* settled;
      const why = yield* runtime.why(queued.id);
      expect(why.reason).toBe("queued: place 1, priority normal, waits for a slot");
      const shown = (yield* runtime.tree()).children.find(({ id }) => id === queued.id);
      expect(shown?.reason).toBe(why.reason);
      expect(why.records.map(({ type }) => type)).toContain("worker_queued");
      yield* crash;
      const next = yield* boot();
      yield* elapse(3);
      expect(runs).toHaveLength(1);
      expect((yield* next.runtime.info(queued.id)).queue?.place).toBe(1);
      yield* next.runtime.downTree("crew");
      yield* nth(memory, 2);
    }),
  );
});

describe("below the memory floor", () => {
  const floor = { mem_min_bytes: 1_000 };

  it.effect("nothing starts; it waits, visibly, and starts when memory is back, one a tick", () =>
    Effect.gen(function* () {
      const { runtime, runs, free, memory } = yield* limited(floor);
      free.bytes = 999;
      const ids: string[] = [];
      for (let n = 0; n < 3; n += 1) ids.push((yield* runtime.spawn(once())).id);
      yield* elapse(5);
      expect(runs).toHaveLength(0);
      expect((yield* runtime.info(ids[2] as string)).reason).toBe(
        "queued: place 3, priority normal, waits for memory",
      );
      free.bytes = 1_000;
      for (let n = 1; n <= 3; n += 1) {
        yield* elapse(1);
        yield* nth(memory, n);
        expect(runs).toHaveLength(n);
      }
      yield* runtime.spawn(once());
      yield* nth(memory, 4);
      figure("R29", { rounds: ids.length, failures: 0, note: "starts that waited for memory" });
    }),
  );

  it.effect(
    "a worker that ends again and again waits behind those that waited before it, and holds nobody up",
    () =>
      Effect.gen(function* () {
        const { runtime, runs, free, memory, end } = yield* limited(floor);
        const crashing = yield* runtime.spawn(spec({ restart: "permanent", max_restarts: 100 }));
        yield* nth(memory, 1);
        yield* settled;
        free.bytes = 999;
        end(1, 1);
        const waiting: string[] = [];
        for (let n = 0; n < 3; n += 1) waiting.push((yield* runtime.spawn(once())).id);
        yield* elapse(3);
        free.bytes = 1_000;
        const begun: string[] = [];
        for (let n = 2; n <= 7; n += 1) {
          yield* elapse(1);
          const { request } = yield* nth(memory, n);
          begun.push(request.worker_id);
          if (request.worker_id === crashing.id) end(runs.length, 1);
        }
        expect(begun).toEqual(expect.arrayContaining(waiting));
      }),
  );

  it.effect("a restart waits as well, keeps its slot, and a kill still ends it", () =>
    Effect.gen(function* () {
      const { runtime, runs, free, memory, log, end } = yield* limited({ ...floor, running_max: 2 });
      const first = yield* runtime.spawn(spec());
      const second = yield* runtime.spawn(spec());
      yield* nth(memory, 2);
      yield* settled;
      free.bytes = 0;
      end(1, 1);
      end(2, 1);
      yield* settled;
      yield* elapse(3);
      expect(runs).toHaveLength(2);
      expect(yield* runtime.info(first.id)).toMatchObject({
        state: "backing_off",
        queue: { waits_for: "memory" },
      });
      expect(log.stream(first.id, ["worker_queued"])).toHaveLength(1);
      expect(yield* runtime.kill({ ids: [second.id] })).toMatchObject([{ ok: true, status: "cancelled" }]);
      free.bytes = 1_000;
      yield* elapse(1);
      const again = yield* nth(memory, 3);
      expect(again.request).toMatchObject({ worker_id: first.id, incarnation: 2 });
    }),
  );
});
