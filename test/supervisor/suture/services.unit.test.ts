/** The cases of suture (v4/suture_test.go). A title begins with the name of its case. */
import { describe, expect, it } from "vitest";
import { SupervisorConfig } from "../../../src/protocol/tree.ts";
import { countRestart, decayed } from "../../../src/supervisor/restart/window.ts";
import { supervisor, World, worker } from "../tree/world.ts";

const top = (...names: readonly string[]) =>
  new World(supervisor("top", {}, ...names.map((name) => worker(name)))).apply();

describe("services", () => {
  it("TestTheHappyCase: a service that returns is started again, and is stopped with its supervisor", () => {
    const world = top("b").exit("b", 0);
    expect(world.running()).toEqual(["b"]);
    expect(world.ask("kill", "top").history).toEqual(["+b", "-b", "+b", "-b"]);
  });
  it("TestAddingToRunningSupervisor: what is added to a running supervisor is started", () => {
    const world = top().apply(supervisor("top", {}, worker("b")), { top: ["b"] });
    expect([world.running(), world.children("top")]).toEqual([["b"], ["b"]]);
  });
  it("TestRunningAlreadyRunning: a tree that runs is not started a second time", () => {
    const world = top("b");
    expect(world.apply().apply().history).toEqual(["+b"]);
  });
  it("TestFullConstruction: a supervisor has the values that it was made with", () => {
    const given = { decay_ms: 1, max_restarts: 2, backoff_min_ms: 3, backoff_max_ms: 4, period_ms: 5 };
    expect(SupervisorConfig.parse({ ...given, on_intensity: "park" })).toMatchObject({
      ...given,
      on_intensity: "park",
    });
  });
  it("TestRemoveService: a service that is removed is stopped and forgotten, and the others live on", () => {
    const world = top("a", "b").apply(supervisor("top", {}, worker("a")));
    expect([world.history, world.children("top")]).toEqual([["+a", "+b", "-b"], ["a"]]);
  });
  it("TestRemoveAndWait: a service that takes its time is listed until it has ended", () => {
    const world = top("a", "b");
    world.tempers.b = { stop_ms: 500 };
    world.apply(supervisor("top", {}, worker("a"))).pass(499);
    expect(world.children("top")).toEqual(["a", "b"]);
    expect(world.pass(1).children("top")).toEqual(["a"]);
  });
  it("TestRemovingHungService: a service that hangs is killed, and removed", () => {
    const world = top("a", "b");
    world.tempers.b = { stubborn: true };
    world.apply(supervisor("top", {}, worker("a"))).pass(60_000);
    expect([world.history.at(-1), world.children("top")]).toEqual(["-b!", ["a"]]);
  });
  it("TestStopAfterRemoveAndWait: a supervisor that has had a service removed stops the rest", () => {
    const world = top("a", "b")
      .apply(supervisor("top", {}, worker("a")))
      .ask("down", "top");
    expect([world.running(), world.phase("top")]).toEqual([[], "terminated"]);
  });
});

describe("supervisors", () => {
  it("TestNestedSupervisors: a service below two supervisors is started", () => {
    const world = new World(supervisor("top", {}, supervisor("nested", {}, worker("service")))).apply();
    expect(world.running()).toEqual(["nested/service"]);
  });
  it("TestStoppingSupervisorStopsServices: no service outlives its supervisor", () => {
    const world = new World(supervisor("top", {}, supervisor("nested", {}, worker("service")))).apply();
    expect(world.ask("kill", "nested").running()).toEqual([]);
    expect([world.phase("nested"), world.phase("top")]).toEqual(["terminated", "running"]);
  });
  it("TestStoppingStillWorksWithHungServices: a supervisor stops although a service hangs", () => {
    const world = top("a", "b");
    world.tempers.b = { stubborn: true };
    world.ask("kill", "top").pass(60_000);
    expect([world.running(), world.phase("top")]).toEqual([[], "terminated"]);
  });
  it("TestFailingSupervisors: a supervisor that failed comes back after its delay, with all that is below it", () => {
    const slow = { backoff_min_ms: 5_000, backoff_max_ms: 5_000 };
    const world = new World(
      supervisor("top", slow, supervisor("nested", { max_restarts: 0 }, worker("a"), worker("b"))),
    ).apply();
    world.exit("nested/a");
    expect([world.phase("nested"), world.running()]).toEqual(["backing_off", []]);
    expect(world.pass(4_999).running()).toEqual([]);
    expect(world.pass(1).running()).toEqual(["nested/a", "nested/b"]);
    expect(world.phase("nested")).toBe("running");
  });
  it("TestSupervisorManagementIssue35: a hundred supervisors start and stop", () => {
    const world = new World(
      supervisor("top", {}, ...Array.from({ length: 100 }, (_, n) => supervisor(`s${n}`, {}, worker("w")))),
    ).apply();
    expect(world.running()).toHaveLength(100);
    expect(world.ask("down", "top").running()).toEqual([]);
  });
});

describe("failure decay", () => {
  const HALF_LIFE_MS = 30_000;
  const config = { max_restarts: 3, period_ms: 5_000, decay_ms: HALF_LIFE_MS };

  it("TestFailures: every failure counts for half after each half-life, and what is started by name begins at none", () => {
    expect(decayed([0], 0, HALF_LIFE_MS)).toBe(1);
    expect(decayed([0, 0], 0, HALF_LIFE_MS)).toBe(2);
    expect(decayed([0, 0, HALF_LIFE_MS], HALF_LIFE_MS, HALF_LIFE_MS)).toBe(2);
    const world = new World(
      supervisor("top", { ...config, on_intensity: "park" }, worker("one"), worker("two")),
    ).apply();
    world.exit("one").exit("two").pass(HALF_LIFE_MS).exit("two").exit("one");
    expect([world.running(), world.phase("top")]).toEqual([["one", "two"], "running"]);
    world.exit("one");
    expect([world.running(), world.phase("top"), world.state("two")]).toEqual([[], "parked", "parked"]);
    world.ask("restart", "top");
    expect([world.running(), world.phase("top")]).toEqual([["one", "two"], "running"]);
    expect(world.exit("one").exit("one").exit("one").running()).toEqual(["one", "two"]);
  });
  it("forgets a failure after ten half-lives, and never one that still counts for more than a thousandth", () => {
    const kept = (age: number) => countRestart([{ at_ms: 0 }], age, config).restarts.length;
    expect([kept(10 * HALF_LIFE_MS), kept(10 * HALF_LIFE_MS + 1)]).toEqual([2, 1]);
  });
});
