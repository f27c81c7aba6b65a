/** A tree on the real log, with processes that live in memory. */
import { describe, expect, it } from "@effect/vitest";
import { Effect } from "effect";
import { TestClock } from "effect/testing";
import {
  SupervisorConfig,
  type SupervisorNode,
  type TreeSpec,
  WorkerNode,
} from "../../../src/protocol/tree.ts";
import type { TreeNode } from "../../../src/supervisor/replies.ts";
import { memoryMachine, settled, spec, until } from "../memory-runtime.ts";

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
  `${node.id === "root" ? "root" : node.type === "worker" ? node.name : node.id} ${node.phase ?? node.state ?? ""}`.trim(),
  ...node.children.flatMap(shapeOf),
];

const shop = (over: object = {}) =>
  tree(
    group("shop", { strategy: "rest_for_one" }, leaf("store"), group("crew", {}, leaf("a", over), leaf("b"))),
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
      expect(shapeOf(yield* runtime.tree())).toEqual([
        "root",
        "shop running",
        "store running",
        "crew running",
        "a running",
        "b running",
      ]);
    }),
  );

  it.effect("restarts by strategy: rest_for_one takes what was started after it", () =>
    Effect.gen(function* () {
      const { memory, boot } = yield* memoryMachine;
      const { runtime } = yield* boot();
      yield* runtime.applyTree(shop());
      yield* until("three launches", () => memory.runs.length === 3);
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
      yield* runtime.applyTree(shop());
      yield* until("three launches", () => memory.runs.length === 3);
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

  it.effect("taken down stops right to left and is forgotten", () =>
    Effect.gen(function* () {
      const { memory, boot } = yield* memoryMachine;
      const { runtime } = yield* boot();
      yield* runtime.applyTree(shop());
      yield* until("three launches", () => memory.runs.length === 3);
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

  it.effect("keeps a killed subtree dead until somebody starts it by name", () =>
    Effect.gen(function* () {
      const { memory, boot } = yield* memoryMachine;
      const { runtime } = yield* boot();
      yield* runtime.applyTree(shop());
      yield* until("three launches", () => memory.runs.length === 3);
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
});
