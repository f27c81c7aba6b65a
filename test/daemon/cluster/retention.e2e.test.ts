/** Old days of the copy are dropped as a person says, and a worker that runs for longer than that still moves with what it had. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { expect, it, onTestFinished } from "vitest";
import { CLUSTER_COPY_CLOCK_AHEAD_MAX_MS, CLUSTER_COPY_KEEP_DAYS_DEFAULT } from "../../../src/base/limits.ts";
import { SCHEMA } from "../../../src/cluster/postgres/schema.ts";
import { until } from "../../cli/support/commands.ts";
import { ageCopy } from "../../cluster/support/aged.ts";
import { useClusters } from "./support/clusters.ts";
import type { ClusterOfMachines } from "./support/machines.ts";

/** Claude Code, as far as its sessions go. It ends by SIGKILL in the middle of the first prompt that begins with "crash". */
const AGENT = fileURLToPath(new URL("../../fixtures/agents/remembers.mjs", import.meta.url));

const { postgres, clusterOf } = useClusters();

const tables = async (name: string): Promise<pg.Client> => {
  const url = postgres()
    .url()
    .replace(/[^/]+$/, name);
  const client = new pg.Client({ connectionString: url, options: `-c search_path=${SCHEMA}` });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
};
const recordsOf = async (client: pg.Client, before: number): Promise<number> =>
  (await client.query("select from record where seq <= $1", [before])).rowCount ?? 0;

it("a worker whose records are all dropped goes on elsewhere with its session and its restarts", async () => {
  const dir = mkdtempSync(join(tmpdir(), "holdfast-retained-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const cluster = await clusterOf("retained", ["a", "b"]);
  const [a, b] = cluster.machines as [ClusterOfMachines["machines"][0], ClusterOfMachines["machines"][0]];
  await a.agent("drain", "b");
  const agent = [`CLAUDE_BINARY=${AGENT}`, `CLAUDE_CONFIG_DIR=${join(dir, "sessions")}`];
  const flags = ["--on-partition", "stop", "--max-restarts", "1/1h", "--restart", "transient"];
  const words = [...flags, "--backoff", "100s..100s", ...agent.flatMap((each) => ["-e", each])];
  await a.agent("spawn", "claude", "crash read", "--name", "talks", ...words);
  const info = async (machine: typeof a) => (await machine.agent("info", "talks")).data;
  await until(async () => (await info(a)).state === "backing_off");
  const { session_id } = await info(a);
  await until(() => cluster.isCopied(a));

  const client = await tables("retained");
  const { head } = (await a.agent("daemon", "status")).data as { head: number };
  await ageCopy(client, 40);
  expect(await recordsOf(client, head)).toBeGreaterThan(0);
  const url = postgres()
    .url()
    .replace(/[^/]+$/, "retained");
  const made = await b.agent("cluster", "init", url, "--keep-days", "39");
  expect(made.data).toMatchObject({ keep_days: 39, dropped_days: 1, effect: "updated" });
  expect((await b.agent("cluster", "init", url)).data).toMatchObject({ keep_days: 39, effect: "noop" });
  expect((await a.agent("cluster", "status")).data.keep_days).toBe(39);
  expect((await a.text("cluster", "status")).stdout).toContain("The copy keeps 39 days");

  await a.agent("drain", "b", "--undo");
  cluster.powerOff(a);
  await until(async () => (await info(b))?.state === "completed");
  expect(await info(b)).toMatchObject({ session_id, incarnation: 1 });
  expect((await b.agent("output", "talks")).data.text).toBe("crash read / crash read");
});

it("a node drops old days by itself, and copies on", async () => {
  const cluster = await clusterOf("tended", ["a"]);
  const [a] = cluster.machines as [ClusterOfMachines["machines"][0]];
  await until(() => cluster.isCopied(a));
  const client = await tables("tended");
  const { head } = (await a.agent("daemon", "status")).data as { head: number };
  await ageCopy(client, CLUSTER_COPY_KEEP_DAYS_DEFAULT + 1);
  // An hour goes by, and a node looks a short time after its start.
  await client.query("update copy_rule set tended_at = tended_at - interval '1 hour'");
  await a.killDaemon();
  await a.agent("daemon", "start");
  await until(async () => (await recordsOf(client, head)) === 0);
  await a.agent("spawn", "--wait", "--", "echo", "more");
  await until(() => cluster.isCopied(a));
  expect(await recordsOf(client, Number.MAX_SAFE_INTEGER)).toBeGreaterThan(0);
});

it("a node for which the database's clock is days ahead drops nothing, and says so", async () => {
  const shift_ms = -2 * CLUSTER_COPY_CLOCK_AHEAD_MAX_MS;
  const cluster = await clusterOf("ahead", ["slow"], undefined, { slow: { shift_ms } });
  const [slow] = cluster.machines as [ClusterOfMachines["machines"][0]];
  await until(() => cluster.isCopied(slow));
  const client = await tables("ahead");
  const { head } = (await slow.agent("daemon", "status")).data as { head: number };
  const before = await recordsOf(client, head);
  await ageCopy(client, CLUSTER_COPY_KEEP_DAYS_DEFAULT + 1);
  await client.query("update copy_rule set tended_at = tended_at - interval '1 hour'");
  await slow.killDaemon();
  await slow.agent("daemon", "start");
  const why = async () =>
    ((await slow.agent("cluster", "status")).data.self as { copy: { drop_failing: string | null } }).copy
      .drop_failing;
  await until(async () => (await why()) !== null);
  expect(await why()).toContain("The clock of the database is 2d ahead of this node's");
  expect((await slow.text("cluster", "status")).stdout).toContain("The clock of the database is 2d ahead");
  expect(await recordsOf(client, head)).toBe(before);
});
