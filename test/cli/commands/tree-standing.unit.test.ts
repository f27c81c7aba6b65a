import { describe, expect, it } from "vitest";
import { progressOf } from "../../../src/cli/commands/tree-standing.ts";
import type { TreeNode } from "../../../src/supervisor/facade.ts";

const worker = (name: string, state: string, rest: object = {}) => ({
  id: `id-${name}`,
  name,
  type: "worker",
  state,
  reason: `${state} here`,
  children: [],
  ...rest,
});
const supervisor = (name: string, phase: string, children: readonly object[], rest: object = {}) => ({
  id: name,
  name,
  type: "supervisor",
  phase,
  reason: `${phase} here`,
  children,
  ...rest,
});
const standing = (phase: string, children: readonly object[]) =>
  progressOf(supervisor("shop", phase, children) as unknown as TreeNode);

describe("a tree is up", () => {
  it.each<[string, readonly object[]]>([
    ["when all of it runs", [worker("a", "running"), supervisor("s", "running", [worker("b", "ready")])]],
    ["with a worker that has completed", [worker("a", "completed")]],
    ["with what was killed by hand", [worker("a", "cancelled", { tombstone: true })]],
    [
      "with a supervisor that was killed by hand",
      [supervisor("s", "terminated", [worker("b", "cancelled")], { tombstone: true })],
    ],
    [
      "whatever the children of a dynamic supervisor do",
      [supervisor("s", "running", [worker("b", "failed"), worker("c", "starting")], { strategy: "dynamic" })],
    ],
    [
      "whatever those do that its agents have spawned",
      [worker("a", "running", { children: [worker("b", "failed")] })],
    ],
    ["without children", []],
  ])("%s", (_what, children) => {
    expect(standing("running", children)).toEqual({ is: "up", state: "running" });
  });
});

describe("a tree is on its way", () => {
  it.each(["pending", "starting", "restarting", "backing_off", "stopping"])(
    "while it is %s, whatever has failed in it",
    (phase) => {
      expect(standing(phase, [worker("a", "failed")])).toEqual({ is: "on its way" });
    },
  );
  it.each(["pending", "starting", "backing_off", "stopping"])("while a worker is %s", (state) => {
    expect(standing("running", [worker("a", state)])).toEqual({ is: "on its way" });
  });
  it("while a supervisor below restarts", () => {
    expect(standing("running", [supervisor("s", "restarting", [])])).toEqual({ is: "on its way" });
  });
});

describe("a tree has failed", () => {
  it.each(["failed", "parked", "lost"])("with a worker that is %s", (state) => {
    expect(standing("running", [supervisor("s", "running", [worker("b", state)])])).toEqual({
      is: "failed",
      state: "running",
      path: "s/b",
      id: "id-b",
      isSupervisor: false,
      reason: `${state} here`,
    });
  });
  it("with a supervisor that has given up, told by the worker because of which it did", () => {
    const children = [worker("a", "running"), supervisor("s", "parked", [worker("b", "failed")])];
    expect(standing("running", children)).toMatchObject({ is: "failed", path: "s/b" });
  });
  it("with that supervisor, where no worker has failed", () => {
    expect(standing("running", [supervisor("s", "parked", [])])).toMatchObject({
      path: "s",
      isSupervisor: true,
      reason: "parked here",
    });
  });
  it.each(["parked", "terminated"])("when it is %s itself", (phase) => {
    expect(standing(phase, [])).toMatchObject({
      is: "failed",
      state: phase,
      path: "shop",
      isSupervisor: true,
    });
  });
  it("and is gone when nobody knows it", () => {
    expect(progressOf(undefined)).toEqual({ is: "gone", state: "terminated" });
  });
});
