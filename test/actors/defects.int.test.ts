/** Promise R36: what is thrown where nothing may be thrown ends one worker, and neither its siblings nor the runtime. */
import { it } from "@effect/vitest";
import { Effect, Fiber } from "effect";
import { TestClock } from "effect/testing";
import { describe, expect } from "vitest";
import type { Services } from "../../src/actors/ports.ts";
import type { AgentAdapter } from "../../src/adapters/adapter.ts";
import type { Run, RuntimeSpawner } from "../../src/adapters/spawner.ts";
import { SIGNAL_TRIES_MAX } from "../../src/base/limits.ts";
import { adapterWith, elapse, memoryMachine, nth, settled, spec, until } from "../runtime/memory-runtime.ts";

const boom = (): never => {
  throw new TypeError("boom");
};
const reject = () => Promise.reject(new TypeError("boom"));

/** The output of a run, but for its tail. */
const withoutTail =
  (run: Run): Run["source"] =>
  (stream) =>
    Object.assign(Object.create(run.source(stream)), { tail: reject });

/** The kind `bad` is a command whose adapter throws; `command` is its healthy sibling. */
const withBad = (services: Services, over: Partial<AgentAdapter>): Partial<Services> => ({
  adapterFor: (kind) => (kind === "bad" ? { ...adapterWith(over), kind: "bad" } : services.adapterFor(kind)),
});

/** Runs of the program `bad` behave as told. */
const badRuns = (spawner: RuntimeSpawner, over: (run: Run) => Partial<Run>): Partial<Services> => ({
  spawner: {
    ...spawner,
    launch: async (request) => {
      const run = await spawner.launch(request);
      return request.argv[0] === "bad" ? { ...run, ...over(run) } : run;
    },
  },
});

const INTERNAL = { code: "INTERNAL" };

describe("a throw in an adapter", () => {
  it.effect.each([
    ["decode", { decode: boom }],
    ["initial", { initial: boom }],
  ] as const)(
    "(%s) while the agent runs: its process is killed, the worker has failed, a sibling runs on",
    ([, over]) =>
      Effect.gen(function* () {
        const machine = yield* memoryMachine;
        const { runtime } = yield* machine.boot(withBad(machine.services, over));
        const sibling = yield* runtime.spawn(spec());
        const healthy = yield* nth(machine.memory, 1);
        const { id } = yield* runtime.spawn(spec({ kind: "bad" }));
        const run = yield* nth(machine.memory, 2);
        run.print("stdout", "a line\n");
        expect(yield* runtime.wait([id])).toMatchObject([{ status: "failed", error: INTERNAL }]);
        expect(run.signals).toEqual(["SIGKILL"]);
        expect(machine.log.stream(id, ["worker_exited"]).map(({ payload }) => payload)).toMatchObject([
          { signal: "SIGKILL", sweep: { survivors: [] } },
        ]);
        expect(machine.typesOf(id).slice(-3)).toEqual(["worker_exited", "worker_failed", "worker_ended"]);
        expect(machine.memory.runs.length).toBe(2);
        healthy.print("stdout", "here\n");
        yield* until("the sibling's line", () => machine.printed(sibling.id).length === 1);
        expect((yield* runtime.info(sibling.id)).state).toBe("running");
        expect(machine.reports.length).toBeGreaterThan(0);
      }),
  );

  it.effect("(finish) after the exit: the exit is recorded once, with its code", () =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      const { runtime } = yield* machine.boot(withBad(machine.services, { finish: boom }));
      const { id } = yield* runtime.spawn(spec({ kind: "bad" }));
      (yield* nth(machine.memory, 1)).exit(0);
      expect(yield* runtime.wait([id])).toMatchObject([{ status: "failed", exit_code: 0, error: INTERNAL }]);
      expect(machine.count(id, "worker_exited")).toBe(1);
    }),
  );

  it.effect("(plan) at a restart is a start that failed, and the window bounds it", () =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      const healthy = adapterWith({});
      const plan: AgentAdapter["plan"] = (context) =>
        context.incarnation > 1 ? boom() : healthy.plan(context);
      const { runtime } = yield* machine.boot(withBad(machine.services, { plan }));
      const { id } = yield* runtime.spawn(spec({ kind: "bad", max_restarts: 2 }));
      (yield* nth(machine.memory, 1)).exit(1);
      expect(yield* runtime.wait([id])).toMatchObject([{ status: "failed", error: INTERNAL }]);
      expect(
        machine.log
          .stream(id, ["worker_exited"])
          .map(({ payload }) => (payload as { reason: string }).reason),
      ).toEqual(["exited", "start_failed", "start_failed"]);
    }),
  );

  it.effect.each([
    ["validate", { validate: boom }],
    ["plan", { plan: boom }],
  ] as const)("(%s) at a spawn fails the request with a typed error, and nothing is recorded", ([, over]) =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      const { runtime } = yield* machine.boot(withBad(machine.services, over));
      expect(yield* Effect.flip(runtime.spawn(spec({ kind: "bad" })))).toMatchObject(INTERNAL);
      expect(yield* runtime.list({ all: true })).toEqual([]);
    }),
  );

  it.effect("while a kill is carried out leaves it a kill", () =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      const { runtime } = yield* machine.boot(withBad(machine.services, { finish: boom }));
      const { id } = yield* runtime.spawn(spec({ kind: "bad" }));
      yield* nth(machine.memory, 1);
      yield* settled;
      expect(yield* runtime.kill({ ids: [id] })).toMatchObject([{ ok: true, status: "cancelled" }]);
    }),
  );
});

describe("a run that cannot be handled", () => {
  it.effect.each([
    ["sweep", 1, ({ posix }: Run) => ({ posix: { ...posix!, sweep: reject } })],
    ["tail", 1, (run: Run) => ({ source: withoutTail(run) })],
    ["signal", SIGNAL_TRIES_MAX, (run: Run) => ({ signal: async () => boom(), kill: () => run.kill() })],
  ] as const)("(%s) is settled all the same, and each failed call is told", ([, calls, over]) =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      const { runtime } = yield* machine.boot(badRuns(machine.services.spawner, over));
      const { id } = yield* runtime.spawn(spec({ argv: ["bad"] }));
      yield* nth(machine.memory, 1);
      yield* settled;
      const killing = yield* Effect.forkChild(runtime.kill({ ids: [id], grace_ms: 1_000 }));
      yield* settled;
      yield* TestClock.adjust("1 second");
      yield* until("ended", () => machine.count(id, "worker_ended") === 1);
      expect(yield* Fiber.join(killing)).toMatchObject([{ ok: true, status: "cancelled" }]);
      expect(machine.count(id, "worker_exited")).toBe(1);
      expect(machine.reports.length).toBe(calls);
    }),
  );

  it.effect("(kill) is killed again until it ends", () =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      let tries = 0;
      const { runtime } = yield* machine.boot(
        badRuns(machine.services.spawner, (run) => ({ kill: () => (++tries < 3 ? reject() : run.kill()) })),
      );
      machine.memory.onSignal = (run, signal) => (signal === "SIGKILL" ? run.exit(signal) : undefined);
      const { id } = yield* runtime.spawn(spec({ argv: ["bad"] }));
      yield* nth(machine.memory, 1);
      yield* settled;
      const killing = yield* Effect.forkChild(runtime.kill({ ids: [id], grace_ms: 0 }));
      for (let n = 0; n < 3; n += 1) {
        yield* settled;
        yield* TestClock.adjust("2 seconds");
      }
      yield* until("ended", () => machine.count(id, "worker_ended") === 1);
      expect(yield* Fiber.join(killing)).toMatchObject([{ ok: true }]);
      expect(tries).toBe(3);
    }),
  );

  it.effect("(process) at a heartbeat ends this worker, and the heartbeats of the others go on", () =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      const { runtime } = yield* machine.boot(badRuns(machine.services.spawner, () => ({ process: boom })));
      const bad = yield* runtime.spawn(spec({ argv: ["bad"], heartbeat_ms: 1_000 }));
      const stuck = yield* runtime.spawn(spec({ restart: "temporary", stall_ms: 5_000 }));
      yield* nth(machine.memory, 2);
      yield* settled;
      yield* TestClock.adjust("2 seconds");
      expect(yield* runtime.wait([bad.id])).toMatchObject([{ status: "failed", error: INTERNAL }]);
      yield* elapse(15);
      expect(yield* runtime.wait([stuck.id])).toMatchObject([
        { status: "failed", error: { code: "IDLE_TIMEOUT" } },
      ]);
    }),
  );
});

describe("a launch that never answers", () => {
  it.effect("fails in time; what it makes after all is ended", () =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      const release = machine.memory.hold();
      const { runtime } = yield* machine.boot();
      const { id } = yield* runtime.spawn(spec({ restart: "temporary" }));
      yield* until("begun", () => machine.count(id, "worker_state_changed") === 1);
      yield* settled;
      yield* TestClock.adjust("30 seconds");
      expect(yield* runtime.wait([id])).toMatchObject([{ status: "failed", error: { code: "EXEC_FAILED" } }]);
      release();
      const late = yield* nth(machine.memory, 1);
      yield* until("ended", () => late.signals.includes("SIGKILL"));
    }),
  );

  it.effect("does not keep a kill waiting longer than that", () =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      machine.memory.hold();
      const { runtime } = yield* machine.boot();
      const { id } = yield* runtime.spawn(spec());
      yield* until("begun", () => machine.count(id, "worker_state_changed") === 1);
      yield* settled;
      const killing = yield* Effect.forkChild(runtime.kill({ ids: [id] }));
      yield* until("requested", () => machine.count(id, "worker_cancel_requested") === 1);
      yield* TestClock.adjust("30 seconds");
      yield* until("ended", () => machine.count(id, "worker_ended") === 1);
      expect(yield* Fiber.join(killing)).toMatchObject([{ ok: true }]);
      expect((yield* runtime.info(id)).status).toBe("cancelled");
    }),
  );
});
