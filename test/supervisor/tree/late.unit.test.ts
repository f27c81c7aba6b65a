/** Inputs that come twice, too late, or for something that is no more. */
import { describe, expect, it } from "vitest";
import { decideTree } from "../../../src/supervisor/tree/decide.ts";
import { supervisor, World, worker } from "./world.ts";

const restart = { type: "restart", by: "user", grace_ms: 0 } as const;
const park = { on_intensity: "park", max_restarts: 0 } as const;

describe("an input that comes twice", () => {
  it("an exit of what does not run, and a launch of what runs already, change nothing", () => {
    const world = new World(
      supervisor(
        "top",
        {},
        worker("a"),
        worker("b"),
        worker("c", { backoff_min_ms: 100, backoff_max_ms: 100 }),
      ),
    ).apply();
    const spawned = { pid: 1, pgid: 1, agent: {} as never, launcher: {} as never, argv: [] };
    const exit = {
      exit_code: 1,
      signal: null,
      signal_inferred: false,
      raw_status: 1,
      reason: "exited" as const,
    };
    world.kill("b").exit("c");
    expect(world.state("c")).toBe("backing_off");
    const { length } = world.log;
    world.worker("a", { type: "begin", incarnation: 2, reason: "restart" });
    world.worker("a", { type: "launched", spawned });
    for (const id of ["b", "c"])
      world.worker(id, { type: "exited", exit, outcome: { status: "completed" } as never, duration_ms: 1 });
    world.worker("b", { type: "adopted", spawned });
    expect(world.log).toHaveLength(length);
  });
  it("a child that comes and goes during an operation is noted in it once", () => {
    const ready = { log: "up", within_ms: 60_000 };
    const world = new World(
      supervisor("top", { max_restarts: 9 }, worker("a"), worker("b"), worker("c", { ready })),
    ).apply();
    world.ready("c").ask("restart", "top");
    for (let n = 0; n < 5; n++) world.exit("a");
    expect(world.tree.supervisors.get("top")?.operation?.started).toEqual(["a", "b", "c"]);
  });
});

describe("a child that is started by name", () => {
  it("counts in no window", () => {
    const world = new World(supervisor("top", { max_restarts: 0 }, worker("a"))).apply();
    for (let n = 0; n < 3; n++) world.worker("a", restart).kill("a").worker("a", restart);
    expect([world.running(), world.phase("top")]).toEqual([["a"], "running"]);
  });
});

describe("a child without a running supervisor", () => {
  it("is not started by name: neither a worker nor a supervisor", () => {
    const world = new World(
      supervisor("top", {}, supervisor("mid", {}, supervisor("low", {}, worker("leaf")))),
    ).apply();
    world.ask("kill", "mid");
    const { length } = world.log;
    world.worker("mid/low/leaf", restart).ask("restart", "mid/low");
    expect(world.log).toHaveLength(length);
    expect(world.ask("restart", "mid").running()).toEqual(["mid/low/leaf"]);
  });
  it("is ended when it is added to a dynamic supervisor that has ended", () => {
    const world = new World(supervisor("top", {}, supervisor("pool", { strategy: "dynamic" }))).apply();
    world.ask("kill", "pool").add("pool", "late");
    expect([world.running(), world.children("pool")]).toEqual([[], []]);
    expect(world.types().at(-1)).toBe("worker_ended");
  });
  it("waits when it is added to a dynamic supervisor that backs off", () => {
    const slow = { backoff_min_ms: 100, backoff_max_ms: 100 };
    const world = new World(
      supervisor("top", slow, supervisor("pool", { strategy: "dynamic", max_restarts: 0 })),
    ).apply();
    world.add("pool", "a").exit("a").add("pool", "late");
    expect([world.phase("pool"), world.running()]).toEqual(["backing_off", []]);
    expect(world.pass(100).running()).toEqual(["late"]);
  });
});

describe("a node that its file no longer has", () => {
  it("is forgotten also when it gives up by itself at that moment", () => {
    const world = new World(
      supervisor("top", {}, worker("a"), supervisor("mid", { max_restarts: 0 }, worker("b"), worker("c"))),
    ).apply();
    world.tempers["mid/b"] = { stop_ms: 500 };
    world.exit("mid/c");
    expect([world.phase("mid"), world.running()]).toEqual(["stopping", ["a", "mid/b"]]);
    world.apply(supervisor("top", {}, worker("a"))).pass(500);
    expect([world.running(), world.children("top"), world.tree.members.size]).toEqual([["a"], ["a"], 1]);
  });
  it("is forgotten at once when it has ended, or was never begun", () => {
    const world = new World(supervisor("top", {}, worker("a"), worker("b", { restart: "temporary" })));
    world
      .apply()
      .exit("b")
      .apply(supervisor("top", {}, worker("a")));
    expect([world.children("top"), [...world.tree.members.keys()]]).toEqual([["a"], ["a"]]);
  });
});

describe("a start that is on its way", () => {
  it("begins nothing when its supervisor has held the worker meanwhile", () => {
    const slow = { backoff_min_ms: 100, backoff_max_ms: 100 };
    const world = new World(supervisor("top", {}, worker("b"), worker("a", slow))).apply();
    world.tempers.b = { stop_ms: 500 };
    world.exit("a").ask("restart", "top");
    expect(world.state("a")).toBe("pending");
    const late = { type: "begin", incarnation: 2, reason: "restart" } as const;
    const { events, commands } = decideTree(
      world.tree,
      { type: "worker", worker_id: "a", input: late },
      world.now,
      () => world.specs.get("a") as never,
    );
    expect(events).toEqual([]);
    // The shell that would begin it lets go.
    expect(commands).toEqual([{ type: "tell", worker_id: "a", command: { type: "end", state: "held" } }]);
    world.worker("a", late);
    expect([world.state("a"), world.running()]).toEqual(["pending", ["b"]]);
    expect(world.pass(500).running()).toEqual(["a", "b"]);
  });
  it("is over when the worker is killed before it begins: its supervisor waits for nothing", () => {
    const world = new World(supervisor("top", {}, worker("a"), worker("b")));
    world.paused = true;
    world.apply().kill("a");
    expect(world.tree.launching.has("a")).toBe(false);
    world.paused = false;
    world.run().ask("down", "top");
    expect([world.running(), world.phase("top")]).toEqual([[], "terminated"]);
  });
});

describe("a child that ended before it began", () => {
  it("is started with its supervisor", () => {
    const world = new World(supervisor("top", {}, worker("a"), worker("b")));
    world.tempers.a = { unstartable: true };
    expect(world.apply().state("b")).toBe("failed");
    world.tempers.a = {};
    expect(world.ask("restart", "top").running()).toEqual(["a", "b"]);
  });
});

describe("a parked child", () => {
  it("stays so when a sibling restarts the group, until it is started by name", () => {
    const world = new World(
      supervisor("top", { strategy: "one_for_all" }, supervisor("mid", park, worker("leaf")), worker("b")),
    ).apply();
    world.exit("mid/leaf").exit("b");
    expect([world.running(), world.phase("mid")]).toEqual([["b"], "parked"]);
    expect(world.ask("restart", "mid").running()).toEqual(["b", "mid/leaf"]);
  });
});

describe("a temporary child", () => {
  it("a temporary supervisor stays down when a sibling restarts the group", () => {
    const world = new World(
      supervisor(
        "top",
        { strategy: "one_for_all" },
        supervisor("mid", { restart: "temporary" }, worker("leaf")),
        worker("b"),
      ),
    ).apply();
    expect(world.exit("b").running()).toEqual(["b"]);
    expect([world.phase("mid"), world.state("mid/leaf")]).toEqual(["terminated", "cancelled"]);
    expect(world.ask("restart", "top").running()).toEqual(["b", "mid/leaf"]);
  });
});
