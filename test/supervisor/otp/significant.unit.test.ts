/** supervisor_SUITE, group significant. A title begins with the name of its case. */
import { describe, expect, it } from "vitest";
import type { AutoShutdown } from "../../../src/protocol/tree.ts";
import type { RestartPolicy } from "../../../src/protocol/worker.ts";
import { supervisor, World, worker } from "../tree/world.ts";

const tree = (
  auto_shutdown: AutoShutdown,
  restart: RestartPolicy,
  significant: readonly boolean[] = [true, true, false],
) =>
  supervisor(
    "top",
    { auto_shutdown, max_restarts: 5 },
    ...["a", "b", "c"].map((name, index) =>
      worker(name, { restart, significant: significant[index] ?? false }),
    ),
  );
const up = (...given: Parameters<typeof tree>) => new World(tree(...given)).apply();
const everybody = ["a", "b", "c"];
const allDown = (world: World) => {
  expect(world.running()).toEqual([]);
  expect(world.phase("top")).toBe("terminated");
};

describe("not significant", () => {
  it.each(["never", "any", "all"] as const)(
    "nonsignificant_temporary: with auto_shutdown %s the end of a child that is not significant ends nobody else",
    (auto) => {
      const none = [false, false, false];
      expect(up(auto, "temporary", none).exit("a", 0).running()).toEqual(["b", "c"]);
      expect(up(auto, "temporary", none).exit("a", 1).running()).toEqual(["b", "c"]);
      expect(up(auto, "temporary", none).kill("a").running()).toEqual(["b", "c"]);
    },
  );
  it.each(["never", "any", "all"] as const)(
    "nonsignificant_transient: with auto_shutdown %s the end of a child that is not significant ends nobody else",
    (auto) => {
      const none = [false, false, false];
      expect(up(auto, "transient", none).exit("a", 0).running()).toEqual(["b", "c"]);
      expect(up(auto, "transient", none).exit("a", 1).running()).toEqual(everybody);
      expect(up(auto, "transient", none).kill("a").running()).toEqual(["b", "c"]);
    },
  );
});

describe("significant", () => {
  it("significant_temporary: any of them ends its supervisor by its end, all of them by the last one's; a kill by name does not", () => {
    expect(up("any", "temporary").kill("a").running()).toEqual(["b", "c"]);
    for (const code of [0, 1, null]) allDown(up("any", "temporary").exit("a", code));
    const all = up("all", "temporary").exit("a", 0);
    expect(all.running()).toEqual(["b", "c"]);
    allDown(all.exit("b", 0));
  });
  it("significant_transient: only a good end ends its supervisor; after a bad one it is started again", () => {
    expect(up("any", "transient").kill("a").running()).toEqual(["b", "c"]);
    for (const code of [1, null]) expect(up("any", "transient").exit("a", code).running()).toEqual(everybody);
    allDown(up("any", "transient").exit("a", 0));
    const all = up("all", "transient").exit("a", 0);
    expect(all.running()).toEqual(["b", "c"]);
    allDown(all.exit("b", 0));
  });
  it("significant_simple: a dynamic supervisor ends with a significant child too, where OTP refuses the combination", () => {
    const world = new World(supervisor("top", { strategy: "dynamic", auto_shutdown: "any" })).apply();
    world.add("top", "a", { restart: "temporary", significant: true }).add("top", "b");
    allDown(world.exit("a", 0));
  });
  it.each(
    (["one_for_one", "one_for_all", "rest_for_one"] as const).flatMap((strategy) =>
      (["any", "all"] as const).map((auto_shutdown) => ({ strategy, auto_shutdown })),
    ),
  )(
    "significant_bystander: $strategy, $auto_shutdown: a significant child that goes down with a sibling ends nobody",
    (config) => {
      const world = new World(
        supervisor(
          "top",
          { ...config, max_restarts: 5 },
          ...everybody.map((name) => worker(name, { restart: "transient", significant: name !== "b" })),
        ),
      ).apply();
      expect(world.exit("b").running()).toEqual(everybody);
      expect(world.phase("top")).toBe("running");
    },
  );
  it("significant_escalation: a significant supervisor that ends so ends its own supervisor, another one does not", () => {
    const nested = (significant: boolean) =>
      new World(
        supervisor(
          "top",
          { auto_shutdown: "any" },
          supervisor(
            "mid",
            { auto_shutdown: "any", restart: "transient", significant },
            worker("leaf", { restart: "transient", significant: true }),
          ),
          worker("b"),
        ),
      )
        .apply()
        .exit("mid/leaf", 0);
    allDown(nested(true));
    expect([nested(false).running(), nested(false).phase("mid")]).toEqual([["b"], "terminated"]);
  });
});

describe("a reload that changes what is significant", () => {
  const changed = (from: AutoShutdown, to: AutoShutdown) =>
    up(from, "transient").apply(tree(to, "transient"));
  const stays = (world: World) => expect(world.exit("a", 0).running()).toEqual(["b", "c"]);

  it("significant_upgrade_never_any: from then on the end of one ends its supervisor", () => {
    expect(changed("never", "any").running()).toEqual(everybody);
    allDown(changed("never", "any").exit("a", 0));
  });
  it("significant_upgrade_any_never: from then on it ends nobody", () => {
    stays(changed("any", "never"));
  });
  it("significant_upgrade_never_all: from then on the end of the last one ends its supervisor", () => {
    const world = changed("never", "all");
    stays(world);
    allDown(world.exit("b", 0));
  });
  it("significant_upgrade_all_never: from then on it ends nobody", () => {
    const world = changed("all", "never");
    stays(world);
    expect(world.exit("b", 0).running()).toEqual(["c"]);
  });
  it("significant_upgrade_any_all: from then on only the last one ends its supervisor", () => {
    const world = changed("any", "all");
    stays(world);
    allDown(world.exit("b", 0));
  });
  it("significant_upgrade_all_any: from then on the first one ends its supervisor", () => {
    allDown(changed("all", "any").exit("a", 0));
  });
  it("significant_upgrade_child: a child becomes significant, or is no more, without a restart", () => {
    const none = [false, false, false];
    const more = up("any", "transient", none).apply(tree("any", "transient"));
    expect(more.history).toEqual(["+a", "+b", "+c"]);
    allDown(more.exit("a", 0));
    stays(up("any", "transient").apply(tree("any", "transient", none)));
  });
});
