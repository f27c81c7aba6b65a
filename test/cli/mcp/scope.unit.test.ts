import { describe, expect, it } from "vitest";
import { ServerScope } from "../../../src/cli/mcp/scope.ts";
import type { TreeNode, WorkerView } from "../../../src/runtime/api.ts";

const worker = (id: string, name: string, ended_at: string | null = null) =>
  ({ id, name, ended_at }) as WorkerView;
const node = (id: string, ...children: TreeNode[]) =>
  ({ id, name: id, type: "worker", children }) as unknown as TreeNode;

const scoped = (...below: WorkerView[]) => {
  const asked: string[] = [];
  const scope = new ServerScope("ME", async (id) => {
    asked.push(id);
    return below;
  });
  return { scope, asked };
};

describe("in a run", () => {
  it("its worker and those below are known by id in any case, and asked about once", async () => {
    const { scope, asked } = scoped(worker("A1", "fixer"));
    expect([await scope.refOf("me"), await scope.refOf("a1"), await scope.refOf("A1")]).toEqual([
      "ME",
      "A1",
      "A1",
    ]);
    expect(asked).toEqual(["ME"]);
  });

  it("a name is that of the living worker, else of the newest that had it", async () => {
    const { scope } = scoped(
      worker("A1", "fixer", "2026-11-01"),
      worker("A2", "fixer"),
      worker("A3", "old", "2026-11-01"),
      worker("A4", "old", "2026-11-02"),
    );
    expect(await scope.refsOf(["fixer", "old"])).toEqual(["A2", "A4"]);
  });

  it("anything else is unknown, and so is a prefix of an id", async () => {
    const { scope } = scoped(worker("A1234567", "fixer"));
    for (const ref of ["B1", "A12345", "root", 3])
      await expect(scope.refOf(ref)).rejects.toMatchObject({ code: "WORKER_NOT_FOUND" });
  });

  it("its branch of the tree is all that is seen, and its keys are its own", () => {
    const { scope } = scoped();
    const mine = node("ME", node("A1"));
    expect(scope.branchOf(node("root", node("B1"), node("C1", mine)))).toBe(mine);
    expect(scope.branchOf(node("root", node("B1")))).toMatchObject({ id: "root", children: [] });
    expect(scope.keyOf("k")).toBe("ME:k");
  });
});

it("a person may name everything", async () => {
  const scope = new ServerScope(undefined, () => Promise.reject(new Error("nobody is asked")));
  const root = node("root", node("B1"));
  expect([await scope.refOf("b1"), await scope.ids(), scope.keyOf("k"), scope.branchOf(root)]).toEqual([
    "b1",
    undefined,
    "k",
    root,
  ]);
});
