import { describe, expect, it, test } from "vitest";
import { countUp, progressOf } from "../../src/protocol/tree-standing.ts";
import type { TreeSupervisor } from "../../src/runtime/replies.ts";

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
  progressOf(supervisor("shop", phase, children) as unknown as TreeSupervisor);

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
    [
      "with a supervisor that is over, as a job is, with its significant child",
      [supervisor("job", "terminated", [worker("a", "completed"), worker("b", "cancelled")])],
    ],
  ])("%s", (_what, children) => {
    expect(standing("running", children)).toEqual({ is: "up", state: "running" });
  });
});

test("a member that runs or has ended is up, and one that was killed by hand does not count", () => {
  const children = [
    worker("a", "running"),
    worker("b", "backing_off"),
    worker("c", "cancelled", { tombstone: true }),
    supervisor("s", "running", [worker("d", "starting"), worker("e", "completed")]),
  ];
  expect(countUp(supervisor("shop", "running", children) as unknown as TreeSupervisor)).toEqual({
    up: 2,
    all: 4,
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
      workers: [{ path: "s/b", id: "id-b", reason: `${state} here` }],
      supervisor: null,
    });
  });
  it("with a supervisor that has given up, and all workers that failed with it", () => {
    const below = [worker("b", "failed"), worker("c", "cancelled"), worker("d", "failed")];
    const children = [worker("a", "running"), supervisor("s", "terminated", below)];
    expect(standing("running", children)).toMatchObject({
      is: "failed",
      workers: [{ path: "s/b" }, { path: "s/d" }],
      supervisor: { path: "s", reason: "terminated here" },
    });
  });
  it.each([
    ["parked", {}],
    ["terminated", { strategy: "dynamic" }],
  ])("with a supervisor that is %s and %j, where no worker has failed", (phase, rest) => {
    expect(standing("running", [supervisor("s", phase, [], rest)])).toMatchObject({
      is: "failed",
      workers: [],
      supervisor: { path: "s", reason: `${phase} here` },
    });
  });
  it.each(["parked", "terminated"])("when it is %s itself", (phase) => {
    expect(standing(phase, [worker("a", "failed")])).toMatchObject({
      is: "failed",
      state: phase,
      workers: [{ path: "a" }],
      supervisor: { path: "shop" },
    });
  });
  it("and not when it is over as a whole, as a job is", () => {
    expect(standing("terminated", [worker("a", "completed")])).toEqual({ is: "up", state: "terminated" });
  });
  it("and is killed when somebody killed it by name", () => {
    const top = supervisor("shop", "terminated", [worker("a", "cancelled")], { tombstone: true });
    expect(progressOf(top as unknown as TreeSupervisor)).toEqual({
      is: "killed",
      state: "terminated",
      path: "shop",
    });
  });
  it("and is gone when nobody knows it", () => {
    expect(progressOf(undefined)).toEqual({ is: "gone", state: "terminated" });
  });
});
