/** A watch of a placed worker goes on over its moves: nothing is lost, and nothing comes twice. */
import { expect, it } from "vitest";
import { Runtime, type WatchOptions } from "../../../src/library/index.ts";
import { type Answer, until } from "../../cli/support/commands.ts";
import { AGENT } from "../../support/built.ts";
import { useClusters } from "./support/clusters.ts";
import type { ClusterMachine } from "./support/machines.ts";

const { clusterOf, cuttableCluster } = useClusters();

const FAR = ["spawn", "--where", "zone=far", "--restart", "permanent", "--name", "far"];
const COUNTS = ["sh", "-c", 'n=0; while :; do n=$((n+1)); echo "line $n"; sleep 0.2; done'];

/** Without a sign of life among the records. */
const SILENT = ["--heartbeat-ms", "0"];

interface WatchedLine {
  readonly worker_id: string;
  readonly seq: number;
  readonly type: string;
  readonly payload: { readonly text?: string; readonly state?: string };
}

const recordsOf = ({ stdout }: Pick<Answer, "stdout">): readonly WatchedLine[] =>
  stdout
    .trimEnd()
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));

/** The numbers that each run counted, in the order of the runs. */
const countsOf = (records: readonly WatchedLine[]): readonly (readonly number[])[] => {
  const runs = new Map<string, string>();
  for (const { worker_id, payload } of records)
    runs.set(worker_id, `${runs.get(worker_id) ?? ""}${payload.text ?? ""}`);
  return [...runs.values()].map((text) => [...text.matchAll(/line (\d+)\n/g)].map(([, n]) => Number(n)));
};

const isDense = (counts: readonly number[]): boolean =>
  counts.length > 0 && counts.every((n, at) => n === at + 1);

const watchedByProgram = async (
  { home }: ClusterMachine,
  options: WatchOptions = {},
): Promise<readonly WatchedLine[]> => {
  const runtime = await Runtime.connect({ stateDir: home });
  const records: WatchedLine[] = [];
  for await (const record of runtime.watch("far", options)) records.push(record as WatchedLine);
  await runtime.close();
  return records;
};

/** The worker that the agent of another one spawned. */
const belowOf = async (machine: ClusterMachine): Promise<string | undefined> => {
  const { data } = await machine.agent("list");
  const rows = data as unknown as readonly { readonly id: string; readonly name: string | null }[];
  return rows.find(({ name }) => name === null)?.id;
};

/** `line N` is in the copy, of the run on a machine. */
const hasCounted = async (at: ClusterMachine, n: number): Promise<boolean> =>
  (await at.agent("logs", "far")).stdout.includes(`line ${n}\\n`);

it("a watch at another node has what the copy has of a lost machine, says so, and goes on where the worker runs again", async () => {
  const cluster = await clusterOf("watch_lost", ["a", "b", "c"], ({ name }) =>
    name === "a" ? [] : ["--label", "zone=far"],
  );
  const [a] = cluster.machines as [ClusterMachine];
  await a.agent(...FAR, "--", ...COUNTS);
  const lost = await cluster.placed("far");
  await until(() => hasCounted(a, 10));
  const next = cluster.machines.find((machine) => machine !== a && machine !== lost)!;
  // Nobody takes the worker before both watches have said that its node is dead.
  await a.agent("drain", next.name);
  const watching = a.start(["-o", "json", "watch", "far", ...SILENT]);
  const inText = a.start(["-o", "text", "watch", "far", "--kinds", "TextOutput"]);
  await until(() => [watching, inText].every(({ out }) => /line 20\b/.test(out())));
  cluster.powerOff(lost);
  await until(() => [watching, inText].every(({ err }) => err().includes("is dead")));
  await a.agent("drain", next.name, "--undo");
  await until(async () => (await cluster.listed(next, "far")) !== undefined);
  await until(() => hasCounted(next, 10));
  expect((await a.agent("kill", "far")).exit).toBe(0);

  const watched = await watching.ended;
  expect(watched.exit).toBe(0);
  const { data } = JSON.parse(watched.stdout.trimEnd().split("\n").at(-1)!);
  expect(data).toMatchObject({
    source: "copy",
    name: "far",
    node: next.name,
    cursor: expect.stringMatching(/^copy:\d+$/),
  });
  const records = recordsOf(watched);
  expect(data.records).toBe(records.length);
  const counts = countsOf(records);
  expect(counts).toHaveLength(2);
  expect(counts.every(isDense)).toBe(true);
  expect(counts[0]!.length).toBeGreaterThanOrEqual(20);
  expect(counts[1]!.length).toBeGreaterThanOrEqual(10);
  expect(new Set(records.map(({ worker_id, seq }) => `${worker_id} ${seq}`)).size).toBe(records.length);
  const ends = records.filter(({ type }) => type === "worker_ended");
  expect(ends.map(({ payload }) => payload.state)).toEqual(["cancelled"]);
  expect((await a.agent("list", "--all")).meta.elsewhere).toMatchObject([
    { name: "far", desired: "ended", over: "killed", last: { state: "cancelled", incarnation: 1 } },
  ]);
  const said = watched.stderr;
  expect(said).toContain("These records are from the cluster's copy");
  expect(said).toMatch(new RegExp(`The node ${lost.name} is dead and renewed its lease .+ ago`));
  expect(said).toContain(`The node ${next.name} has far now.`);
  const shown = await inText.ended;
  expect(shown.stdout.match(/line 10$/gm)).toHaveLength(2);
  expect(shown.stderr).toContain("is dead");

  const again = await a.agent("watch", "far", "--from", data.cursor);
  expect(again.data).toMatchObject({ source: "copy", records: 0 });
  expect(countsOf(recordsOf(await a.agent("watch", "far", "--from", "0")))).toEqual(counts);
  expect(await a.agent("watch", "far", "--from", "7")).toMatchObject({ error: { code: "INVALID_REQUEST" } });
  expect(await a.agent("watch", "nobody")).toMatchObject({ error: { code: "WORKER_NOT_FOUND" } });
});

it("a watch of several goes on over the moves of each", async () => {
  const cluster = await clusterOf("watch_several", ["a", "b", "c"], ({ name }) =>
    name === "a" ? [] : ["--label", "zone=far"],
  );
  const [a] = cluster.machines as [ClusterMachine];
  await a.agent("spawn", "--name", "near", "--", ...COUNTS);
  await a.agent("spawn", "--where", "node=a", "--name", "own", "--", ...COUNTS);
  await a.agent(...FAR, "--", ...COUNTS);
  const first = await cluster.placed("far");
  const next = cluster.machines.find((machine) => machine !== a && machine !== first)!;
  const watching = a.agent("watch", "near", "far", "own", "--from", "0", ...SILENT);
  await until(() => hasCounted(a, 10));
  await a.agent("drain", first.name);
  await until(async () => (await cluster.listed(next, "far")) !== undefined);
  await until(() => hasCounted(next, 10));
  await a.agent("kill", "near", "far", "own");

  const watched = await watching;
  expect(watched).toMatchObject({ exit: 0, data: { cursor: expect.stringMatching(/^[0-9A-Z]+:\d+$/) } });
  const records = recordsOf(watched);
  expect(watched.data.records).toBe(records.length);
  const counts = countsOf(records.filter(({ type }) => type === "agent.event"));
  expect(counts).toHaveLength(4);
  expect(counts.every(isDense)).toBe(true);
  expect(records.filter(({ type }) => type === "worker_ended")).toHaveLength(4);
  expect(watched.stderr).toContain("The records of far are from the cluster's copy");
  expect(watched.stderr).toContain(`The node ${next.name} has far now.`);
  expect(await a.agent("watch", "near", "far", "nobody")).toMatchObject({
    error: { code: "WORKER_NOT_FOUND" },
  });
});

it("a watch at the node of a worker goes on over a drain, and back", async () => {
  const cluster = await clusterOf("watch_moves", ["a", "b"], () => ["--label", "zone=far"]);
  await cluster.machines[0]!.agent(...FAR, "--", ...COUNTS);
  const first = await cluster.placed("far");
  const other = cluster.machines.find((machine) => machine !== first)!;
  const watching = first.agent("watch", "far", "--from", "0", ...SILENT);
  await until(() => hasCounted(first, 10));
  await first.agent("drain", first.name);
  await until(async () => (await cluster.listed(other, "far")) !== undefined);
  await until(() => hasCounted(other, 10));
  await first.agent("drain", first.name, "--undo");
  await first.agent("drain", other.name);
  await until(async () => (await cluster.listed(first, "far")) !== undefined);
  await until(() => hasCounted(first, 10));
  await first.agent("kill", "far");

  const watched = await watching;
  expect(watched).toMatchObject({ exit: 0, data: { source: "copy", node: first.name } });
  const records = recordsOf(watched);
  const counts = countsOf(records);
  expect(counts).toHaveLength(3);
  expect(counts.every(isDense)).toBe(true);
  expect(new Set(records.map(({ worker_id, seq }) => `${worker_id} ${seq}`)).size).toBe(records.length);
  expect(watched.data.records).toBe(records.length);
  expect(watched.warnings.join("\n")).toContain(`The node ${other.name} has far now.`);

  // One that a person kills, or that completes, ends a watch at its node as ever.
  await first.agent(...FAR.with(-1, "near"), "--", "sh", "-c", "echo once");
  expect((await first.agent("watch", "near", "--from", "0")).data.source).toBeUndefined();
});

it("a watch with all that its agents spawn goes on over a move, at any node", async () => {
  const cluster = await clusterOf("watch_below", ["a", "b", "c"], ({ name }) =>
    name === "a" ? [] : ["--label", "zone=far"],
  );
  const [a] = cluster.machines as [ClusterMachine];
  const spawns = `${process.execPath} ${AGENT} spawn -- sh -c '${COUNTS[2]}'; exec sleep 100000`;
  await a.agent(...FAR, "--", "sh", "-c", spawns);
  const first = await cluster.placed("far");
  const next = cluster.machines.find((machine) => machine !== a && machine !== first)!;
  const belowHas = (running: { readonly out: () => string }, n: number) => () =>
    running.out().includes(`line ${n}\\n`);
  const asked = ["-o", "json", "watch", "far", "--subtree", "--from", "0", ...SILENT];
  const watching = [a, first].map((machine) => machine.start(asked));
  const inPrograms = [a, first].map((machine) => watchedByProgram(machine, { subtree: true }));
  await until(() => watching.every((one) => belowHas(one, 5)()));
  await first.agent("drain", first.name);
  await until(async () => (await cluster.listed(next, "far")) !== undefined);
  const moved = a.start(asked);
  await until(async () => {
    const below = await belowOf(next);
    return below !== undefined && (await next.agent("logs", below)).stdout.includes("line 9\\n");
  });
  const below = await belowOf(next);
  await next.agent("kill", "far", "--subtree");

  const ended = await Promise.all([...watching, moved].map((one) => one.ended));
  expect(ended.map(({ exit }) => exit)).toEqual([0, 0, 0]);
  for (const records of [...ended.map(recordsOf), ...(await Promise.all(inPrograms))]) {
    expect(new Set(records.map(({ worker_id, seq }) => `${worker_id} ${seq}`)).size).toBe(records.length);
    const counts = countsOf(records.filter(({ type }) => type === "agent.event"));
    expect(counts.filter((count) => count.length > 0)).toHaveLength(2);
    expect(counts.every((count) => count.length === 0 || isDense(count))).toBe(true);
    expect(records.some(({ worker_id, type }) => worker_id === below && type === "worker_ended")).toBe(true);
  }
  expect(countsOf(recordsOf(await a.agent("watch", "far", "--from", "0", ...SILENT))).flat()).toEqual([]);
  const ends = await watchedByProgram(a, { types: ["worker_ended"], subtree: true, tail: 1 });
  expect(ends).toMatchObject([{ worker_id: expect.any(String), type: "worker_ended" }]);
  expect(await watchedByProgram(a, { since_ms: 1 })).toEqual([]);
  await expect(watchedByProgram(a, { from: 7 })).rejects.toMatchObject({ code: "INVALID_REQUEST" });
});

it("a watch of the copy says that the database is away, and goes on when it answers", async () => {
  const { cluster, way } = await cuttableCluster("watch_away", ["a", "b"]);
  const [a, b] = cluster.machines as [ClusterMachine, ClusterMachine];
  await b.agent("spawn", "--where", "node=b", "--restart", "permanent", "--name", "far", "--", ...COUNTS);
  await until(() => hasCounted(a, 5));
  const watching = a.start(["watch", "far", "-o", "json", ...SILENT]);
  await until(() => watching.out().includes("line 5\\n"));
  way.cut();
  await until(() => watching.err().includes("The cluster gives no answer"));
  const refused = await a.agent("watch", "far");
  expect(refused).toMatchObject({ error: { code: "UNAVAILABLE" } });
  expect(refused.error?.message).toContain("the cluster gives no answer");
  const unread = await a.agent("logs", "far");
  expect(unread).toMatchObject({ exit: 12, error: { code: "UNAVAILABLE" } });
  expect(unread.error?.message).toContain("This machine has no worker far, and the cluster gives no answer");
  way.mend();
  const seen = watching.out().length;
  await until(() => watching.out().length > seen);
  await b.agent("kill", "far");
  const ended = await watching.ended;
  expect(ended.exit).toBe(0);
  const records = recordsOf(ended);
  const counts = countsOf(records);
  expect(counts).toHaveLength(1);
  expect(isDense(counts[0]!)).toBe(true);
  expect(new Set(records.map(({ seq }) => seq)).size).toBe(records.length);
});
