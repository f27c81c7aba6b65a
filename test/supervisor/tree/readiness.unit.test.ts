/** Readiness: when a child counts as started, and who waits for it. */
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

describe("a file that is applied while its tree starts", () => {
  const slow = worker("a", { ready });
  const starting = () => new World(supervisor("top", {}, slow, worker("b"))).apply();
  const changed = () =>
    starting().apply(supervisor("top", {}, slow, worker("b", { argv: ["sleep", "2"] })), { top: ["b"] });

  it("keeps the order of starts: what is not ready is waited for, and not started anew", () => {
    const world = changed();
    expect([world.running(), world.phase("top")]).toEqual([["a"], "starting"]);
    expect([world.ready("a").running(), world.phase("top")]).toEqual([["a", "b"], "running"]);
    expect(world.history).toEqual(["+a", "+b"]);
  });
  it("waits no more for the readiness of a child from which it asks none any more", () => {
    const world = starting().apply(supervisor("top", {}, worker("a"), worker("b")));
    expect([world.running(), world.phase("top")]).toEqual([["a", "b"], "running"]);
    expect(world.history).toEqual(["+a", "+b"]);
  });
  it("fails as its first start does, where a child does not get ready", () => {
    expect(changed().worker("a", notReady).phase("top")).toBe("terminated");
  });
  it("starts what is new in its turn, whatever the strategy", () => {
    const rest = { strategy: "rest_for_one" } as const;
    const world = new World(supervisor("top", rest, slow, worker("b")))
      .apply()
      .apply(supervisor("top", rest, slow, worker("b"), worker("c")), { top: ["c"] });
    expect(world.running()).toEqual(["a"]);
    expect([world.ready("a").running(), world.phase("top")]).toEqual([["a", "b", "c"], "running"]);
    expect(world.history).toEqual(["+a", "+b", "+c"]);
  });
  it("stops and starts what has changed itself, ready or not, also over a crash of the daemon", () => {
    const other = worker("a", { ready, argv: ["sleep", "2"] });
    const world = starting().apply(supervisor("top", {}, other, worker("b")), { top: ["a"] });
    expect(world.history).toEqual(["+a", "-a", "+a"]);
    expect([world.running(), world.phase("top")]).toEqual([["a"], "starting"]);
    const after = changed().crash().input({ type: "plan" });
    expect([after.ready("a").running(), after.phase("top")]).toEqual([["a", "b"], "running"]);
  });
  it("of a job that is done meanwhile, nothing is started again", () => {
    const job = worker("job", { restart: "transient", ready });
    const world = new World(supervisor("top", {}, job, worker("b")))
      .apply()
      .apply(supervisor("top", {}, job, worker("b"), worker("c")), { top: ["c"] });
    world.ready("job");
    world.exit("job", 0);
    expect([world.running(), world.phase("top")]).toEqual([["b", "c"], "running"]);
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
  it("a dependency that failed for good is waited for, until it is started by name", () => {
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
