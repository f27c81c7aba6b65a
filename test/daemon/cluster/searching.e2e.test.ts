/** A search at a node finds records of the other nodes' placed workers in the copy, also of a machine that is lost. */
import { expect, it } from "vitest";
import { until } from "../../cli/support/commands.ts";
import { useClusters } from "./support/clusters.ts";
import type { ClusterMachine } from "./support/machines.ts";

const { clusterOf } = useClusters();

interface Hit {
  readonly worker_name: string | null;
  readonly node?: string;
  readonly text: string;
}

/** The hits of this machine, and those of the others. */
const searched = async (machine: ClusterMachine, ...words: readonly string[]) => {
  const { data, meta, error } = await machine.agent("search", ...words);
  const hits = (data ?? []) as unknown as readonly Hit[];
  const elsewhere = (meta.elsewhere ?? []) as unknown as readonly Hit[];
  return { error, here: hits, elsewhere };
};

const prints = (text: string): readonly string[] => [
  "sh",
  "-c",
  `printf '%b\\n' '${text}'; exec sleep 100000`,
];

const on = (node: string, name: string): readonly string[] => [
  "spawn",
  "--where",
  `node=${node}`,
  "--name",
  name,
  "--",
];

it("finds what only the copy has, says whose it is, and knows the rules of words", async () => {
  const cluster = await clusterOf("searched", ["a", "b", "c"]);
  const [a, b, c] = cluster.machines as [ClusterMachine, ClusterMachine, ClusterMachine];
  await a.agent("spawn", "--name", "near", "--", ...prints("a needle of near"));
  await a.agent(...on("b", "far"), ...prints("the Needle of far, in a café"));
  await a.agent(...on("b", "other"), ...prints("needles alone, said two words"));
  await b.agent("spawn", "--name", "own", "--", ...prints("a needle of own"));
  await until(async () => (await searched(b, "needle", "--type", "TextOutput")).here.length === 2);
  await until(() => cluster.isCopied(b));

  const { here, elsewhere } = await searched(a, "needle", "--type", "TextOutput");
  expect(here).toMatchObject([{ worker_name: "near" }]);
  expect(elsewhere).toMatchObject([
    { worker_name: "far", node: "b", node_state: "active", kind: "TextOutput", marks: [[4, 10]] },
  ]);
  // The log of the node itself has these.
  expect((await searched(b, "needle", "--type", "TextOutput")).elsewhere).toEqual([]);

  cluster.powerOff(b);
  await until(async () => {
    const found = await searched(c, "needle", "--type", "TextOutput");
    return (found.elsewhere as readonly { node_state?: string }[])[0]?.node_state === "dead";
  });
  const namesAt = async (...words: readonly string[]) =>
    (await searched(c, ...words, "--type", "TextOutput")).elsewhere.map(({ worker_name }) => worker_name);
  expect(await namesAt("need*")).toEqual(["other", "far"]);
  expect(await namesAt("CAFE", "needle")).toEqual(["far"]);
  expect(await namesAt('"two words"')).toEqual(["other"]);
  expect(await namesAt('"words two"')).toEqual([]);
  expect(await namesAt("need*", "--limit", "1")).toEqual(["other"]);
  expect(await namesAt("need*", "--worker", "far")).toEqual(["far"]);
  expect(await searched(c, "needle", "--worker", "nobody")).toMatchObject({
    error: { code: "WORKER_NOT_FOUND" },
  });
  const { stdout, stderr } = await c.text("search", "need*", "--type", "TextOutput", "--limit", "1");
  expect(stdout).toMatch(/^On other nodes, .*\n.* b\/other\.1 +TextOutput +\[needles\] alone/);
  expect(stderr).toContain("Other nodes may have more records");
  expect((await a.text("search", "needle", "--type", "TextOutput")).stdout).toMatch(
    /near.*\n\nOn other nodes, .*\n.* b\/far/,
  );
});
