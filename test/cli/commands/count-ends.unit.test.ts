import { expect, test } from "vitest";
import { livingBelow } from "../../../src/cli/commands/count-ends.ts";
import type { TreeNode, TreeWorker } from "../../../src/protocol/replies/trees.ts";

const node = (name: string, more: object, children: readonly TreeNode[] = []): TreeNode =>
  ({ id: `id-${name}`, name, type: "supervisor", children, ...more }) as TreeNode;
const worker = (name: string, state: TreeWorker["state"]): TreeNode => node(name, { type: "worker", state });

const ROOT = node("root", {}, [
  worker("alone", "running"),
  node("crew", {}, [
    worker("one", "backing_off"),
    worker("two", "completed"),
    node("inner", {}, [worker("three", "stopping"), worker("four", "parked")]),
  ]),
]);

test.each([
  ["all", undefined, ["id-alone", "id-one", "id-three"]],
  ["a tree", ["crew"], ["id-one", "id-three"]],
  ["a supervisor by its path", ["inner"], ["id-three"]],
  ["a worker by its id, and by its path", ["id-alone", "inner/three"], ["id-alone", "id-three"]],
  ["a worker that has ended", ["two"], []],
  ["a worker below its tree is counted once", ["crew", "one"], ["id-one", "id-three"]],
  ["a name that is below another supervisor", ["three"], []],
])("%s", (_, refs, ids) => {
  expect(livingBelow(ROOT, refs)).toEqual(ids);
});
