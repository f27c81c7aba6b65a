/** Whether a worker is placed anew, and where. */
import { describe, expect, it } from "vitest";
import { fateOf } from "../../src/cluster/fate.ts";
import type { NodeInView, NodeState, Placement } from "../../src/cluster/rows.ts";
import { nodeInView, placement } from "./support/rows.ts";

const node = (id: string, state: NodeState = "active", more: Partial<NodeInView> = {}): NodeInView =>
  nodeInView(id, { state, ...more });
const placed = (more: Partial<Placement> = {}): Placement =>
  placement({ node: "a", term: 1, starts: 1, ...more });
const fate = (worker: Placement, nodes: readonly NodeInView[]) => {
  const decided = fateOf(worker, nodes);
  return decided.type === "goes" ? decided.to.id : decided.type === "asks" ? `asks: ${decided.why}` : "stays";
};

describe("the fate of a worker", () => {
  const alone = placed({ node: null, node_term: null });
  it.each([
    ["its node lives", placed(), [node("a"), node("b")], "stays"],
    ["its node drains, and will release it", placed(), [node("a", "draining"), node("b")], "stays"],
    ["its node is dead", placed(), [node("a", "dead"), node("b")], "b"],
    ["its node came back under another term", placed(), [node("a", "active", { term: 2 })], "a"],
    [
      "it goes on without a lease",
      placed({ on_partition: "continue" }),
      [node("a", "dead"), node("b")],
      "asks: continues",
    ],
    [
      "its node came back with what went on",
      placed({ on_partition: "continue" }),
      [node("a", "active", { term: 2 }), node("b")],
      "stays",
    ],
    [
      "a person says that the machine is gone",
      placed({ on_partition: "continue" }),
      [node("a", "left"), node("b")],
      "b",
    ],
    ["it names no needs", placed({ needs: null }), [node("a", "dead"), node("b")], "asks: pinned"],
    [
      "it names no needs, and its node is back",
      placed({ needs: null }),
      [node("a", "active", { term: 2 }), node("b")],
      "a",
    ],
    ["it was killed", placed({ desired: "killed" }), [node("a", "dead"), node("b")], "stays"],
    ["it has ended", placed({ desired: "ended" }), [node("a", "dead"), node("b")], "stays"],
    [
      "no node has its labels",
      placed({ needs: { gpu: "1" } }),
      [node("a", "dead"), node("b")],
      "asks: nowhere",
    ],
    [
      "one node has its labels",
      { ...alone, needs: { gpu: "1" } },
      [node("a"), node("b", "active", { labels: { gpu: "1" } })],
      "b",
    ],
    ["all nodes are full", alone, [node("a", "active", { capacity: 0 })], "asks: full"],
    ["all nodes that are left drain", alone, [node("a", "draining")], "asks: nowhere"],
  ] as const)("%s", (_, placement, nodes, expected) => {
    expect(fate(placement, nodes)).toBe(expected);
  });

  it("is the node with the smallest share of its capacity in use", () => {
    const nodes = [
      node("a", "active", { capacity: 2, load: 1 }),
      node("b", "active", { capacity: 10, load: 1 }),
    ];
    expect(fate(alone, nodes)).toBe("b");
    expect(fate(alone, [node("b"), node("a")])).toBe("a");
  });
});
