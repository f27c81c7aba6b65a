/** Workers of other runtimes than the built-in one. */
import { it } from "@effect/vitest";
import { Effect } from "effect";
import { TestClock } from "effect/testing";
import { describe, expect } from "vitest";
import type { RuntimeAbility, RuntimeSpawner } from "../../src/adapters/spawner.ts";
import { ORPHAN_CONFIRM_MS, RECONCILE_PERIOD_MS } from "../../src/base/limits.ts";
import { makeMemorySpawner } from "../../src/library/memory-spawner.ts";
import { memoryMachine, settled, spec, until } from "./memory-runtime.ts";

const makeFar = Effect.gen(function* () {
  const machine = yield* memoryMachine;
  const far = makeMemorySpawner();
  const runtimes = new Map([["far", far.spawner]]);
  const { runtime, crash } = yield* machine.boot({ runtimes });
  return { machine, far, runtimes, runtime, crash };
});

const withAbilities = (spawner: RuntimeSpawner, abilities: readonly RuntimeAbility[]): RuntimeSpawner => ({
  ...spawner,
  abilities: new Set(abilities),
});

describe("a worker of another runtime", () => {
  it.effect("runs there, and its records, its row and the tree say so", () =>
    Effect.gen(function* () {
      const { machine, far, runtime } = yield* makeFar;
      const { id } = yield* runtime.spawn(spec({ runtime: "far" }));
      expect((yield* runtime.info(id)).backend_kind).toBeNull();
      yield* until("it runs", () => far.runs.length === 1);
      yield* settled;
      expect(machine.memory.runs).toEqual([]);
      const [spawned] = machine.log.stream(id, ["worker_spawned"]);
      expect(spawned?.payload).toMatchObject({ backend_kind: "memory", runtime: "far", ref: "memory-1" });
      expect(spawned?.payload).not.toHaveProperty("pid");
      expect(yield* runtime.info(id)).toMatchObject({ backend_kind: "memory", pid: null, state: "running" });
      expect((yield* runtime.tree()).children).toMatchObject([{ id, backend_kind: "memory", pid: null }]);
      expect((yield* runtime.status()).runtimes).toEqual([
        { name: "process", backend_kind: "subprocess", trouble: null },
        { name: "far", backend_kind: "memory", trouble: null },
      ]);
      far.runs[0]!.print("stdout", "hello\n");
      yield* until("its line", () => machine.printed(id).length === 1);
      expect(yield* runtime.kill({ ids: [id] })).toMatchObject([{ ok: true, status: "cancelled" }]);
      const [sent] = machine.log.stream(id, ["worker_signal_sent"]);
      expect(sent?.payload).toMatchObject({ signal: "SIGTERM", pids: [] });
      expect(machine.log.stream(id, ["worker_exited"])[0]?.payload).not.toHaveProperty("sweep");
    }),
  );

  it.effect("is found there by the next daemon, and its output goes on where it was", () =>
    Effect.gen(function* () {
      const { machine, far, runtimes, runtime, crash } = yield* makeFar;
      const { id } = yield* runtime.spawn(spec({ runtime: "far", restart: "temporary" }));
      yield* until("it runs", () => far.runs.length === 1);
      far.runs[0]!.print("stdout", "before\n");
      yield* until("its line", () => machine.printed(id).length === 1);
      yield* crash;
      far.runs[0]!.print("stdout", "meanwhile\n");
      const next = yield* machine.boot({ runtimes });
      yield* until("the other line", () => machine.printed(id).length === 2);
      far.runs[0]!.exit(0);
      expect(yield* next.runtime.wait([id])).toMatchObject([{ status: "completed" }]);
      expect(machine.printed(id)).toEqual(["before\n", "meanwhile\n"]);
      expect(far.runs.length).toBe(1);
    }),
  );

  it.effect("stays as it is while its runtime is missing, and is taken over once it is back", () =>
    Effect.gen(function* () {
      const { machine, far, runtime, crash } = yield* makeFar;
      const { id } = yield* runtime.spawn(spec({ runtime: "far" }));
      yield* until("it runs", () => far.runs.length === 1);
      yield* settled;
      yield* crash;
      const runtimes = new Map<string, RuntimeSpawner>();
      yield* Effect.forkChild(TestClock.adjust("10 seconds"));
      const next = yield* machine.boot({ runtimes });
      expect(machine.reports.join()).toContain('There is no runtime "far".');
      expect(machine.count(id, "worker_exited")).toBe(0);
      runtimes.set("far", far.spawner);
      yield* TestClock.adjust(RECONCILE_PERIOD_MS);
      yield* until("it is taken over", () => machine.count(id, "worker_adopted") === 1);
      expect((yield* next.runtime.info(id)).state).toBe("running");
    }),
  );
});

it.effect("a run of another runtime that no record knows is ended there", () =>
  Effect.gen(function* () {
    const { machine, far } = yield* makeFar;
    const stray = { worker_id: "01STRAY", incarnation: 1, argv: ["agent"], cwd: "/", env: {} };
    yield* Effect.promise(() => far.spawner.launch({ ...stray, stdin: { kind: "empty" } }));
    yield* Effect.forkChild(Effect.forever(TestClock.adjust(ORPHAN_CONFIRM_MS)));
    yield* until(
      "it is ended",
      () => far.runs[0]!.process === "running" && machine.log.daemonStream(["run_orphaned"]).length === 1,
    );
    expect((yield* Effect.promise(() => far.spawner.living())).length).toBe(0);
  }),
);

describe("a request is refused", () => {
  it.effect("for a runtime that is not there, by the names of those that are", () =>
    Effect.gen(function* () {
      const { runtime } = yield* makeFar;
      expect(yield* Effect.flip(runtime.spawn(spec({ runtime: "fra" })))).toMatchObject({
        code: "RUNTIME_NOT_FOUND",
        suggestion: expect.stringContaining("process, far"),
      });
      expect(yield* runtime.list({ all: true })).toEqual([]);
    }),
  );

  it.effect.each([
    ["input", { interactive: true }],
    ["limits", { limits: { pids: 10 } }],
    ["sandbox", { sandbox: {} }],
    ["lifeline", { on_supervisor_death: "die" }],
  ] as const)("for what its runtime cannot do: %s", ([ability, over]) =>
    Effect.gen(function* () {
      const { machine, far } = yield* makeFar;
      const others = [...far.spawner.abilities].filter((one) => one !== ability);
      const runtimes = new Map([["far", withAbilities(far.spawner, others)]]);
      const { runtime } = yield* machine.boot({ runtimes });
      const error = yield* Effect.flip(runtime.spawn(spec({ runtime: "far", ...over })));
      expect(error).toMatchObject({ code: "INVALID_REQUEST" });
      expect(error.message).toContain("runtime: far cannot");
      yield* runtime.spawn(spec({ runtime: "far" }));
    }),
  );

  it.effect("to pause a run of a runtime that cannot pause", () =>
    Effect.gen(function* () {
      const { machine, far } = yield* makeFar;
      const runtimes = new Map([["far", withAbilities(far.spawner, [])]]);
      const { runtime } = yield* machine.boot({ runtimes });
      const { id } = yield* runtime.spawn(spec({ runtime: "far" }));
      yield* until("it runs", () => far.runs.length === 1);
      yield* settled;
      expect(yield* runtime.pause([id])).toMatchObject([
        { ok: false, error: { message: `The runtime far of worker ${id} cannot pause a run.` } },
      ]);
      expect(far.runs[0]!.signals).toEqual([]);
    }),
  );
});
