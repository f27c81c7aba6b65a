/** supervisor_SUITE, the restart strategies. A title begins with the name of its case. */
import { describe, expect, it } from "vitest";
import type { SupervisorConfig } from "../../../src/protocol/tree.ts";
import { supervisor, World, worker } from "../tree/world.ts";

const config = (strategy: SupervisorConfig["strategy"], max_restarts: number) => ({
  strategy,
  max_restarts,
  period_ms: 3_600_000,
});
const three = (strategy: SupervisorConfig["strategy"]) =>
  new World(supervisor("top", config(strategy, 2), worker("a"), worker("b"), worker("c"))).apply();
const pool = (max_restarts: number) =>
  new World(supervisor("top", config("dynamic", max_restarts))).apply().add("top", "a").add("top", "b");
const gaveUp = (world: World) => {
  expect(world.running()).toEqual([]);
  expect(world.phase("top")).toBe("terminated");
  expect(world.types()).toContain("supervisor_escalated");
};

describe("one_for_one", () => {
  it("multiple_restarts: restarts that are far enough apart go on for ever, and one too many ends the supervisor", () => {
    const world = new World(
      supervisor("top", { max_restarts: 1, period_ms: 1_000 }, worker("a"), worker("b")),
    ).apply();
    for (let n = 0; n < 10; n++) world.exit("a").pass(1_001);
    expect(world.running()).toEqual(["a", "b"]);
    gaveUp(world.exit("a").pass(1_000).exit("b"));
  });
  it("one_for_one: only the one that ended is started again, and each restart counts for the supervisor", () => {
    const world = three("one_for_one").exit("a");
    expect(world.history.slice(3)).toEqual(["-a", "+a"]);
    gaveUp(world.exit("b").exit("c"));
  });
  it("one_for_one_escalation: a child that cannot start again ends its supervisor and its siblings", () => {
    const world = new World(supervisor("top", config("one_for_one", 4), worker("a"), worker("b"))).apply();
    world.tempers.a = { unstartable: true };
    gaveUp(world.exit("a"));
    expect(world.types().filter((type) => type === "supervisor_restart_scheduled")).toHaveLength(4);
  });
});

describe("one_for_all", () => {
  it("one_for_all: all are stopped and started again, and a restart of all counts once", () => {
    const world = three("one_for_all").exit("b");
    expect(world.history.slice(3)).toEqual(["-b", "-c", "-a", "+a", "+b", "+c"]);
    gaveUp(world.exit("a").exit("c"));
  });
  it("one_for_all_escalation: a child that cannot start again ends its supervisor and its siblings", () => {
    const world = new World(supervisor("top", config("one_for_all", 4), worker("a"), worker("b"))).apply();
    world.tempers.b = { unstartable: true };
    gaveUp(world.exit("a"));
  });
  it("one_for_all_other_child_fails_restart: a sibling that fails to start again stops the ones that were started before it", () => {
    const world = new World(
      supervisor(
        "top",
        { ...config("one_for_all", 4), backoff_min_ms: 100, backoff_max_ms: 100 },
        worker("a"),
        worker("b"),
      ),
    ).apply();
    world.tempers.b = { unstartable: true };
    world.exit("a").pass(100);
    expect(world.history.slice(2)).toEqual(["-a", "-b", "+a", "-a"]);
    world.tempers.b = {};
    expect(world.pass(100).history.slice(6)).toEqual(["+a", "+b"]);
  });
});

describe("simple_one_for_one", () => {
  it("simple_one_for_one: only the one that ended is started again, and each restart counts for the supervisor", () => {
    const world = pool(2).exit("a");
    expect(world.history.slice(2)).toEqual(["-a", "+a"]);
    gaveUp(world.exit("b").exit("b"));
    expect(world.children("top")).toEqual([]);
  });
  it("simple_one_for_one_shutdown: a dynamic child that takes its time is waited for as long as its grace lasts", () => {
    const world = pool(2);
    world.tempers.a = { stop_ms: 900 };
    world.ask("down", "top").pass(899);
    expect(world.running()).toEqual(["a"]);
    expect(world.pass(1).history.slice(2)).toEqual(["-b", "-a"]);
  });
  it("simple_one_for_one_extra: a dynamic child is started again with the spec of its own", () => {
    const world = new World(supervisor("top", config("dynamic", 5))).apply();
    world.add("top", "a", { shutdown: "brutal_kill" }).add("top", "b").exit("a").exit("b");
    expect(world.ask("down", "top").history.slice(6).sort()).toEqual(["-a!", "-b"]);
  });
  it("simple_one_for_one_escalation: a dynamic child that cannot start again ends its supervisor and its siblings", () => {
    const world = pool(4);
    world.tempers.a = { unstartable: true };
    gaveUp(world.exit("a"));
  });
});

describe("rest_for_one", () => {
  it("rest_for_one: those that were started after it are started again with it", () => {
    const world = three("rest_for_one").exit("b");
    expect(world.history.slice(3)).toEqual(["-b", "-c", "+b", "+c"]);
    gaveUp(world.exit("c").exit("b"));
  });
  it("rest_for_one_escalation: a later child that cannot start again ends its supervisor", () => {
    const world = new World(supervisor("top", config("rest_for_one", 4), worker("a"), worker("b"))).apply();
    world.tempers.b = { unstartable: true };
    gaveUp(world.exit("a"));
  });
  it("rest_for_one_other_child_fails_restart: the one that fails to start again is tried again, those before it stay up", () => {
    const slow = { ...config("rest_for_one", 3), backoff_min_ms: 100, backoff_max_ms: 100 };
    const world = new World(supervisor("top", slow, worker("a"), worker("b"))).apply();
    world.tempers.b = { unstartable: true };
    world.exit("a").pass(100);
    expect(world.history.slice(2)).toEqual(["-a", "-b", "+a"]);
    world.tempers.b = {};
    expect(world.pass(100).history.slice(5)).toEqual(["+b"]);
  });
});
