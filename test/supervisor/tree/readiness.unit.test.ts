/** What counts as started, and who waits for it. */
import { describe, expect, it } from "vitest";
import { supervisor, World, worker } from "./world.ts";

const ready = { log: "up", within_ms: 5_000 };
const notReady = { type: "limit", limit: "ready", value: 5_000, bound: 5_000, grace_ms: 0 } as const;

describe("readiness", () => {
  it("the next child is started once the one before it is ready", () => {
    const world = new World(supervisor("top", {}, worker("a", { ready }), worker("b"))).apply();
    expect([world.running(), world.phase("top")]).toEqual([["a"], "starting"]);
    expect([world.ready("a").running(), world.phase("top")]).toEqual([["a", "b"], "running"]);
  });
  it("a child that does not get ready fails the first start of its supervisor", () => {
    const world = new World(supervisor("top", {}, worker("a"), worker("b", { ready }))).apply();
    expect([world.worker("b", notReady).running(), world.phase("top")]).toEqual([[], "terminated"]);
  });
  it("a child that does not get ready in a restart counts, and is tried again", () => {
    const world = new World(supervisor("top", { max_restarts: 2 }, worker("a", { ready }))).apply();
    world.ready("a").exit("a").worker("a", notReady);
    expect([world.running(), world.phase("top")]).toEqual([["a"], "running"]);
    expect(world.worker("a", notReady).phase("top")).toBe("terminated");
  });
});

describe("depends_on", () => {
  const tree = () =>
    new World(
      supervisor(
        "top",
        { strategy: "one_for_all" },
        supervisor("db", {}, worker("job", { restart: "transient" })),
        worker("app", {}, ["db/job"]),
      ),
    ).apply();
  it("a child waits until what it names is there", () => {
    const world = tree();
    world.exit("db/job", 0).exit("app");
    // The job is done: who waits for it need not.
    expect(world.running()).toContain("app");
  });
  it("what has failed for good is waited for, until it is started by name", () => {
    const world = new World(
      supervisor(
        "top",
        { strategy: "one_for_all" },
        worker("job", { restart: "temporary" }),
        worker("app", {}, ["job"]),
      ),
    ).apply();
    world.exit("job", 1).exit("app");
    expect([world.running(), world.phase("top")]).toEqual([[], "restarting"]);
    world.worker("job", { type: "restart", by: "user", grace_ms: 0 });
    expect([world.running(), world.phase("top")]).toEqual([["app", "job"], "running"]);
  });
});
