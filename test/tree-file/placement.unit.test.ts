/** `placement:` of a worker: what it says, how hosts and includes change it, and what is refused. */

import { describe, expect, it } from "vitest";
import { CLUSTER_TREE_BUDGET_WORKERS_MAX } from "../../src/base/limits.ts";
import { problemsOf, read, specAt, tree } from "./support.ts";

const placed = (more = ""): string =>
  tree(
    `- { name: far, argv: [run], placement: { where: { gpu: 1 } }${more} }\n- { name: near, argv: [run] }`,
  );

describe("the placement of a worker", () => {
  it("has labels as they are written, and stops in a partition", () => {
    const file = read(placed());
    expect(specAt(file, "far").placement).toEqual({ needs: { gpu: "1" }, on_partition: "stop" });
    expect(specAt(file, "near")).not.toHaveProperty("placement");
  });

  it("is any node without labels", () => {
    const file = read(tree("- { name: far, argv: [run], placement: { on_partition: continue } }"));
    expect(specAt(file, "far").placement).toEqual({ needs: {}, on_partition: "continue" });
    expect(specAt(read(tree("- { name: far, argv: [run], placement: {} }")), "far").placement).toEqual({
      needs: {},
      on_partition: "stop",
    });
  });

  it("takes variables, and an anchor gives it to several workers", () => {
    const text = `version: 1
variables: { GPU: "2" }
tree:
  children:
    - { name: one, argv: [run], placement: &gpu { where: { gpu: "\${GPU}" } } }
    - { name: two, argv: [run], placement: *gpu }
`;
    const file = read(text, { vars: { GPU: "3" } });
    expect(["one", "two"].map((name) => specAt(file, name).placement?.needs)).toEqual([
      { gpu: "3" },
      { gpu: "3" },
    ]);
  });

  it("is merged key by key by a host and an include, and null takes it away", () => {
    const text = (patch: string): string => `version: 1
hosts: { laptop: { nodes: { far: { placement: ${patch} } } } }
tree:
  children:
    - { include: far.yaml, placement: { on_partition: continue } }
`;
    const files = { "far.yaml": "{ name: far, argv: [run], placement: { where: { gpu: 1, os: linux } } }" };
    const on = (patch: string, host: string) => specAt(read(text(patch), { files, host }), "far").placement;
    expect(on("{ where: { gpu: 2, os: null } }", "laptop")).toEqual({
      needs: { gpu: "2" },
      on_partition: "continue",
    });
    expect(on("{ where: { gpu: 2 } }", "desk")?.needs).toEqual({ gpu: "1", os: "linux" });
    expect(on("null", "laptop")).toBeUndefined();
  });
});

const FAR = "{ name: far, argv: [run], placement: {}";

describe("refused, each by one sentence:", () => {
  it.each([
    ["placement: 3", 'placement needs labels of nodes, as in { where: { gpu: "1" } }, not 3'],
    ["placement: { where: [gpu] }", 'placement.where needs labels and values, as in { gpu: "1" }'],
    ["placement: { where: { gpu: a b } }", "placement.where.gpu has letters, digits, '.', '_' and '-'"],
    ["placement: { where: { g u: a } }", "placement.where.g u is not a valid label"],
    ["placement: { wher: {} }", 'placement has no "wher"; did you mean where?'],
    ["placement: { on_partition: stopp }", "placement.on_partition is one of stop, continue"],
  ])("%s", (key, sentence) => {
    const problems = problemsOf(tree(`- { name: far, argv: [run], ${key} }`));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(sentence);
  });

  it.each(["one_for_all", "rest_for_one"])("strategy %s", (strategy) => {
    expect(problemsOf(tree(`- ${FAR} }`, strategy))).toEqual([
      `holdfast.yaml:3:3: strategy ${strategy} restarts siblings together, and a worker with placement may run on another node; use one_for_one.`,
    ]);
  });

  it.each([
    ["decay: 1m", "decay does not count the restarts of a worker with placement"],
    ["auto_shutdown: any", "auto_shutdown ends all children"],
  ])("%s of the top supervisor", (key, sentence) => {
    const text = `version: 1\ntree:\n  ${key}\n  children:\n    - ${FAR} }\n`;
    const problems = problemsOf(text);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(`holdfast.yaml:3:3: ${sentence}`);
    // Without a placed worker it means what it always did.
    expect(read(text.replace(", placement: {}", "")).tree.root.children).toHaveLength(1);
  });

  it("budget of the top supervisor with more placed workers than can share one", () => {
    const at = (workers: number): string =>
      `version: 1\ntree:\n  budget: usd=5\n  children:\n${Array.from({ length: workers }, (_, at) => `    - { name: far-${at}, argv: [run], placement: {} }\n`).join("")}`;
    expect(problemsOf(at(CLUSTER_TREE_BUDGET_WORKERS_MAX + 1))).toEqual([
      `holdfast.yaml:3:3: budget is shared by at most ${CLUSTER_TREE_BUDGET_WORKERS_MAX} workers with placement; give a budget to each worker.`,
    ]);
    expect(read(at(CLUSTER_TREE_BUDGET_WORKERS_MAX)).tree.root.config.budget).toEqual({ usd: 5 });
  });

  it.each([
    [
      `- ${FAR}, depends_on: [near] }\n- { name: near, argv: [run] }`,
      "depends_on orders workers of one machine",
    ],
    [
      `- ${FAR} }\n- { name: near, argv: [run], depends_on: far }`,
      "far has a placement, so nobody here sees it start",
    ],
    [`- ${FAR}, ready: { log: up } }`, "ready is what the next child waits for"],
    [`- { name: crew, children: [${FAR} }] }`, "placement is for a child of the top supervisor"],
    ["- { name: crew, placement: {}, children: [] }", "a supervisor has no placement; that is for a worker"],
  ])("%s", (children, sentence) => {
    const problems = problemsOf(tree(children));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(sentence);
  });

  it("a significant worker, of which the tree would not see the end", () => {
    const text = `version: 1\ntree:\n  auto_shutdown: any\n  children:\n    - ${FAR}, significant: true, restart: transient }\n`;
    expect(problemsOf(text).join()).toContain("significant ends the supervisor");
  });

  it("a schedule with a place", () => {
    const text = `version: 1\nschedules:\n  - { name: nightly, cron: "@daily", argv: [run], placement: {} }\n`;
    expect(problemsOf(text).join()).toContain("a schedule starts its workers on the machine of its daemon");
  });
});
