/** A tree is split into what runs here and what a cluster places. */
import { expect, it } from "vitest";
import { splitTree } from "../../src/protocol/placed-tree.ts";
import { read, tree } from "../tree-file/support.ts";

it("a placed worker is taken out of the tree, and has the intensity of the top for itself", () => {
  const text = tree(
    "- { name: far, argv: [run], placement: { where: { gpu: 1 } } }\n- { name: near, argv: [run] }",
  );
  const { here, placed } = splitTree(read(text.replace("strategy: one_for_one", "intensity: 7/2m")).tree);
  expect(here.root.children.map(({ name }) => name)).toEqual(["near"]);
  expect(placed).toMatchObject([
    {
      name: "far",
      supervisor: "root",
      placement: { needs: { gpu: "1" } },
      max_restarts: 7,
      restart_period_ms: 120_000,
    },
  ]);
});

it("a tree without placed workers is as it was", () => {
  const { tree: whole } = read(tree("- { name: near, argv: [run] }"));
  expect(splitTree(whole)).toEqual({ here: whole, placed: [] });
});
