/** supervisor_SUITE: children by name, counts, restart loops, reload, many children. A title begins with the name of its case. */
import { describe, expect, it } from "vitest";
import { isAlive, isUp, supervisorOf } from "../../../src/supervisor/tree/state.ts";
import { supervisor, World, worker } from "../tree/world.ts";

const restart = { type: "restart", by: "user", grace_ms: 1_000 } as const;
/** OTP's count_children: how many are listed, and how many run. */
const counts = (world: World, path: string) => {
  const { children } = supervisorOf(world.tree, path);
  return [children.length, children.filter((ref) => isUp(world.tree, ref)).length];
};

describe("children by name", () => {
  it("child_adm: a child is killed, started, removed and added by name, and each time the others live on", () => {
    const world = new World(supervisor("top", {}, worker("a"), worker("b"))).apply();
    expect(world.kill("a").running()).toEqual(["b"]);
    expect([world.state("a"), counts(world, "top")]).toEqual(["cancelled", [2, 1]]);
    world.worker("a", restart);
    expect([world.running(), counts(world, "top")]).toEqual([
      ["a", "b"],
      [2, 2],
    ]);
    world.apply(supervisor("top", {}, worker("b")));
    expect([world.running(), world.children("top")]).toEqual([["b"], ["b"]]);
    world.apply(supervisor("top", {}, worker("a"), worker("b")), { top: ["a"] });
    expect(world.running()).toEqual(["a", "b"]);
    expect(world.history.filter((step) => step.includes("b"))).toEqual(["+b"]);
  });
  it("child_adm_simple: a dynamic child is killed by name and forgotten, and a second kill finds nobody", () => {
    const world = new World(supervisor("top", { strategy: "dynamic" })).apply();
    expect(counts(world, "top")).toEqual([0, 0]);
    world.add("top", "a").add("top", "b");
    expect(counts(world, "top")).toEqual([2, 2]);
    world.kill("a").kill("a");
    expect([world.running(), world.children("top"), world.phase("top")]).toEqual([["b"], ["b"], "running"]);
  });
  it("count_children: a dynamic supervisor counts what is there, and nothing once all are gone", () => {
    const world = new World(supervisor("top", { strategy: "dynamic" })).apply();
    const names = Array.from({ length: 100 }, (_, n) => `c${n}`);
    for (const name of names) world.add("top", name, { restart: "temporary" });
    expect(counts(world, "top")).toEqual([100, 100]);
    for (const name of names) world.exit(name, null);
    expect(counts(world, "top")).toEqual([0, 0]);
    expect(world.phase("top")).toBe("running");
  });
  it("count_restarting_children: a child in its restart loop is listed and not counted as running", () => {
    const config = { strategy: "dynamic", max_restarts: 20, period_ms: 10_000 } as const;
    const world = new World(supervisor("top", config)).apply();
    const slow = { backoff_min_ms: 1_000, backoff_max_ms: 1_000 };
    for (const name of ["a", "b", "c"]) world.add("top", name, slow);
    world.tempers.a = { unstartable: true };
    world.tempers.b = { unstartable: true };
    world.exit("a").exit("b").pass(2_000);
    expect(counts(world, "top")).toEqual([3, 1]);
    world.tempers.a = {};
    world.tempers.b = {};
    expect(counts(world.pass(1_000), "top")).toEqual([3, 3]);
    expect(counts(world.kill("c").kill("a").kill("b"), "top")).toEqual([0, 0]);
  });
  it("which_children: the children are listed in start order, those that are down among them", () => {
    const world = new World(supervisor("top", {}, worker("a"), worker("b"))).apply().kill("a");
    const { children } = supervisorOf(world.tree, "top");
    expect(children.map((ref) => [ref.name, isAlive(world.tree, ref)])).toEqual([
      ["a", false],
      ["b", true],
    ]);
    expect(world.apply(supervisor("top", {}, worker("b"))).children("top")).toEqual(["b"]);
  });
  it("which_children_simple_one_for_one: a dynamic supervisor lists its children in the order in which they were added", () => {
    const world = new World(supervisor("top", { strategy: "dynamic" })).apply();
    world.add("top", "b").add("top", "a");
    expect(world.children("top")).toEqual(["b", "a"]);
    expect(world.kill("b").children("top")).toEqual(["a"]);
  });
  it("order_of_children: a reload that changes the order changes the order of the next starts and stops", () => {
    const world = new World(supervisor("top", {}, worker("a"), worker("b"), worker("c"))).apply();
    world.apply(supervisor("top", {}, worker("c"), worker("a"), worker("b")));
    expect(world.children("top")).toEqual(["c", "a", "b"]);
    expect(world.ask("restart", "top").history.slice(3)).toEqual(["-b", "-a", "-c", "+c", "+a", "+b"]);
  });
});

describe("a child that stays", () => {
  it.each(["one_for_one", "one_for_all", "rest_for_one"] as const)(
    "do_not_save_child_specs_for_temporary_children: %s starts a temporary child again by nothing but its name",
    (strategy) => {
      const world = new World(
        supervisor("top", { strategy }, worker("a"), worker("b", { restart: "temporary" })),
      ).apply();
      expect(world.exit("b").exit("a").running()).toEqual(["a"]);
      expect(world.worker("b", restart).running()).toEqual(["a", "b"]);
    },
  );
  it("simple_one_for_one_scale_many_temporary_children: a thousand come and go, and nothing of them stays", () => {
    const world = new World(supervisor("top", { strategy: "dynamic" })).apply();
    for (let n = 0; n < 1_000; n++) {
      world.add("top", `c${n}`, { restart: "temporary" });
      if (n >= 10) world.kill(`c${n - 10}`);
    }
    expect([world.children("top").length, world.tree.members.size]).toEqual([10, 10]);
  });
  it("scale_start_stop_many_children: two hundred children of a file are started in order and stopped in reverse", () => {
    const names = Array.from({ length: 200 }, (_, n) => `c${n}`);
    const world = new World(supervisor("top", {}, ...names.map((name) => worker(name)))).apply();
    world.ask("down", "top");
    expect(world.history).toEqual([
      ...names.map((name) => `+${name}`),
      ...names.toReversed().map((name) => `-${name}`),
    ]);
  });
});

describe("trees", () => {
  it("tree: a supervisor that gives up is started again with its children by its own one, and the tree with it", () => {
    const four = { max_restarts: 4, period_ms: 3_600_000 };
    const world = new World(
      supervisor(
        "top",
        { strategy: "one_for_all", ...four },
        supervisor("one", four, worker("a"), worker("b")),
        supervisor("two", { strategy: "dynamic", ...four }),
        supervisor("three", { restart: "transient", ...four }),
      ),
    ).apply();
    world.add("two", "c").add("two", "d");
    world.ask("kill", "three");
    expect(world.exit("d").history.slice(-2)).toEqual(["-d", "+d"]);
    world.tempers.c = { unstartable: true };
    world.exit("c");
    expect(world.running()).toEqual(["one/a", "one/b"]);
    expect([counts(world, "one"), counts(world, "two")]).toEqual([
      [2, 2],
      [0, 0],
    ]);
    // OTP starts a child anew with its siblings although it was terminated by name; here a kill stays.
    expect([world.phase("one"), world.phase("two"), world.phase("three")]).toEqual([
      "running",
      "running",
      "terminated",
    ]);
  });
  it("simple_global_supervisor: a worker below a supervisor comes back from its end, its kill and a restart by name", () => {
    const config = { strategy: "one_for_all", max_restarts: 3, period_ms: 60_000 } as const;
    const made = () =>
      new World(supervisor("top", config, supervisor("mid", config, worker("leaf")))).apply();
    const back = ["+mid/leaf", "-mid/leaf", "+mid/leaf"];
    expect(made().exit("mid/leaf", null).history.at(-1)).toBe("+mid/leaf");
    expect(made().exit("mid/leaf", 0).history).toEqual(back);
    expect(made().worker("mid/leaf", restart).history).toEqual(back);
    expect(made().ask("restart", "mid").history).toEqual(back);
    expect(made().ask("kill", "mid").ask("restart", "mid").history).toEqual(back);
  });
});

describe("a restart loop", () => {
  const loop = (strategy: "one_for_one" | "rest_for_one") => {
    const config = { strategy, max_restarts: 8, period_ms: 10_000 };
    const slow = { backoff_min_ms: 2_000, backoff_max_ms: 2_000 };
    const world = new World(
      supervisor("top", { ...config, ...slow }, worker("a"), worker("b", slow), worker("c")),
    ).apply();
    world.tempers.b = { unstartable: true };
    return world.exit("b").pass(3_000);
  };
  it("hanging_restart_loop: a child in its restart loop can be killed and started by name, and its supervisor taken down", () => {
    const world = loop("one_for_one");
    expect(world.state("b")).toBe("backing_off");
    expect(world.kill("b").state("b")).toBe("cancelled");
    expect(world.pass(10_000).running()).toEqual(["a", "c"]);
    world.tempers.b = {};
    expect(world.worker("b", restart).running()).toEqual(["a", "b", "c"]);
    world.tempers.b = { unstartable: true };
    world.exit("b").ask("down", "top").pass(10_000);
    expect([world.running(), world.phase("top")]).toEqual([[], "terminated"]);
  });
  it("hanging_restart_loop_rest_for_one: those after it stay down while it loops, and its kill lets them start", () => {
    const world = loop("rest_for_one");
    expect(world.running()).toEqual(["a"]);
    expect(world.kill("b").pass(2_000).running()).toEqual(["a", "c"]);
    expect([world.state("b"), world.phase("top")]).toEqual(["cancelled", "running"]);
    const down = loop("rest_for_one").ask("down", "top").pass(10_000);
    expect([down.running(), down.phase("top")]).toEqual([[], "terminated"]);
  });
  it("hanging_restart_loop_simple: a dynamic child in its restart loop is killed by name and forgotten", () => {
    const config = { strategy: "dynamic", max_restarts: 8, period_ms: 10_000 } as const;
    const world = new World(supervisor("top", config)).apply();
    world.add("top", "a", { backoff_min_ms: 2_000, backoff_max_ms: 2_000 });
    world.tempers.a = { unstartable: true };
    world.exit("a").pass(3_000);
    expect(counts(world, "top")).toEqual([1, 0]);
    expect(counts(world.kill("a"), "top")).toEqual([0, 0]);
    world.add("top", "b").ask("down", "top");
    expect([world.running(), world.phase("top")]).toEqual([[], "terminated"]);
  });
});

describe("reload", () => {
  it("code_change: new flags hold at once, children are added, changed and removed, and what is the same runs on", () => {
    const world = new World(supervisor("top", { max_restarts: 0 })).apply();
    world.apply(supervisor("top", { max_restarts: 1, period_ms: 3_000 }, worker("a"), worker("b")), {
      top: ["a", "b"],
    });
    expect(world.history).toEqual(["+a", "+b"]);
    expect(world.exit("a").running()).toEqual(["a", "b"]);
    world.apply(
      supervisor("top", { max_restarts: 1 }, worker("a", { grace_ms: 77 }), worker("b"), worker("c")),
      { top: ["a", "c"] },
    );
    expect(world.history.slice(4)).toEqual(["-a", "+a", "+c"]);
    expect(world.tree.members.get("a")?.grace_ms).toBe(77);
    expect(world.apply(supervisor("top", {}, worker("a", { grace_ms: 77 }))).running()).toEqual(["a"]);
  });
  it("code_change_simple: new flags of a dynamic supervisor hold at once, and its children run on", () => {
    const world = new World(supervisor("top", { strategy: "dynamic", max_restarts: 5 })).apply();
    world.add("top", "a").apply(supervisor("top", { strategy: "dynamic", max_restarts: 0 }));
    expect(world.history).toEqual(["+a"]);
    expect(world.exit("a").phase("top")).toBe("terminated");
  });
});
