/** Children that nothing orders start and stop side by side; all others keep their order (docs/decisions/0037). */
import { describe, expect, it } from "vitest";
import { TREE_STARTS_MAX, TREE_STOPS_MAX } from "../../../src/base/limits.ts";
import { plan } from "../../../src/supervisor/tree/plan.ts";
import { supervisor, World, worker } from "./world.ts";

type Top = ConstructorParameters<typeof World>[0];

/** Nothing that is commanded happens: ids that were told to start, in the order of the commands. */
const told = (top: Top): readonly string[] => {
  const world = new World(top);
  world.paused = true;
  return [...world.apply().tree.launching];
};
/** All are up, ignore TERM, and are taken down: those that are told to stop, in the order of their records. */
const stopped = (top: Top): readonly string[] => {
  const world = new World(top).apply();
  for (const id of world.running()) world.tempers[id] = { stubborn: true };
  return stopsIn(world.ask("down", "top"));
};
const stopsIn = ({ log }: World): readonly string[] =>
  log.flatMap(({ draft }) => (draft.type === "worker_cancel_requested" ? [draft.worker_id as string] : []));

const many = (count: number) =>
  supervisor("top", {}, ...Array.from({ length: count }, (_, n) => worker(`w${n}`)));
const ready = { ready: { log: "up", within_ms: 60_000 } };
const [a, b, c] = [worker("a"), worker("b"), worker("c")] as const;

describe("starts", () => {
  it("of one_for_one are commanded at once, left to right", () => {
    expect(told(supervisor("top", {}, a, b, c))).toEqual(["a", "b", "c"]);
  });
  it.each(["one_for_all", "rest_for_one"] as const)("of %s are one after another", (strategy) => {
    expect(told(supervisor("top", { strategy }, a, b, c))).toEqual(["a"]);
  });
  it("wait for a child with a condition, which waits for nobody itself", () => {
    const top = supervisor("top", {}, a, worker("slow", ready), c);
    expect(told(top)).toEqual(["a", "slow"]);
    const world = new World(top).apply();
    expect(world.history).toEqual(["+a", "+slow"]);
    expect(world.ready("slow").history).toEqual(["+a", "+slow", "+c"]);
  });
  it("wait for what they depend on, and no later one comes before them", () => {
    expect(told(supervisor("top", {}, a, b, worker("d", {}, ["a"]), c))).toEqual(["a", "b"]);
  });
  it("of a supervisor come after those before it, and before those behind it", () => {
    const top = supervisor("top", {}, a, supervisor("crew", {}, worker("x"), worker("y")), c);
    expect(told(top)).toEqual(["a"]);
    expect(new World(top).apply().history).toEqual(["+a", "+crew/x", "+crew/y", "+c"]);
  });
  it("are so many at once, and the next as others are up", () => {
    const top = many(2 * TREE_STARTS_MAX);
    expect(told(top)).toHaveLength(TREE_STARTS_MAX);
    expect(new World(top).apply().phase("top")).toBe("running");
  });
  it("pass a child that waits between two incarnations", () => {
    const slow = { backoff_min_ms: 60_000, backoff_max_ms: 60_000 };
    const world = new World(supervisor("top", {}, worker("a", slow), b)).apply();
    world.tempers.a = { unstartable: true };
    world.ask("restart", "top");
    expect([world.state("a"), world.running(), world.phase("top")]).toEqual([
      "backing_off",
      ["b"],
      "restarting",
    ]);
  });
  it("that fail stop those beside them, and the supervisor does not come up", () => {
    const world = new World(supervisor("top", {}, a, b, c));
    world.tempers.b = { unstartable: true };
    expect(world.apply().history).toEqual(["+a", "-a"]);
    expect([world.phase("top"), world.running()]).toEqual(["terminated", []]);
    expect(world.types()).not.toContain("supervisor_restart_scheduled");
  });
  it("go on after a crash: what is on its way is not begun twice", () => {
    const world = new World(supervisor("top", {}, a, b, c));
    world.paused = true;
    world.apply().worker("a", { type: "begin", incarnation: 1, reason: "spawn" }).crash();
    world.paused = false;
    world.input({ type: "plan" });
    expect(world.history).toEqual(["+b", "+c"]);
    expect(plan(world.tree, world.now_ms)).toBeUndefined();
  });
});

describe("stops", () => {
  it("of one_for_one are told at once, right to left, each with its own grace", () => {
    expect(stopped(supervisor("top", {}, a, b, c))).toEqual(["c", "b", "a"]);
    const world = new World(supervisor("top", {}, a, worker("b", { grace_ms: 1_000 }), c)).apply();
    world.tempers.b = { stubborn: true };
    expect(world.ask("down", "top").history.slice(3)).toEqual(["-c", "-a"]);
    expect(world.pass(1_000).history.slice(5)).toEqual(["-b!"]);
    expect(world.types().at(-1)).toBe("tree_removed");
  });
  it.each(["one_for_all", "rest_for_one"] as const)("of %s are one after another", (strategy) => {
    expect(stopped(supervisor("top", { strategy }, a, b, c))).toEqual(["c"]);
  });
  it("of what others depend on come after those", () => {
    expect(stopped(supervisor("top", {}, a, b, worker("d", {}, ["b"]), c))).toEqual(["c", "d"]);
  });
  it("of a child with a condition come after those behind it", () => {
    const world = new World(supervisor("top", {}, a, worker("slow", ready), c)).apply().ready("slow");
    for (const id of world.running()) world.tempers[id] = { stubborn: true };
    expect(stopsIn(world.ask("down", "top"))).toEqual(["c"]);
  });
  it("of a supervisor come after those behind it, and before those before it", () => {
    const crew = supervisor("crew", {}, worker("x"), worker("y"));
    expect(stopped(supervisor("top", {}, a, crew, b, c))).toEqual(["c", "b"]);
    expect(stopped(supervisor("top", {}, a, crew))).toEqual(["crew/y", "crew/x"]);
  });
  it("are so many at once, and all in the end", () => {
    const top = many(TREE_STOPS_MAX + 10);
    expect(stopped(top)).toHaveLength(TREE_STOPS_MAX);
    expect(new World(top).apply().ask("down", "top").types().at(-1)).toBe("tree_removed");
  });
});
