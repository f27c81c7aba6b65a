/** supervisor_SUITE, groups sup_start, sup_start_map and the checks of specs. A title begins with the name of its case. */
import { describe, expect, it } from "vitest";
import { SupervisorConfig, SupervisorNode, TreeSpec, WorkerNode } from "../../../src/protocol/tree.ts";
import { WorkerSpec } from "../../../src/protocol/worker.ts";
import { supervisor, World, worker } from "../tree/world.ts";

const spec = { kind: "command", argv: ["true"], cwd: "/", restart: "permanent" };
const node = { type: "supervisor", name: "top", config: {}, children: [] };

describe("sup_start", () => {
  it("sup_start_normal: a supervisor without children runs, and goes down when it is told to", () => {
    const world = new World(supervisor("top", {})).apply();
    expect(world.phase("top")).toBe("running");
    expect(world.ask("down", "top").phase("top")).toBe("terminated");
  });
  it("sup_start_error_return: a description that is no supervisor is refused before anything starts", () => {
    const given = {
      name: "top",
      file: "/tree.yaml",
      root: { ...node, config: { strategy: "one_for_some" } },
    };
    expect(TreeSpec.safeParse(given).success).toBe(false);
    expect(TreeSpec.safeParse({ ...given, root: node }).success).toBe(true);
  });
  it("sup_start_child_returns_error: a child that cannot start fails the first start, and what was started is stopped", () => {
    const world = new World(supervisor("top", {}, worker("a"), worker("b"), worker("c")));
    world.tempers.b = { unstartable: true };
    world.apply();
    expect(world.history).toEqual(["+a", "-a"]);
    expect(world.types()).not.toContain("supervisor_restart_scheduled");
    expect([world.phase("top"), world.state("a"), world.state("c")]).toEqual([
      "terminated",
      "failed",
      "failed",
    ]);
  });
  it("sup_start_restart_child_returns_error: a child started by name that cannot start is tried again within the window", () => {
    const world = new World(supervisor("top", { max_restarts: 2 }, worker("a"), worker("b"))).apply();
    world.kill("b");
    world.tempers.b = { unstartable: true };
    world.worker("b", { type: "restart", by: "user", grace_ms: 0 });
    expect(world.tree.members.get("b")?.child.incarnation).toBe(4);
    expect(world.phase("top")).toBe("terminated");
  });
  it("sup_start_child_returns_error_simple: a dynamic child that cannot start counts as one that failed", () => {
    const world = new World(supervisor("top", { strategy: "dynamic" })).apply();
    world.tempers.gone = { unstartable: true };
    world.add("top", "gone", { restart: "temporary" }).add("top", "here");
    expect(world.children("top")).toEqual(["here"]);
    expect(world.phase("top")).toBe("running");
  });
});

describe("sup_start_map", () => {
  it("sup_start_map: what a description leaves out has OTP's defaults", () => {
    expect(SupervisorConfig.parse({})).toMatchObject({
      strategy: "one_for_one",
      auto_shutdown: "never",
      restart: "permanent",
      significant: false,
    });
    expect(WorkerSpec.parse(spec)).toMatchObject({ shutdown: "grace", significant: false });
  });
  it("sup_start_map_simple: every dynamic child keeps the spec that it was added with", () => {
    const world = new World(supervisor("top", { strategy: "dynamic" })).apply();
    world.add("top", "one", { restart: "temporary" }).add("top", "two", { shutdown: "brutal_kill" });
    expect(world.tree.members.get("one")).toMatchObject({
      child: { policy: "temporary" },
      shutdown: "grace",
      significant: false,
    });
    expect(world.tree.members.get("two")).toMatchObject({
      child: { policy: "permanent" },
      shutdown: "brutal_kill",
    });
  });
  it("sup_start_map_faulty_specs: a child without a name or a spec is refused, and so is a key that nobody knows", () => {
    const accepts = (child: object) => SupervisorNode.safeParse({ ...node, children: [child] }).success;
    expect(accepts({ type: "worker", name: "a", spec })).toBe(true);
    expect(accepts({ type: "worker", spec })).toBe(false);
    expect(accepts({ type: "worker", name: "a" })).toBe(false);
    expect(accepts({ type: "worker", name: "a", spec, silly_flag: true })).toBe(false);
    expect(accepts([] as object)).toBe(false);
  });
});

describe("checks", () => {
  it("child_specs: a restart type, a shutdown and a type that do not exist are refused", () => {
    const accepts = (over: object, type = "worker") =>
      WorkerNode.safeParse({ type, name: "a", spec: { ...spec, ...over } }).success;
    for (const restart of ["permanent", "transient", "temporary"])
      for (const shutdown of ["grace", "brutal_kill", "infinity"])
        expect(accepts({ restart, shutdown })).toBe(true);
    expect(accepts({ restart: "prmanent" })).toBe(false);
    expect(accepts({ shutdown: -10 })).toBe(false);
    expect(accepts({ grace_ms: -10 })).toBe(false);
    expect(accepts({ argv: "true" })).toBe(false);
    expect(accepts({}, "wrker")).toBe(false);
  });
  it("sup_flags: a strategy, an intensity, a period and an auto_shutdown that do not exist are refused", () => {
    const accepts = (flags: object) => SupervisorConfig.safeParse(flags).success;
    expect(accepts({ strategy: "one_for_one", max_restarts: 0, period_ms: 1 })).toBe(true);
    expect(accepts({ strategy: "none_for_one" })).toBe(false);
    expect(accepts({ max_restarts: -1 })).toBe(false);
    expect(accepts({ period_ms: -1 })).toBe(false);
    expect(accepts({ auto_shutdown: "sometimes" })).toBe(false);
  });
});
