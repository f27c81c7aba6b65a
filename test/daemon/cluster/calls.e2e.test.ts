/** Commands about a worker that another node has: at any node they do what they do at its own (decision 0101). */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Runtime } from "../../../src/library/index.ts";
import { lives } from "../../chaos/support.ts";
import { until } from "../../cli/support/commands.ts";
import { AGENT } from "../../support/built.ts";
import { useClusters } from "./support/clusters.ts";
import type { ClusterMachine } from "./support/machines.ts";
import { rowsIn } from "./support/tables.ts";

type Pair = [ClusterMachine, ClusterMachine];

const { postgres, clusterOf, cuttableCluster } = useClusters();

const ECHOES = 'while read -r line; do echo "got $line"; done';
const on = (node: string, name: string, ...flags: readonly string[]): readonly string[] => [
  ...["spawn", "--where", `node=${node}`, "--restart", "transient", "--name", name, ...flags, "--"],
];
const rowsOf = <Row extends object>(database: string, question: string) =>
  rowsIn<Row>(`postgres://holdfast@localhost:${postgres().port}/${database}`, question);
const callsIn = (database: string) =>
  rowsOf<{ readonly life: string | null }>(database, "select life from call");
const stateOf = async (at: ClusterMachine, name: string) => (await at.agent("info", name)).data?.state;
const outputOf = async (at: ClusterMachine, name: string) => (await at.agent("output", name)).data?.text;

it("a worker of another node is looked at, talked to, paused, restarted and waited for from here", async () => {
  const cluster = await clusterOf("calls", ["a", "b"]);
  const [a, b] = cluster.machines as Pair;
  await a.agent(...on("b", "far", "--interactive"), "sh", "-c", ECHOES);
  // An answer of spawn may be ahead of the run.
  await until(async () => ((await b.agent("info", "far")).data?.pid ?? null) !== null);
  const { pid, id } = (await b.agent("info", "far")).data as { pid: number; id: string };
  expect((await a.agent("info", "far")).data).toMatchObject({ id, pid, state: "running", resources: {} });
  expect((await a.agent("info", id)).data).toMatchObject({ id, pid });

  expect(await a.agent("send", "far", "hello")).toMatchObject({ exit: 0, data: { effect: "created" } });
  await until(async () => (await outputOf(a, "far")) === "got hello\n");
  expect(await outputOf(b, "far")).toBe("got hello\n");
  expect((await a.agent("messages", "far")).data).toMatchObject([{ worker_id: id, bytes: 6 }]);
  await until(() => cluster.isCopied(b));
  expect((await a.text("info", "far")).stdout).toMatch(/pid +\d+[\s\S]*got hello/i);
  expect((await a.text("why", "far")).stdout).toContain("far");
  // Records come from the copy, also while the node lives.
  expect((await a.text("logs", "far", "-n", "1")).stdout).toContain("got hello");
  expect((await a.agent("logs", "far")).data).toMatchObject({ source: "copy", node: "b" });
  expect((await a.agent("search", "hello", "--worker", "far")).exit).toBe(0);

  expect((await a.agent("pause", "far", "--reason", "lunch")).data).toMatchObject({
    effect: "updated",
    results: [{ id, name: "far" }],
  });
  expect((await b.agent("info", "far")).data).toMatchObject({
    paused: [{ reason: "operator", detail: "lunch" }],
  });
  expect((await a.agent("pause", "far")).data).toMatchObject({ effect: "noop" });
  expect((await a.agent("unpause", "far")).exit).toBe(0);
  expect((await a.agent("restart", "far")).data).toMatchObject({ results: [{ effect: "updated" }] });
  await until(async () => (await a.agent("info", "far")).data.incarnation === 2);
  expect((await a.agent("usage", "far")).exit).toBe(0);

  const waiting = a.start(["-o", "json", "wait", "far"]);
  await until(async () => (await callsIn("calls")).length === 1);
  expect((await b.agent("send", "far", "--close")).exit).toBe(0);
  const { exit, stdout } = await waiting.ended;
  expect([exit, JSON.parse(stdout).data]).toMatchObject([0, { results: [{ id, status: "completed" }] }]);
  expect(await stateOf(a, "far")).toBe("completed");
  expect(await callsIn("calls")).toEqual([]);
});

it("one command about workers of several nodes is carried out by each, and its answer is in the order of its words", async () => {
  const cluster = await clusterOf("several", ["a", "b", "c"]);
  const [a] = cluster.machines as Pair;
  await a.agent(...on("b", "beta"), "sleep", "100000");
  await a.agent(...on("c", "gamma"), "sleep", "100000");
  await a.agent("spawn", "--name", "alpha", "--", "sleep", "100000");
  const paused = await a.agent("pause", "gamma", "alpha", "beta");
  expect(paused.data).toMatchObject({ results: [{ name: "gamma" }, { name: "alpha" }, { name: "beta" }] });
  const partly = await a.agent("unpause", "beta", "nobody", "alpha");
  expect(partly).toMatchObject({ error: { code: "PARTIAL_FAILURE" } });
  expect(partly.meta.partial).toMatchObject({
    results: [
      { name: "beta", ok: true },
      { id: "nobody", ok: false, error: { code: "WORKER_NOT_FOUND" } },
      { name: "alpha", ok: true },
    ],
  });
  expect(await a.agent("usage", "alpha", "beta")).toMatchObject({ error: { code: "INVALID_REQUEST" } });
  const waiting = a.start(["-o", "json", "wait", "alpha", "beta"]);
  for (const name of ["alpha", "beta"]) await a.agent("kill", name);
  expect((await waiting.ended).stdout).toContain('"name":"beta"');
  const jobs = await a.agent("jobs", "wait", "beta", "alpha");
  expect(jobs.meta.partial).toMatchObject({
    jobs: [
      { name: "beta", state: "canceled" },
      { name: "alpha", state: "canceled" },
    ],
  });
});

it("a wait goes on at the next node of its worker", async () => {
  const cluster = await clusterOf("moving", ["a", "b", "c"]);
  const [a] = cluster.machines as Pair;
  await a.agent(...cluster.canary("bird", "--on-partition", "stop"));
  const lost = await cluster.placed("bird");
  const asker = cluster.machines.find((machine) => machine !== lost)!;
  const waiting = asker.start(["-o", "json", "wait", "bird"]);
  await until(async () => (await callsIn("moving")).some(({ life }) => life !== null));
  cluster.powerOff(lost);
  await until(() => cluster.starts("bird") === 2);
  await asker.agent("kill", "bird");
  const { stdout } = await waiting.ended;
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: "WORKER_CANCELLED" } });
});

it("a worker of this machine is its own, whatever the cluster has of that name", async () => {
  const cluster = await clusterOf("own", ["a", "b"]);
  const [a, b] = cluster.machines as Pair;
  await a.agent("spawn", "--name", "bird", "--", "sleep", "100000");
  await b.agent(...on("b", "bird"), "sleep", "100000");
  const [here, there] = await Promise.all([a, b].map(async (at) => (await at.agent("info", "bird")).data.id));
  expect(here).not.toBe(there);
  expect((await a.agent("pause", "bird")).data).toMatchObject({ results: [{ id: here }] });
  expect(await stateOf(b, "bird")).toBe("running");
  await a.agent("kill", "bird");
  // A worker that has ended here has its name no longer, and its id always.
  expect((await a.agent("info", "bird")).data.id).toBe(there);
  expect((await a.agent("info", here as string)).data.id).toBe(here);
});

it("a secret in a request, or in the reason of a kill, does not reach the database", async () => {
  const cluster = await clusterOf("secret", ["a", "b"]);
  const [a, b] = cluster.machines as Pair;
  await a.agent(...on("b", "far", "--interactive"), "sh", "-c", ECHOES);
  const secret = "sk-ant-api03-0123456789abcdefghij";
  const told = await a.agent("send", "far", `the key is ${secret}`);
  expect(told).toMatchObject({ exit: 3, error: { code: "INVALID_REQUEST" } });
  expect(told.error?.suggestion).toContain("agent --host b send");
  expect((await b.agent("messages", "far")).data).toEqual([]);
  await a.agent("kill", "far", "--reason", `it printed ${secret}`);
  const [row] = await rowsOf<{ killer: { reason: string } }>("secret", "select killer from placement");
  expect(row!.killer.reason).toBe("it printed ***");
});

it("an agent asks no other node", async () => {
  const cluster = await clusterOf("agents", ["a", "b"]);
  const [a] = cluster.machines as Pair;
  await a.agent(...on("b", "far"), "sleep", "100000");
  const said = join(a.home, "said");
  const script = `${process.execPath} ${AGENT} -o json pause far >${said}.part 2>&1; mv ${said}.part ${said}`;
  await a.agent("spawn", "--name", "inside", "--", "sh", "-c", script);
  await until(async () => (await stateOf(a, "inside")) === "completed");
  expect(readFileSync(said, "utf8")).toContain("POLICY_VIOLATION");
  expect((await a.agent("info", "far")).data.paused).toBeUndefined();
});

it("a node that is lost in the middle is told, and one that stands still has done nothing", async () => {
  const cluster = await clusterOf("lost", ["a", "b"]);
  const [a, b] = cluster.machines as Pair;
  await a.agent(...on("b", "far", "--on-partition", "continue"), "sleep", "100000");
  const waiting = a.start(["-o", "json", "wait", "far"]);
  await until(async () => (await callsIn("lost")).some(({ life }) => life !== null));
  const pid = await b.daemonPid();
  process.kill(pid, "SIGSTOP");
  const still = await a.agent("pause", "far");
  expect(still).toMatchObject({ exit: 12, error: { code: "UNAVAILABLE" } });
  expect(still.error?.message).toContain("Nothing was done.");
  await until(() => waiting.err().includes("was lost before it answered"));
  await until(() => waiting.err().includes("which is dead"));
  process.kill(pid, "SIGCONT");
  await until(() => cluster.holdsLease(b));
  expect((await b.agent("info", "far")).data.paused).toBeUndefined();
  expect(lives((await b.agent("info", "far")).data.pid as number)).toBe(true);
  // The wait outlasts all of it.
  await b.agent("kill", "far");
  const { stdout } = await waiting.ended;
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: "WORKER_CANCELLED" } });
});

/** Longer than a node has for taking a request. */
const AWAY_MS = 11_000;

it("a database that is away takes nothing from what is here, and a wait outlasts it", async () => {
  const { cluster, way } = await cuttableCluster("calls_away", ["a", "b"]);
  const [a, b] = cluster.machines as Pair;
  await b.agent(...on("b", "far", "--interactive"), "sh", "-c", ECHOES);
  // A worker of the cluster has the name of a tree here.
  await b.agent(...on("b", "shop"), "sleep", "100000");
  const file = join(a.home, "shop.yaml");
  const children = [{ name: "till", argv: ["sleep", "100000"] }];
  writeFileSync(file, JSON.stringify({ version: 1, name: "shop", tree: { children } }));
  await a.agent("up", "-f", file);
  expect((await a.agent("pause", "shop")).exit).toBe(0);
  expect((await a.agent("info", "till")).data.paused).toBeDefined();
  expect((await b.agent("info", "shop")).data.paused).toBeUndefined();

  const runtime = await Runtime.connect({ stateDir: a.home });
  const waited = runtime.wait(["far"]);
  await until(async () => (await callsIn("calls_away")).some(({ life }) => life !== null));
  way.cut();
  const since = performance.now();
  const told = await a.agent("output", "far");
  expect(told).toMatchObject({ error: { code: "UNAVAILABLE" } });
  expect(told.error?.message).toContain("This machine has no worker far");
  expect((await a.agent("unpause", "shop")).exit).toBe(0);
  const nobody = await a.agent("approvals", "approve", "01ARZ3NDEKTSV4RRFFQ69G5FAV");
  expect(nobody.error?.message).toContain("This machine has no worker");
  await until(() => performance.now() - since > AWAY_MS);
  way.mend();
  await b.agent("send", "far", "--close");
  expect(await waited).toMatchObject([{ status: "completed" }]);
  await runtime.close();
});

it("a node that cannot read its file still answers for its own workers", async () => {
  const cluster = await clusterOf("damaged", ["a"]);
  const [a] = cluster.machines as Pair;
  await a.agent("spawn", "--name", "bird", "--", "sleep", "100000");
  await a.killDaemon();
  writeFileSync(join(a.home, "cluster.json"), "no JSON");
  await a.agent("daemon", "start");
  expect((await a.agent("pause", "bird")).exit).toBe(0);
  expect((await a.agent("info", "nobody")).error?.code).toBe("WORKER_NOT_FOUND");
});
