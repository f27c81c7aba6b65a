import { expect, it } from "vitest";
import { type DrainedWorker, planDrain } from "../../src/cluster/drain.ts";
import { nodeInView } from "./support/rows.ts";

const worker = (name: string, more: Partial<DrainedWorker> = {}): DrainedWorker => ({
  worker: name,
  needs: {},
  is_once: false,
  ...more,
});
const box = nodeInView("box", { load: 9, capacity: 16 });

it("the workers of a node move as long as the others have room, and the rest is told with its reason", () => {
  const nodes = [box, nodeInView("a", { load: 3 }), nodeInView("b", { load: 4, labels: { gpu: "1" } })];
  const workers = [
    worker("first"),
    worker("job", { is_once: true }),
    worker("own", { needs: { node: "box" } }),
    worker("second"),
    worker("stays", { needs: null }),
    worker("train", { needs: { gpu: "1" } }),
  ];
  expect(planDrain("box", workers, nodes)).toEqual({
    moves: 1,
    stranded: [
      { name: "job", why: "once" },
      { name: "own", why: "nowhere" },
      { name: "second", why: "full" },
      { name: "stays", why: "pinned" },
      { name: "train", why: "full" },
    ],
  });
});

it.each(["draining", "dead", "left"] as const)("a node that is %s takes none of them", (state) => {
  expect(planDrain("box", [worker("w")], [box, nodeInView("a", { state })])).toEqual({
    moves: 0,
    stranded: [{ name: "w", why: "nowhere" }],
  });
});

it("a node without workers drains at once", () => {
  expect(planDrain("box", [], [box])).toEqual({ moves: 0, stranded: [] });
});
