/** A tree that is taken down goes down, whatever else is asked for meanwhile. */
import { describe, expect, it } from "vitest";
import { supervisor, World, worker } from "./world.ts";

const restart = { type: "restart", by: "user", grace_ms: 0 } as const;

/** `slow` ignores TERM for its grace, so whatever a test asks for comes during the down. */
const goingDown = (): World => {
  const world = new World(
    supervisor("top", {}, worker("first"), supervisor("mid", {}, worker("slow", { grace_ms: 6_000 }))),
  ).apply();
  world.tempers["mid/slow"] = { stubborn: true };
  return world.ask("down", "top").pass(1_000);
};

describe("a down", () => {
  it.each([
    ["a kill of its top", (world: World) => world.ask("kill", "top")],
    ["a kill of its top, twice", (world: World) => world.ask("kill", "top").ask("kill", "top")],
    ["a kill of a supervisor of it", (world: World) => world.ask("kill", "mid")],
    ["a kill of a worker of it", (world: World) => world.kill("mid/slow")],
    ["a restart of its top", (world: World) => world.ask("restart", "top")],
    ["a restart of a supervisor of it", (world: World) => world.ask("restart", "mid")],
    ["a restart of a worker of it", (world: World) => world.worker("first", restart)],
    ["another down", (world: World) => world.ask("down", "top")],
    ["an apply of its file", (world: World) => world.apply()],
    ["a crash of the daemon", (world: World) => world.crash().input({ type: "plan" })],
  ])("is not weakened by %s", (_title, meanwhile) => {
    const world = meanwhile(goingDown()).pass(60_000);
    expect(world.types().filter((type) => type === "tree_removed")).toHaveLength(1);
    expect([world.tree.supervisors.size, world.running()]).toEqual([0, []]);
  });

  it("takes the place of a kill that is on its way", () => {
    const world = new World(supervisor("top", {}, worker("slow", { grace_ms: 6_000 }))).apply();
    world.tempers.slow = { stubborn: true };
    world.ask("kill", "top").pass(1_000).ask("down", "top").pass(60_000);
    expect([world.tree.supervisors.size, world.running()]).toEqual([0, []]);
    expect(world.types()).toContain("tree_removed");
  });

  it("keeps the grace of a kill that it follows, and takes that of a kill that follows it", () => {
    const stops = (world: World) =>
      world.log.flatMap(({ draft }) =>
        draft.type === "worker_cancel_requested" ? [draft.payload.grace_ms] : [],
      );
    const make = () => {
      const world = new World(
        supervisor(
          "top",
          { strategy: "rest_for_one" },
          worker("a", { grace_ms: 5_000 }),
          worker("b", { grace_ms: 5_000 }),
        ),
      ).apply();
      world.tempers.b = { stubborn: true };
      return world;
    };
    const kill = { type: "ask", what: "kill", supervisor: "top", by: "user", reason: "" } as const;
    const how = { grace_ms: 1_000 };
    const followed = make()
      .input({ ...kill, how })
      .ask("down", "top")
      .pass(60_000);
    expect(stops(followed)).toEqual([1_000, 1_000]);
    const following = make()
      .ask("down", "top")
      .input({ ...kill, how })
      .pass(60_000);
    expect(stops(following)).toEqual([5_000, 1_000]);
  });
});

describe("a kill", () => {
  it("is not undone by a restart of its supervisor while it is on its way", () => {
    const world = new World(supervisor("top", {}, worker("slow", { grace_ms: 6_000 }))).apply();
    world.tempers.slow = { stubborn: true };
    world.ask("kill", "top").pass(1_000).ask("restart", "top").pass(60_000);
    expect([world.phase("top"), world.running()]).toEqual(["terminated", []]);
    expect(world.ask("restart", "top").running()).toEqual(["slow"]);
  });
});
