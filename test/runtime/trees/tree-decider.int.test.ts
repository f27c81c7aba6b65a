/** A tree on the real log, with processes that live in memory. */
import { describe, expect, it } from "@effect/vitest";
import { Effect, Fiber } from "effect";
import { TestClock } from "effect/testing";
import type { MemoryRun, MemorySpawner } from "../../../src/library/memory-spawner.ts";
import { HoldfastError } from "../../../src/protocol/errors.ts";
import {
  SupervisorConfig,
  type SupervisorNode,
  type TreeSpec,
  WorkerNode,
} from "../../../src/protocol/tree.ts";
import type { RuntimeApi } from "../../../src/runtime/api.ts";
import type { TreeNode } from "../../../src/runtime/replies.ts";
import type { Store } from "../../../src/store/upkeep.ts";
import { elapse, memoryMachine, settled, spec, until } from "../memory-runtime.ts";

const leaf = (name: string, over: object = {}): WorkerNode =>
  WorkerNode.parse({ type: "worker", name, spec: spec(over) });
const group = (
  name: string,
  config: object,
  ...children: (WorkerNode | SupervisorNode)[]
): SupervisorNode => ({
  type: "supervisor",
  name,
  config: SupervisorConfig.parse({ backoff_min_ms: 0, backoff_max_ms: 0, ...config }),
  depends_on: [],
  children,
});
const tree = (root: SupervisorNode): TreeSpec => ({ name: root.name, file: "/shop.yaml", root });

const shapeOf = (node: TreeNode): string[] => [
  node.type === "worker" ? `${node.name} ${node.state}` : `${node.id} ${node.phase ?? ""}`.trim(),
  ...node.children.flatMap(shapeOf),
];

const shop = (over: object = {}) =>
  tree(
    group("shop", { strategy: "rest_for_one" }, leaf("store"), group("crew", {}, leaf("a", over), leaf("b"))),
  );

const shopUp = (runtime: RuntimeApi, { runs }: MemorySpawner) =>
  Effect.andThen(
    runtime.applyTree(shop()),
    until("three launches", () => runs.length === 3),
  );

describe("a tree", () => {
  it.effect("comes up from left to right and is shown as it stands", () =>
    Effect.gen(function* () {
      const { memory, boot } = yield* memoryMachine;
      const { runtime } = yield* boot();
      const { changes } = yield* runtime.applyTree(shop());
      expect(changes.map(({ path, action }) => `${action} ${path}`)).toEqual([
        "create shop",
        "create store",
        "create crew",
        "create crew/a",
        "create crew/b",
      ]);
      yield* until("three launches", () => memory.runs.length === 3);
      yield* settled;
      const root = yield* runtime.tree();
      expect(shapeOf(root)).toEqual([
        "root",
        "shop running",
        "store running",
        "crew running",
        "a running",
        "b running",
      ]);
      const fibersIn = ({ fiber, children }: TreeNode): readonly (number | undefined)[] => [
        fiber,
        ...children.flatMap(fibersIn),
      ];
      const fibers = fibersIn(root);
      expect(fibers).not.toContain(undefined);
      expect(new Set(fibers).size).toBe(6);
    }),
  );

  it.effect("begins what nothing orders side by side, in the order of its file, and stops it likewise", () =>
    Effect.gen(function* () {
      const { memory, boot, log } = yield* memoryMachine;
      const { runtime } = yield* boot();
      const release = memory.hold();
      const names = Array.from({ length: 20 }, (_, n) => `w${n}`);
      yield* runtime.applyTree(tree(group("many", {}, ...names.map((name) => leaf(name)))));
      const ids = (yield* runtime.list({ all: true })).map(({ id }) => id);
      const told = (type: "worker_state_changed" | "worker_cancel_requested", to?: string) =>
        ids
          .flatMap((id) => log.stream(id, [type]))
          .filter(({ payload }) => to === undefined || ("to" in payload && payload.to === to))
          .sort((one, other) => one.seq - other.seq)
          .map(({ worker_id }) => worker_id);
      yield* until("all begin", () => told("worker_state_changed", "starting").length === 20);
      expect(memory.runs).toEqual([]);
      const inOrder = yield* Effect.forEach(names, (name) => runtime.info(name));
      expect(told("worker_state_changed", "starting")).toEqual(inOrder.map(({ id }) => id));
      release();
      yield* until("all run", () => memory.runs.length === 20);
      yield* settled;
      expect((yield* runtime.tree()).children[0]).toMatchObject({ id: "many", phase: "running" });
      memory.onSignal = (run, signal) => {
        if (signal === "SIGKILL") run.exit(signal);
      };
      const down = yield* Effect.forkChild(runtime.downTree("many"));
      yield* until("all are told", () => memory.runs.every(({ signals }) => signals.length === 1));
      expect(told("worker_cancel_requested")).toEqual(inOrder.map(({ id }) => id).reverse());
      yield* elapse(15);
      yield* Fiber.join(down);
    }),
  );

  it.effect("is stopped beside the other trees when the daemon stops with its agents", () =>
    Effect.gen(function* () {
      const { memory, boot } = yield* memoryMachine;
      const { runtime } = yield* boot();
      for (const name of ["one", "two", "three"])
        yield* runtime.applyTree({ ...tree(group(name, {}, leaf(`${name}-w`))), file: `/${name}.yaml` });
      yield* until("three launches", () => memory.runs.length === 3);
      yield* settled;
      memory.onSignal = (run, signal) => {
        if (signal === "SIGKILL") run.exit(signal);
      };
      const stopping = yield* Effect.forkChild(runtime.shutdown("kill", "stopped"));
      yield* until("all are told", () => memory.runs.every(({ signals }) => signals.length === 1));
      yield* elapse(15);
      yield* Fiber.join(stopping);
    }),
  );

  it.effect("restarts by strategy: rest_for_one takes what was started after it", () =>
    Effect.gen(function* () {
      const { memory, boot } = yield* memoryMachine;
      const { runtime } = yield* boot();
      yield* shopUp(runtime, memory);
      memory.runs[0]?.exit(1);
      yield* until("three more", () => memory.runs.length === 6);
      yield* settled;
      expect(memory.runs[1]?.signals).toEqual(["SIGTERM"]);
      expect(memory.runs[2]?.signals).toEqual(["SIGTERM"]);
      expect((yield* runtime.info("crew/a")).incarnation).toBe(2);
    }),
  );

  it.effect("applies only what changed", () =>
    Effect.gen(function* () {
      const { memory, boot } = yield* memoryMachine;
      const { runtime } = yield* boot();
      yield* shopUp(runtime, memory);
      yield* settled;
      const again = yield* runtime.applyTree(shop());
      expect(again.changes.every(({ action }) => action === "unchanged")).toBe(true);
      const { changes } = yield* runtime.applyTree(shop({ argv: ["agent", "--other"] }));
      expect(changes.filter(({ action }) => action !== "unchanged")).toMatchObject([
        { path: "crew/a", action: "restart", fields: ["argv"] },
      ]);
      yield* until("one more", () => memory.runs.length === 4);
      yield* settled;
      expect(memory.runs[3]?.request.argv).toEqual(["agent", "--other"]);
      expect(memory.runs.length).toBe(4);
      expect((yield* runtime.info("crew/b")).incarnation).toBe(1);
    }),
  );

  it.effect("goes on under the next daemon, with its windows", () =>
    Effect.gen(function* () {
      const { memory, boot } = yield* memoryMachine;
      const first = yield* boot();
      yield* first.runtime.applyTree(shop());
      yield* until("three launches", () => memory.runs.length === 3);
      memory.runs[1]?.exit(1);
      yield* until("a restart", () => memory.runs.length === 4);
      yield* settled;
      yield* first.crash;
      const { runtime } = yield* boot();
      yield* settled;
      const crew = (yield* runtime.tree()).children[0]?.children[1];
      expect(crew).toMatchObject({ id: "crew", phase: "running", window: { used: 1, max: 3 } });
      memory.runs[2]?.exit(1);
      yield* until("a restart by the next daemon", () => memory.runs.length === 5);
    }),
  );

  it.effect("a worker whose process cannot be looked at in the boot is taken over on the period", () =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      const first = yield* machine.boot();
      yield* first.runtime.applyTree(shop());
      yield* until("three launches", () => machine.memory.runs.length === 3);
      yield* settled;
      yield* first.crash;
      const { spawner } = machine.services;
      const odd = machine.memory.runs[1]?.request.worker_id;
      let mended = false;
      const observe: typeof spawner.observe = async (run) => {
        if (run.worker_id === odd && !mended) throw new HoldfastError("INTERNAL", "no such table");
        return spawner.observe(run);
      };
      const booting = yield* Effect.forkChild(machine.boot({ spawner: { ...spawner, observe } }));
      for (let tries = 0; tries < 4; tries += 1) {
        yield* settled;
        yield* TestClock.adjust("1 second");
      }
      yield* Fiber.join(booting);
      machine.memory.runs[1]?.exit(1);
      yield* settled;
      expect(machine.memory.runs.length).toBe(3);
      mended = true;
      yield* TestClock.adjust("5 seconds");
      yield* until("its end is seen, and it is restarted", () => machine.memory.runs.length === 4);
    }),
  );

  it.effect("gives up beyond its window, up to the root, and nothing is left running", () =>
    Effect.gen(function* () {
      const { memory, boot } = yield* memoryMachine;
      const { runtime } = yield* boot();
      yield* runtime.applyTree(
        tree(
          group("shop", { max_restarts: 0 }, leaf("store"), group("crew", { max_restarts: 1 }, leaf("a"))),
        ),
      );
      yield* until("two launches", () => memory.runs.length === 2);
      memory.runs[1]?.exit(1);
      yield* until("a restart", () => memory.runs.length === 3);
      memory.runs[2]?.exit(1);
      yield* until("the store is stopped", () => memory.runs[0]?.signals.length === 1);
      yield* settled;
      expect(shapeOf(yield* runtime.tree())).toEqual([
        "root",
        "shop terminated",
        "store failed",
        "crew terminated",
        "a failed",
      ]);
      expect((yield* runtime.wait(["crew/a"]))[0]?.status).toBe("failed");
    }),
  );

  it.effect(
    "a dynamic supervisor takes workers that are spawned under it, counts their restarts, and forgets them",
    () =>
      Effect.gen(function* () {
        const { memory, boot } = yield* memoryMachine;
        const first = yield* boot();
        const { runtime } = first;
        yield* runtime.applyTree(
          tree(group("shop", {}, leaf("store"), group("crew", { strategy: "dynamic", max_restarts: 2 }))),
        );
        yield* until("a launch", () => memory.runs.length === 1);
        yield* settled;
        const { id } = yield* runtime.spawn(spec({ supervisor: "crew", name: "temp" }));
        yield* until("its launch", () => memory.runs.length === 2);
        memory.runs[1]?.exit(1);
        yield* until("its restart", () => memory.runs.length === 3);
        yield* settled;
        const crew = () => Effect.map(runtime.tree(), (root) => root.children[0]?.children[1]);
        expect(yield* crew()).toMatchObject({
          window: { used: 1, max: 2 },
          children: [{ id, name: "temp", state: "running" }],
        });
        expect((yield* runtime.why("crew")).names).toEqual({ [id]: "temp" });
        expect(Object.values((yield* runtime.why("shop")).names)).toEqual(["store"]);
        expect((yield* runtime.why("temp")).names).toEqual({ [id]: "temp" });

        const refused = (supervisor: string) => Effect.flip(runtime.spawn(spec({ supervisor })));
        expect(yield* refused("shop")).toMatchObject({ code: "INVALID_STATE" });
        expect(yield* refused("nowhere")).toMatchObject({ code: "WORKER_NOT_FOUND" });
        expect(memory.runs.length).toBe(3);

        yield* first.crash;
        const next = yield* boot();
        yield* settled;
        expect((yield* next.runtime.tree()).children[0]?.children[1]).toMatchObject({ children: [{ id }] });
        yield* next.runtime.kill({ ids: ["temp"] });
        expect((yield* next.runtime.tree()).children[0]?.children[1]?.children).toEqual([]);
        yield* next.runtime.spawn(spec({ supervisor: "crew" }));
        yield* until("another", () => memory.runs.length === 4);
        yield* next.runtime.kill({ ids: ["crew"] });
        const killed = Effect.flip(next.runtime.spawn(spec({ supervisor: "crew" })));
        expect(yield* killed).toMatchObject({ code: "INVALID_STATE" });
      }),
  );

  it.effect(
    "says what to do where a name is a path's end, and where the supervisor of a worker is down",
    () =>
      Effect.gen(function* () {
        const { memory, boot } = yield* memoryMachine;
        const { runtime } = yield* boot();
        yield* runtime.applyTree(shop());
        yield* until("three launches", () => memory.runs.length === 3);
        yield* settled;
        expect(yield* Effect.flip(runtime.info("a"))).toMatchObject({
          code: "WORKER_NOT_FOUND",
          suggestion: "A worker of a file is named by its path: crew/a.",
        });
        yield* runtime.kill({ ids: ["crew"] });
        const [refused] = yield* runtime.restart(["crew/a"]);
        expect(refused?.error).toMatchObject({
          code: "INVALID_STATE",
          suggestion: expect.stringContaining("agent restart crew"),
        });
      }),
  );

  it.effect("taken down stops right to left and is forgotten", () =>
    Effect.gen(function* () {
      const { memory, boot } = yield* memoryMachine;
      const { runtime } = yield* boot();
      yield* shopUp(runtime, memory);
      const order: string[] = [];
      memory.onSignal = (run, signal) => {
        order.push(run.request.worker_id);
        run.exit(signal);
      };
      yield* settled;
      yield* runtime.downTree("shop");
      expect(order).toEqual([2, 1, 0].map((at) => memory.runs[at]?.request.worker_id));
      expect((yield* runtime.tree()).children).toEqual([]);
      expect((yield* runtime.wait(["store"]))[0]?.status).toBe("cancelled");
    }),
  );

  it.effect("that is being taken down is not started again by name meanwhile", () =>
    Effect.gen(function* () {
      const { memory, boot } = yield* memoryMachine;
      const { runtime } = yield* boot();
      yield* shopUp(runtime, memory);
      yield* settled;
      // They take their time.
      memory.onSignal = () => undefined;
      const down = yield* Effect.forkChild(runtime.downTree("shop"));
      yield* until("the last is told", () => memory.runs[2]?.signals.length === 1);
      const [answer] = yield* runtime.restart(["shop"]);
      expect(answer).toMatchObject({ ok: false, error: { code: "INVALID_STATE" } });
      for (const run of [...memory.runs].reverse()) {
        yield* until("it is told", () => run.signals.length > 0);
        run.exit(0);
      }
      expect(yield* Fiber.join(down)).toMatchObject({ state: "terminated" });
    }),
  );

  it.effect("keeps a killed subtree dead until somebody starts it by name", () =>
    Effect.gen(function* () {
      const { memory, boot } = yield* memoryMachine;
      const { runtime } = yield* boot();
      yield* shopUp(runtime, memory);
      yield* settled;
      yield* runtime.kill({ ids: ["crew"] });
      memory.runs[0]?.exit(1);
      yield* until("the store again", () => memory.runs.length === 4);
      yield* TestClock.adjust(60_000);
      yield* settled;
      expect(memory.runs.length).toBe(4);
      const { changes } = yield* runtime.applyTree(shop());
      expect(changes.find(({ path }) => path === "crew")?.action).toBe("kept_dead");
      yield* runtime.restart(["crew"]);
      yield* until("the crew again", () => memory.runs.length === 6);
    }),
  );

  it.effect("a worker that is not ready holds back the next one", () =>
    Effect.gen(function* () {
      const { memory, boot } = yield* memoryMachine;
      const { runtime } = yield* boot();
      yield* runtime.applyTree(
        tree(group("shop", {}, leaf("store", { ready: { log: "listening" } }), leaf("web"))),
      );
      yield* until("a launch", () => memory.runs.length === 1);
      yield* settled;
      expect(memory.runs.length).toBe(1);
      memory.runs[0]?.print("stdout", "now listening\n");
      yield* until("the next", () => memory.runs.length === 2);
    }),
  );

  it.effect("a worker that is paused before it is ready has the rest of its time afterwards", () =>
    Effect.gen(function* () {
      const { memory, boot } = yield* memoryMachine;
      const { runtime } = yield* boot();
      const ready = { log: "listening", within_ms: 30_000 };
      yield* runtime.applyTree(tree(group("shop", {}, leaf("store", { ready }), leaf("web"))));
      yield* until("a launch", () => memory.runs.length === 1);
      yield* settled;
      yield* elapse(20);
      expect(yield* runtime.pause(["shop"])).toMatchObject([{ ok: true, effect: "updated" }]);
      yield* settled;
      expect(memory.runs[0]?.signals).toEqual(["SIGSTOP"]);
      yield* elapse(60);
      expect(yield* runtime.unpause(["shop"])).toMatchObject([{ ok: true, effect: "updated" }]);
      yield* elapse(8);
      memory.runs[0]?.print("stdout", "now listening\n");
      yield* until("the next", () => memory.runs.length === 2);
      expect(memory.runs[0]?.signals).toEqual(["SIGSTOP", "SIGCONT"]);
    }),
  );
});

describe("a supervisor whose workers are paused", () => {
  it.effect("says so when it is asked why, and what to do, until they go on", () =>
    Effect.gen(function* () {
      const { memory, boot } = yield* memoryMachine;
      const { runtime } = yield* boot();
      yield* shopUp(runtime, memory);
      yield* settled;
      yield* runtime.pause(["crew"], { reason: "too hot" });
      const paused = {
        state: "running",
        reason: "2 of the 2 that run below it are paused: too hot",
        suggestion: "continue: agent unpause crew",
      };
      expect(yield* runtime.why("crew")).toMatchObject(paused);
      expect((yield* runtime.why("crew")).records.slice(-2)).toMatchObject(
        Array(2).fill({ type: "worker_paused" }),
      );
      expect((yield* runtime.why("shop")).reason).toBe("2 of the 3 that run below it are paused: too hot");
      expect((yield* runtime.why("crew/a")).suggestion).toBe("continue: agent unpause crew/a");
      yield* runtime.unpause(["crew"]);
      expect(yield* runtime.why("crew")).toMatchObject({
        reason: "every child has been started",
        suggestion: null,
      });
    }),
  );
});

describe("a kill of a supervisor that says how", () => {
  const shutdowns = (log: Store, id: string) =>
    log
      .stream(id, ["worker_cancel_requested"])
      .flatMap(({ type, payload }) =>
        type === "worker_cancel_requested" ? [`${payload.signal} ${payload.grace_ms}`] : [],
      );

  it.effect("has its signal and its grace at every worker below, in the order of a shutdown", () =>
    Effect.gen(function* () {
      const { memory, boot, log } = yield* memoryMachine;
      const { runtime } = yield* boot();
      yield* shopUp(runtime, memory);
      yield* settled;
      const [store, a, b] = memory.runs as [MemoryRun, MemoryRun, MemoryRun];
      memory.onSignal = (run, signal) => {
        if (run !== b || signal === "SIGKILL") run.exit(signal);
      };
      const killing = yield* Effect.forkChild(
        runtime.kill({ ids: ["shop"], grace_ms: 3_000, signal: "SIGINT" }),
      );
      yield* settled;
      expect([store, a, b].map(({ signals }) => signals)).toEqual([[], ["SIGINT"], ["SIGINT"]]);
      yield* elapse(2);
      expect(b.signals).toEqual(["SIGINT"]);
      yield* elapse(2);
      yield* Fiber.join(killing);
      expect([store, a, b].map(({ signals }) => signals)).toEqual([
        ["SIGINT"],
        ["SIGINT"],
        ["SIGINT", "SIGKILL"],
      ]);
      const ids = (yield* runtime.list({ all: true })).map(({ id }) => id);
      expect(ids.flatMap((id) => shutdowns(log, id))).toEqual(Array(3).fill("SIGINT 3000"));
    }),
  );

  it.effect("is carried on by the next daemon as it was asked for; without it each has its own", () =>
    Effect.gen(function* () {
      const { memory, boot, log } = yield* memoryMachine;
      const { runtime, crash } = yield* boot();
      yield* shopUp(runtime, memory);
      yield* settled;
      const b = memory.runs[2] as MemoryRun;
      memory.onSignal = (run, signal) => {
        if (run !== b) run.exit(signal);
      };
      yield* Effect.forkChild(runtime.kill({ ids: ["shop"], grace_ms: 600_000, signal: "SIGINT" }));
      yield* settled;
      yield* crash;
      const { runtime: next } = yield* boot();
      yield* elapse(60);
      expect(new Set(b.signals)).toEqual(new Set(["SIGINT"]));
      b.exit(0);
      yield* elapse(1);
      expect(shapeOf(yield* next.tree())).toContain("shop terminated");
      expect(memory.runs[0]?.signals).toEqual(["SIGINT"]);
      yield* next.restart(["shop"]);
      yield* until("three more", () => memory.runs.length === 6);
      yield* settled;
      yield* next.kill({ ids: ["shop"] });
      const [id = ""] = (yield* next.list({ all: true })).map(({ id: one }) => one);
      expect(shutdowns(log, id)).toEqual(["SIGINT 600000", "SIGTERM 10000"]);
    }),
  );
});

describe("a tree that is taken down", () => {
  const stubborn = { grace_ms: 600_000 };
  const goingDown = Effect.gen(function* () {
    const { memory, boot } = yield* memoryMachine;
    const { runtime } = yield* boot();
    yield* runtime.applyTree(tree(group("shop", {}, leaf("store"), leaf("a", stubborn))));
    yield* until("two launches", () => memory.runs.length === 2);
    const [, last] = memory.runs;
    memory.onSignal = (run, signal) => {
      if (run !== last || signal === "SIGKILL") run.exit(signal);
    };
    const down = yield* Effect.forkChild(Effect.exit(runtime.downTree("shop")));
    yield* until("the first stop", () => last?.signals.includes("SIGTERM") === true);
    return { runtime, down };
  });

  it.effect("ends, and its down returns, where it is killed meanwhile", () =>
    Effect.gen(function* () {
      const { runtime, down } = yield* goingDown;
      const killed = yield* runtime.kill({ ids: [], all: true });
      expect(killed).toMatchObject([{ id: "shop", effect: "deleted" }]);
      expect(yield* Fiber.join(down)).toMatchObject({ value: { state: "terminated" } });
      expect((yield* runtime.tree()).children).toEqual([]);
    }),
  );

  it.effect("is not started again by name, and neither is what stands below it", () =>
    Effect.gen(function* () {
      const { runtime, down } = yield* goingDown;
      const refused = yield* runtime.restart(["shop", "store"]);
      expect(refused).toMatchObject([
        { ok: false, error: { code: "INVALID_STATE", message: "The tree shop is being taken down." } },
        { ok: false, error: { code: "INVALID_STATE", message: "The tree shop is being taken down." } },
      ]);
      yield* runtime.kill({ ids: ["shop"] });
      yield* Fiber.join(down);
    }),
  );

  it.effect("answers who waits for it where the runtime ends before it", () =>
    Effect.gen(function* () {
      const { runtime, down } = yield* goingDown;
      yield* runtime.shutdown("keep", "test");
      const exit = yield* Fiber.join(down);
      expect(JSON.stringify(exit)).toContain("UNAVAILABLE");
    }),
  );
});
