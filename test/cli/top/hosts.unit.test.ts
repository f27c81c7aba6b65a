import { expect, it } from "vitest";
import { idAt, isOf, together } from "../../../src/cli/top/hosts.ts";
import { supervisorNode, workerNode, workerView } from "./samples.ts";

const viewOf = (id: string) => {
  const worker = workerView(id, { name: "fixer" });
  const root = supervisorNode("root", [supervisorNode("crew", [workerNode(worker)])]);
  return { root, workers: [worker], at_ms: 0 };
};
const [a, b] = [viewOf("A1"), viewOf("B1")];

it("the views of two hosts are one, whose names and supervisors bear their host", () => {
  const all = together([
    { host: "build", view: a },
    { host: "box", view: b },
  ]);
  expect(all?.workers.map(({ id }) => id)).toEqual(["A1", "B1"]);
  expect(all?.root.children).toMatchObject([
    { id: "build/crew", name: "build/crew", children: [{ id: "A1", name: "build/fixer" }] },
    { id: "box/crew", name: "box/crew", children: [{ id: "B1", name: "box/fixer" }] },
  ]);
  expect(together([])).toBeUndefined();
});

it("a row belongs to its host, which knows it by its own id", () => {
  expect([isOf("build", a, "A1"), isOf("box", b, "A1"), isOf("box", b, "box/crew")]).toEqual([
    true,
    false,
    true,
  ]);
  expect([idAt("build", "build/crew"), idAt("build", "A1"), idAt("", "A1")]).toEqual(["crew", "A1", "A1"]);
});
