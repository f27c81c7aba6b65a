/** The nodes of a cluster as hosts of a call: what this machine's daemon is asked, and what is made of its answer. */
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, expect, it } from "vitest";
import { HoldfastError } from "../../src/protocol/errors.ts";
import type { ClusterNodeView, ClusterStatus } from "../../src/protocol/replies/cluster.ts";
import { AGENT, assertBuilt } from "../support/built.ts";
import { agent } from "./support/agent.ts";
import { type Answerer, type FakeDaemon, fakeDaemon } from "./support/fake-daemon.ts";
import { worker } from "./support/samples.ts";

beforeAll(() => {
  assertBuilt();
  process.setMaxListeners(0);
});
const daemons: FakeDaemon[] = [];
const bins: string[] = [];
afterEach(async () => {
  await Promise.all(daemons.splice(0).map((daemon) => daemon.close()));
  for (const bin of bins.splice(0)) rmSync(bin, { recursive: true });
});

const list: Answerer = () => ({ workers: [worker()], total: 1 });

const daemonWith = async (answers: Readonly<Record<string, Answerer>> = {}): Promise<FakeDaemon> => {
  const daemon = await fakeDaemon({ "agent/list": list, ...answers });
  daemons.push(daemon);
  return daemon;
};
/** `agent` is a word of the path there. */
const endpointOf = ({ stateDir }: FakeDaemon): string => {
  const bin = mkdtempSync(join(tmpdir(), "holdfast-bin-"));
  bins.push(bin);
  symlinkSync(AGENT, join(bin, "agent"));
  return `exec:env HOLDFAST_HOME=${stateDir} PATH=${bin}:${process.env.PATH}`;
};
const node = (name: string, endpoint: string | null, state: ClusterNodeView["state"] = "active") => ({
  name,
  state,
  endpoint,
  labels: {},
  capacity: 1,
  placed: 0,
  beat_age_ms: 1,
  copied_to: null,
});
const status = (nodes: ClusterStatus["nodes"]): ClusterStatus => ({
  self: {
    name: "desk",
    holds_lease: true,
    failing: null,
    copy: { copied_to: null, head: 0, behind: null, failing: null, drop_failing: null },
  },
  nodes,
  unplaced: null,
  waiting: null,
  failed: null,
  keep_days: null,
});
const clustered = async (nodes: ClusterStatus["nodes"], more: Readonly<Record<string, Answerer>> = {}) => {
  const daemon = await daemonWith({
    "cluster/status": () => status(nodes),
    "cluster/workers": () => ({ workers: [], next: null }),
    ...more,
  });
  writeFileSync(join(daemon.stateDir, "cluster.json"), "{}");
  return daemon;
};
const asked = ({ requests }: FakeDaemon): readonly string[] => requests.map(({ command }) => command);
const run = async ({ stateDir }: FakeDaemon, ...argv: readonly string[]) => {
  const { exit, stdout } = await agent(["-o", "json", ...argv], { env: { HOLDFAST_HOME: stateDir } });
  const { data, error, meta } = JSON.parse(stdout.trimEnd().split("\n").at(-1)!);
  return { exit, data, error, meta };
};

it("costs no request where the daemon is no node", async () => {
  const here = await daemonWith();
  expect((await run(here, "list")).exit).toBe(0);
  const before = asked(here);
  expect((await run(here, "--host", "all", "list")).exit).toBe(0);
  expect(asked(here).slice(before.length)).toEqual(before);
  const { exit, error } = await run(here, "--host", "build", "list");
  expect([exit, error.message]).toEqual([3, expect.stringContaining('not "build"')]);
  expect(asked(here)).not.toContain("cluster/status");
});

it("costs one request where it is one, and none for a call that names no node", async () => {
  const here = await clustered([node("desk", null)]);
  expect((await run(here, "--host", "local", "list")).exit).toBe(0);
  expect((await run(here, "list")).exit).toBe(0);
  expect(asked(here)).not.toContain("cluster/status");
  expect((await run(here, "--host", "all", "list")).exit).toBe(0);
  expect(asked(here).filter((command) => command === "cluster/status")).toHaveLength(1);
});

it("takes the other nodes with an endpoint that have not left, by their names; this one is local", async () => {
  const there = await daemonWith();
  const endpoint = endpointOf(there);
  const here = await clustered([
    node("desk", endpoint),
    node("build", endpoint),
    node("plain", null),
    node("gone", endpoint, "left"),
    node("all", endpoint),
    node("x\u001b[2J", endpoint),
    node("odd", "tcp://x"),
  ]);
  const { exit, data } = await run(here, "--host", "all", "list");
  expect([exit, data]).toEqual([
    0,
    [expect.objectContaining({ host: "local" }), expect.objectContaining({ host: "build" })],
  ]);
  const named = await run(here, "--host", "desk,build", "list");
  expect(named.data).toMatchObject([{ host: "desk" }, { host: "build" }]);
  const { error } = await run(here, "--host", "plain", "list");
  expect(error.message).toContain('not "plain"');
});

it("a host of the configuration wins over a node of its name, and over one of its address", async () => {
  const there = await daemonWith();
  const endpoint = endpointOf(there);
  const here = await clustered([node("build", "exec:false"), node("twin", endpoint)]);
  writeFileSync(join(here.stateDir, "config.yaml"), `hosts:\n  build: "${endpoint}"\n`);
  const { exit, data } = await run(here, "--host", "all", "list");
  expect([exit, data]).toMatchObject([0, [{ host: "local" }, { host: "build" }]]);
});

it("a node that is dead or away is told as any host that is, and the others are shown", async () => {
  const here = await clustered([node("box", "exec:false", "dead")]);
  const { exit, error, meta } = await run(here, "--host", "all", "list");
  expect([exit, error.code]).toEqual([2, "PARTIAL_FAILURE"]);
  expect(meta).toMatchObject({
    partial: { workers: [{ host: "local" }] },
    details: { hosts: [{ host: "box", code: "UNAVAILABLE" }] },
  });
});

it.each<[string, Answerer]>([
  ["its database is away", () => status(null)],
  [
    "the daemon refuses",
    () => {
      throw new HoldfastError("INTERNAL", "no");
    },
  ],
])("says that nodes are not known while %s, and shows the other hosts", async (_when, answer) => {
  const here = await clustered(null, { "cluster/status": answer });
  const { exit, error, meta } = await run(here, "--host", "all", "list");
  expect([exit, error.code]).toEqual([2, "PARTIAL_FAILURE"]);
  expect(meta).toMatchObject({
    partial: { workers: [{ host: "local" }] },
    details: { hosts: [{ host: "cluster", code: "UNAVAILABLE" }] },
  });
  const named = await run(here, "--host", "build", "list");
  expect([named.exit, named.error.code]).toEqual([12, "UNAVAILABLE"]);
});

it("a worker that is not here is looked for on the other nodes, if there are any", async () => {
  const unknown = {
    "agent/kill": () => {
      throw new HoldfastError("WORKER_NOT_FOUND", 'No worker has the id or name "fixer".');
    },
  };
  const alone = await run(await daemonWith(unknown), "kill", "fixer");
  expect(alone.error.suggestion).toBe("List the workers with `agent list --all`.");
  const { exit, error } = await run(await clustered([], unknown), "kill", "fixer");
  expect([exit, error.suggestion]).toEqual([
    5,
    "List the workers with `agent list --all`; those of other nodes of the cluster: agent --host all list",
  ]);
});
