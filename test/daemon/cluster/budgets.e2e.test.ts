/** The budget of a placed worker is one over all machines on which it runs: it moves with it, and a person raises it at any of them. */
import { expect, it } from "vitest";
import { until } from "../../cli/support/commands.ts";
import { useClusters } from "./support/clusters.ts";
import type { ClusterMachine } from "./support/machines.ts";

const LINE_BYTES = 100;
const LINES = 400;
const BUDGET_BYTES = 100_000;
/** A machine holds at most two portions that its worker has not spent. */
const LOST_BYTES_MAX = (2 * BUDGET_BYTES) / 16;

const { clusterOf } = useClusters();

/** Each of its runs writes forty kilobytes, and then lives on. */
const WRITES = ["sh", "-c", `yes ${"x".repeat(LINE_BYTES - 1)} | head -n ${LINES}; exec sleep 100000`];

interface ShownBudget {
  readonly state: string;
  readonly spent: { readonly output_bytes: number };
  readonly bounds: { readonly output_bytes: number };
}

const budgetAt = async (machine: ClusterMachine): Promise<ShownBudget | undefined> => {
  const { data } = await machine.agent("info", "spender");
  return (data?.budgets as readonly ShownBudget[] | undefined)?.[0];
};

const hasSpent = (machine: ClusterMachine, bytes: number) => async (): Promise<boolean> =>
  ((await budgetAt(machine))?.spent.output_bytes ?? 0) >= bytes;

it("a worker that moves spends what is left, what a lost machine had counts, and a person raises it for all", async () => {
  const cluster = await clusterOf("budgets", ["a", "b"]);
  const [a, b] = cluster.machines as [ClusterMachine, ClusterMachine];
  const run = LINE_BYTES * LINES;
  await b.agent("drain", "b");
  const words = ["--restart", "transient", "--on-partition", "stop", "--budget", `output=${BUDGET_BYTES}`];
  const placed = await a.agent("spawn", "--name", "spender", ...words, "--", ...WRITES);
  expect(placed.data).toMatchObject({ node: "a" });
  await until(hasSpent(a, run));
  expect(await budgetAt(a)).toMatchObject({ state: "open", bounds: { output_bytes: BUDGET_BYTES } });

  await b.agent("drain", "b", "--undo");
  cluster.powerOff(a);
  await until(hasSpent(b, 2 * run));
  const moved = await budgetAt(b);
  expect(moved).toMatchObject({ state: "open", bounds: { output_bytes: BUDGET_BYTES } });
  expect(moved!.spent.output_bytes).toBeLessThanOrEqual(2 * run + LOST_BYTES_MAX);

  // Back on the first machine it has not enough for a third run, which no machine alone would notice.
  await a.agent("daemon", "start");
  await until(() => cluster.holdsLease(a));
  await a.agent("drain", "b");
  await until(async () => ((await a.agent("inbox")).data as unknown as readonly unknown[]).length > 0);
  expect((await a.agent("inbox")).data).toMatchObject([
    { worker: "spender", reason: "budget", answers: ["continue", "stop"] },
  ]);
  expect(await budgetAt(a)).toMatchObject({ state: "asked", bounds: { output_bytes: BUDGET_BYTES } });
  await a.agent("answer", "spender", "continue");
  await until(hasSpent(a, 3 * run));
  expect(await budgetAt(a)).toMatchObject({ state: "open", bounds: { output_bytes: 2 * BUDGET_BYTES } });

  // A worker that is placed anew has its budget anew.
  await a.agent("kill", "spender");
  expect((await a.agent("spawn", "--name", "spender", ...words, "--", ...WRITES)).data).toMatchObject({
    node: "a",
  });
  await until(hasSpent(a, run));
  expect(await budgetAt(a)).toMatchObject({ state: "open", bounds: { output_bytes: BUDGET_BYTES } });
});
