/** supervisor_SUITE, group sup_stop. A title begins with the name of its case. */
import { describe, expect, it } from "vitest";
import { supervisor, World, worker } from "../tree/world.ts";

const HOUR_MS = 3_600_000;
/** One child at a time: OTP's order, which one_for_one keeps only where something asks for it (docs/decisions/0037). */
const IN_ORDER = { strategy: "rest_for_one" } as const;

describe("sup_stop", () => {
  it("sup_stop_infinity: a child whose shutdown is infinity is waited for, however long it takes", () => {
    const world = new World(
      supervisor("top", IN_ORDER, worker("a"), worker("b", { shutdown: "infinity", grace_ms: 10 })),
    ).apply();
    world.tempers.b = { stop_ms: HOUR_MS };
    world.ask("down", "top").pass(HOUR_MS - 1);
    expect(world.running()).toEqual(["a", "b"]);
    expect(world.pass(1).history.slice(2)).toEqual(["-b", "-a"]);
  });
  it("sup_stop_timeout: a child that does not stop in its grace is killed, the others are not", () => {
    const world = new World(
      supervisor("top", IN_ORDER, worker("a", { grace_ms: 1_000 }), worker("b", { grace_ms: 1_000 })),
    ).apply();
    world.tempers.b = { stubborn: true };
    world.ask("down", "top").pass(999);
    expect(world.running()).toEqual(["a", "b"]);
    expect(world.pass(1).history.slice(2)).toEqual(["-b!", "-a"]);
  });
  it("sup_stop_timeout_dynamic: dynamic children are stopped at once, and the one that does not stop is killed", () => {
    const world = new World(supervisor("top", { strategy: "dynamic" })).apply();
    world.tempers.a = { stubborn: true };
    world.add("top", "a", { grace_ms: 1_000 }).add("top", "b", { grace_ms: 1_000 });
    world.ask("down", "top");
    expect(world.running()).toEqual(["a"]);
    expect(world.pass(1_000).history.slice(2)).toEqual(["-b", "-a!"]);
    expect(world.phase("top")).toBe("terminated");
  });
  it("sup_stop_brutal_kill: a child whose shutdown is brutal_kill is killed at once", () => {
    const world = new World(supervisor("top", {}, worker("a"), worker("b", { shutdown: "brutal_kill" })));
    expect(world.apply().ask("down", "top").history.slice(2)).toEqual(["-b!", "-a"]);
  });
  it("sup_stop_brutal_kill_dynamic: ten dynamic children are killed at once", () => {
    const world = new World(supervisor("top", { strategy: "dynamic" })).apply();
    for (let n = 0; n < 10; n++) world.add("top", `c${n}`, { shutdown: "brutal_kill", restart: "temporary" });
    world.ask("down", "top");
    expect(world.history.slice(10).sort()).toEqual(Array.from({ length: 10 }, (_, n) => `-c${n}!`));
    expect(world.phase("top")).toBe("terminated");
  });
  it("sup_stop_race: children that end by themselves while their supervisor stops do not disturb it", () => {
    const policies = ["permanent", "transient", "temporary"] as const;
    const names = policies.flatMap((restart) => [0, 1, null].map((code) => ({ restart, code })));
    const world = new World(
      supervisor(
        "top",
        { ...IN_ORDER, max_restarts: 0 },
        worker("first"),
        ...names.map(({ restart, code }) => worker(`${restart}-${code}`, { restart })),
        worker("last", { grace_ms: 2_000 }),
      ),
    ).apply();
    world.tempers.last = { stop_ms: 1_000 };
    world.ask("down", "top");
    for (const { restart, code } of names) world.exit(`${restart}-${code}`, code);
    expect(world.running()).toEqual(["first", "last"]);
    expect(world.pass(1_000).history.slice(-2)).toEqual(["-last", "-first"]);
    expect(world.phase("top")).toBe("terminated");
    expect(world.types()).not.toContain("supervisor_escalated");
  });
  it.each(["permanent", "transient", "temporary"] as const)(
    "sup_stop_non_shutdown_exit_dynamic: %s dynamic children that end with an error when they are stopped do not disturb it",
    (restart) => {
      const world = new World(supervisor("top", { strategy: "dynamic", max_restarts: 0 })).apply();
      for (const [n, stop_code] of [0, 1, 2, 143].entries()) {
        world.tempers[`c${n}`] = { stop_code };
        world.add("top", `c${n}`, { restart });
      }
      world.ask("down", "top");
      expect(world.running()).toEqual([]);
      expect(world.phase("top")).toBe("terminated");
      expect(world.types()).not.toContain("supervisor_escalated");
    },
  );
});
