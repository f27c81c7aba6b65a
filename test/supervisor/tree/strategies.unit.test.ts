import { describe, expect, it } from "vitest";
import { supervisor, World, worker } from "./world.ts";

const three = (strategy: "one_for_one" | "one_for_all" | "rest_for_one") =>
  new World(supervisor("top", { strategy }, worker("a"), worker("b"), worker("c"))).apply();

describe("strategies", () => {
  it("starts left to right", () => {
    expect(three("one_for_one").history).toEqual(["+a", "+b", "+c"]);
    expect(three("one_for_all").tree.supervisors.get("top")?.phase).toBe("running");
  });
  it("one_for_one restarts the one alone", () => {
    expect(three("one_for_one").exit("b").history.slice(3)).toEqual(["-b", "+b"]);
  });
  it("one_for_all stops the others right to left, then starts all left to right", () => {
    expect(three("one_for_all").exit("b").history.slice(3)).toEqual(["-b", "-c", "-a", "+a", "+b", "+c"]);
  });
  it("rest_for_one restarts what was started after it", () => {
    expect(three("rest_for_one").exit("b").history.slice(3)).toEqual(["-b", "-c", "+b", "+c"]);
  });
  it("starts who died with the daemon anew, as the strategy has it, and counts nothing", () => {
    const alone = three("one_for_one");
    for (let n = 0; n < 9; n++) alone.exit("b", null, "supervisor_died");
    expect(alone.history.slice(-2)).toEqual(["-b!", "+b"]);
    expect(alone.phase("top")).toBe("running");
    const all = three("one_for_all");
    for (let n = 0; n < 9; n++) all.exit("b", null, "supervisor_died");
    expect(all.history.slice(-6)).toEqual(["-b!", "-c", "-a", "+a", "+b", "+c"]);
    expect(all.tree.supervisors.get("top")?.restarts).toEqual([]);
  });
  it("restarts nobody for a failure that no restart can mend, and leaves the others alone", () => {
    for (const strategy of ["one_for_one", "one_for_all", "rest_for_one"] as const) {
      const world = three(strategy).fail("b", "TOKEN_INVALID").pass(60_000);
      expect(world.history.slice(3)).toEqual(["-b"]);
      expect([world.state("b"), world.phase("top")]).toEqual(["failed", "running"]);
      expect(world.log.at(-1)?.draft.payload).toMatchObject({ cause: "unfixable" });
      // By name it starts again.
      world.worker("b", { type: "restart", by: "user", grace_ms: 0 }).pass(1);
      expect(world.state("b")).toBe("running");
    }
    const asked = new World(supervisor("top", {}, worker("a", { on_unfixable: "restart" }))).apply();
    expect(asked.fail("a", "TOKEN_INVALID").history).toEqual(["+a", "-a", "+a"]);
  });
  it("gives up beyond the window and escalates to the root, where nothing keeps running", () => {
    const world = new World(
      supervisor("top", { max_restarts: 1 }, supervisor("mid", { max_restarts: 1 }, worker("leaf"))),
    ).apply();
    for (let n = 0; n < 10 && world.running().length > 0; n++) world.exit("mid/leaf");
    expect(world.running()).toEqual([]);
    expect(world.tree.supervisors.get("top")?.phase).toBe("terminated");
    expect(world.types().filter((type) => type === "supervisor_escalated")).toHaveLength(3);
  });
  it("ends the grace of who is being stopped at a second kill of their supervisor", () => {
    const world = three("rest_for_one");
    world.tempers.b = { stubborn: true };
    world.ask("kill", "top");
    expect(world.history.slice(3)).toEqual(["-c"]);
    world.ask("kill", "top");
    expect(world.history.slice(3)).toEqual(["-c", "-b!", "-a"]);
    expect(world.phase("top")).toBe("terminated");
  });
  it("stops right to left, each with its own grace", () => {
    const world = three("rest_for_one");
    world.tempers.b = { stubborn: true };
    world.ask("down", "top").pass(20_000);
    expect(world.history.slice(3)).toEqual(["-c", "-b!", "-a"]);
    expect(world.types().at(-1)).toBe("tree_removed");
  });
});
