/** The records of a worker on a machine that is lost are read from the cluster's copy, at any node. */
import pg from "pg";
import { expect, it } from "vitest";
import { CLUSTER_COPY_ANSWER_MS, READ_PAGE_RECORDS } from "../../../src/base/limits.ts";
import { until } from "../../cli/support/commands.ts";
import { useClusters } from "./support/clusters.ts";
import { ClusterOfMachines } from "./support/machines.ts";

const LINES = READ_PAGE_RECORDS + 100;

const { postgres, clusterOf } = useClusters();

it("logs of a worker whose machine is lost come from the copy, and say so", async () => {
  const cluster = await clusterOf("copied", ["a", "b"]);
  const [a, b] = cluster.machines as [ClusterOfMachines["machines"][0], ClusterOfMachines["machines"][0]];
  const script = `n=0; while [ $n -lt ${LINES} ]; do n=$((n+1)); echo line $n; done; exec sleep 100000`;
  const pinned = ["spawn", "--where", "node=b", "--name", "tells", "--restart", "permanent"];
  const { id } = (await a.agent(...pinned, "--", "sh", "-c", script)).data;
  const outputOf = (stdout: string): string => {
    const records = stdout
      .trimEnd()
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as { worker_id: string; payload: { text?: string } });
    for (const { worker_id } of records) expect(worker_id).toBe(id);
    return records.map(({ payload }) => payload.text ?? "").join("");
  };
  const all = Array.from({ length: LINES }, (_, at) => `line ${at + 1}\n`).join("");
  await until(async () => (await b.agent("logs", "tells")).stdout.includes(`line ${LINES}\\n`));
  await until(() => cluster.isCopied(b));
  const there = await b.agent("logs", "tells");
  expect(there.data.source).toBeUndefined();

  cluster.powerOff(b);
  await until(async () => {
    const { nodes } = (await a.agent("cluster", "status")).data as {
      nodes: { name: string; state: string }[];
    };
    return nodes.find(({ name }) => name === "b")?.state === "dead";
  });
  const told = await a.agent("logs", "tells");
  expect(told.exit).toBe(0);
  expect(told.data).toMatchObject({
    source: "copy",
    name: "tells",
    id,
    node: "b",
    node_state: "dead",
    records: there.data.records,
  });
  expect(told.data.through).toBeGreaterThanOrEqual(there.data.next as number);
  expect(told.data.beat_age_ms).toBeGreaterThan(0);
  expect(told.warnings.join()).toContain("These records are from the cluster's copy");
  expect(outputOf(told.stdout)).toBe(all);
  expect(outputOf(told.stdout)).toBe(outputOf(there.stdout));

  const newest = await a.agent("logs", id as string, "--tail", "3");
  expect(newest.stdout.trimEnd().split("\n").slice(0, -1)).toEqual(
    told.stdout.trimEnd().split("\n").slice(-4, -1),
  );
  const shown = await a.text("logs", "tells", "-n", "2");
  expect(shown.stdout).toContain(`line ${LINES}`);
  expect(shown.stderr).toContain("of the node b, which is dead");
  expect(await a.agent("logs", "nobody")).toMatchObject({ exit: 5, error: { code: "WORKER_NOT_FOUND" } });
});

it("logs from the copy do not wait for a database that does not answer", async () => {
  const url = await postgres().database("copied_held");
  const cluster = await ClusterOfMachines.start(() => url, ["a", "b"]);
  const holder = new pg.Client(url);
  try {
    const [a] = cluster.machines;
    await a!.agent(
      "spawn",
      "--where",
      "node=b",
      "--name",
      "tells",
      "--",
      "sh",
      "-c",
      "echo once; exec sleep 100000",
    );
    await until(async () => (await a!.agent("logs", "tells")).stdout.includes("once"));
    await holder.connect();
    await holder.query("begin; lock table holdfast_cluster.record in access exclusive mode");
    const held = await a!.agent("logs", "tells");
    await holder.query("rollback");
    expect(held).toMatchObject({ exit: 12, error: { code: "UNAVAILABLE" } });
    expect(held.error?.message).toBe(
      `This machine has no worker tells, and the cluster gives no answer: The database gave no answer within ${CLUSTER_COPY_ANSWER_MS} ms.`,
    );
    await until(async () => (await a!.agent("logs", "tells")).stdout.includes("once"));
  } finally {
    await holder.end();
    await cluster.close();
  }
});
