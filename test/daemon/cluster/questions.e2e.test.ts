/** A placed worker whose labels no node has asks a person: once in the whole cluster, and each node takes the answer. */
import { expect, it } from "vitest";
import { until } from "../../cli/support/commands.ts";
import { useClusters } from "./support/clusters.ts";
import type { ClusterMachine } from "./support/machines.ts";
import { linesAbout, withTarget } from "./support/told.ts";

interface Asked {
  readonly worker: string;
  readonly reason: string;
}

const { clusterOf } = useClusters();

const inboxOf = async (machine: ClusterMachine): Promise<readonly Asked[]> =>
  (await machine.agent("inbox")).data as unknown as readonly Asked[];

const asks = async (machine: ClusterMachine, name: string): Promise<boolean> =>
  (await inboxOf(machine)).some(({ worker }) => worker === name);

it("is one row of the inbox of each node, is told once, and ends by the node that it waits for", async () => {
  const cluster = await clusterOf("asked", ["a", "b", "c"], withTarget);
  const [a, b, c] = cluster.machines as [ClusterMachine, ClusterMachine, ClusterMachine];
  await a.agent(...cluster.canary("lost", "--where", "gpu=1", "--where", "zone=eu"));
  for (const machine of cluster.machines) {
    await until(() => asks(machine, "lost"));
    expect((await machine.agent("inbox")).data).toEqual([
      {
        id: "lost:placement",
        reason: "placement",
        worker: "lost",
        worker_id: null,
        supervisor: null,
        incarnation: null,
        question: expect.stringContaining("gpu=1"),
        needs: { gpu: "1", zone: "eu" },
        answers: ["wait", "anywhere", "kill"],
        since: expect.any(String),
        expires_at: null,
        otherwise: null,
        shared_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      },
    ]);
  }
  expect((await b.text("inbox")).stdout).toMatch(/^lost +wait\|anywhere\|kill /m);
  expect((await b.agent("inbox", "lost")).data).toMatchObject([{ id: "lost:placement" }]);
  expect(await b.agent("inbox", "nobody")).toMatchObject({ error: { code: "WORKER_NOT_FOUND" } });
  await until(() => linesAbout(cluster.machines, "lost").length > 0);

  await c.agent("cluster", "leave");
  await cluster.join(c, "--label", "gpu=1", "--label", "zone=eu");
  await until(() => cluster.sings("lost"));
  for (const machine of cluster.machines) expect(await inboxOf(machine)).toEqual([]);
  // It began here, so that a further question is another one.
  expect(linesAbout(cluster.machines, "lost")).toHaveLength(1);
  cluster.powerOff(c);
  for (const machine of [a, b]) await until(() => asks(machine, "lost"));
  await until(() => linesAbout([a, b], "lost").length + linesAbout([c], "lost").length === 2);
  await c.agent("daemon", "start");
  await until(() => cluster.starts("lost") === 2);
  expect(await inboxOf(a)).toEqual([]);
});

it("takes its answers at any node: to wait on, to run anywhere, and to end", async () => {
  const cluster = await clusterOf("answered", ["a", "b"]);
  const [a, b] = cluster.machines as [ClusterMachine, ClusterMachine];
  for (const name of ["waits", "roams", "ends", "stays"])
    await a.agent(...cluster.canary(name, "--where", "gpu=1"));
  for (const name of ["waits", "roams", "ends", "stays"]) await until(() => asks(b, name));
  const first = (await b.agent("inbox", "--limit", "3")).meta.cursor as string;
  expect((await b.agent("inbox", "--limit", "3", "--cursor", first)).data).toMatchObject([
    { worker: "waits" },
  ]);

  expect((await b.agent("answer", "waits", "wait")).data).toMatchObject({
    id: "waits",
    answer: "wait",
    effect: "updated",
  });
  expect(await asks(a, "waits")).toBe(false);
  expect((await a.agent("cluster", "status")).data.waiting).toContainEqual({ name: "waits", why: "nowhere" });
  expect(await a.agent("answer", "waits", "wait")).toMatchObject({
    exit: 6,
    error: { code: "INVALID_STATE" },
  });

  expect((await b.agent("answer", "roams:placement", "anywhere")).data).toMatchObject({ answer: "anywhere" });
  await until(() => cluster.sings("roams"));
  expect(await asks(b, "roams")).toBe(false);

  expect((await b.agent("answer", "ends", "kill")).data).toMatchObject({ answer: "kill" });
  expect(await asks(a, "ends")).toBe(false);
  expect((await a.agent(...cluster.canary("ends", "--where", "node=a"))).data).toMatchObject({ node: "a" });

  expect(await a.agent("answer", "stays", "continue")).toMatchObject({
    exit: 6,
    error: { code: "INVALID_STATE", suggestion: expect.stringContaining("wait|anywhere|kill") },
  });
  expect(await a.agent("answer", "nobody", "wait")).toMatchObject({ error: { code: "WORKER_NOT_FOUND" } });
});
