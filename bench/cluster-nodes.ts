/**
 * Three nodes with 10,000 ended workers in their logs, on one Postgres and one machine: on each an agent that is placed there prints lines,
 * all at once, and when the agent has ended the bench looks how many of the node's new records are in the copy. The same three daemons
 * and agents without a cluster stand beside it, with the processor time of a record in both.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { TestPostgres } from "../test/support/postgres.ts";
import { cpuMs } from "./inspect.ts";
import { fill } from "./long-log.ts";
import { type BenchDaemon, command, type Result, removeDirectory, startDaemon } from "./support.ts";

const QUICK = process.env.HOLDFAST_QUICK === "1";
export const NODES = ["a", "b", "c"];
const WORKERS = QUICK ? 300 : 10_000;
const RECORDS_OF_WORKER = 5;
const LINES = QUICK ? 2_000 : 50_000;
const LOOK_MS = 20;
const ASKED = 0.8;
const PAD = " of a length as agents print them, in the middle of some work".repeat(2);

export interface BenchNode {
  readonly name: string;
  readonly daemon: BenchDaemon;
  readonly dir: string;
}

interface CopyOfNode {
  readonly copied_to: number;
  readonly head: number;
}

/** One node while its agent printed. */
export interface Printed {
  readonly records: number;
  readonly copied: number;
  readonly seconds: number;
  readonly cpu_us: number;
}

/** All that the agent of one node prints. */
export const writeLines = (file: string): void =>
  writeFileSync(file, Array.from({ length: LINES }, (_, at) => `line ${at}${PAD}\n`).join(""));

const copyOf = async ({ daemon }: BenchNode): Promise<CopyOfNode> => {
  const { self } = await daemon.request<{ self: { copy: CopyOfNode } | null }>("cluster/status", {});
  if (self !== null) return self.copy;
  const { head } = await daemon.request<{ head: number }>("daemon/status", {});
  return { copied_to: 0, head };
};

const untilCopied = async (node: BenchNode): Promise<void> => {
  for (let copy = await copyOf(node); copy.copied_to < copy.head; copy = await copyOf(node))
    await sleep(LOOK_MS);
};

export const print = async (node: BenchNode, file: string, isPlaced: boolean): Promise<Printed> => {
  const { daemon, name } = node;
  const placement = { needs: { node: name }, on_partition: "stop" };
  const what = command(["cat", file], isPlaced ? { name: `prints-${name}`, placement } : {});
  const [before, cpu, began] = [await copyOf(node), cpuMs(daemon.pid), performance.now()];
  const { id } = await daemon.request<{ id: string }>("agent/spawn", what);
  await daemon.request("agent/wait", { ids: [id] });
  const seconds = (performance.now() - began) / 1_000;
  const after = await copyOf(node);
  const records = after.head - before.head;
  if (records < LINES / 2) throw new Error(`The agent of ${name} has ${records} records.`);
  if (isPlaced) await untilCopied(node);
  // With the rest of the copy: it is a part of its price.
  const cpu_us = ((cpuMs(daemon.pid) - cpu) * 1_000) / records;
  return { records, copied: after.copied_to - before.copied_to, seconds, cpu_us };
};

const started = async (): Promise<readonly BenchNode[]> =>
  Promise.all(
    NODES.map(async (name) => {
      const dir = mkdtempSync(join(tmpdir(), "holdfast-bench-"));
      const workers = Math.ceil(WORKERS / NODES.length);
      fill(dir, workers * RECORDS_OF_WORKER, workers);
      return { name, dir, daemon: await startDaemon({}, [], dir) };
    }),
  );

const ended = async (nodes: readonly BenchNode[]): Promise<void> => {
  for (const { daemon, dir } of nodes) {
    await daemon.stop();
    await removeDirectory(dir);
  }
};

const alone = async (file: string): Promise<readonly Printed[]> => {
  const nodes = await started();
  try {
    return await Promise.all(nodes.map((node) => print(node, file, false)));
  } finally {
    await ended(nodes);
  }
};

/** And the seconds in which the logs of before the join were copied. */
const together = async (
  file: string,
  url: string,
): Promise<{ readonly printed: readonly Printed[]; readonly caught_up_s: number }> => {
  const nodes = await started();
  try {
    await nodes[0]!.daemon.request("cluster/init", { database: url });
    const began = performance.now();
    for (const { daemon, name } of nodes) await daemon.request("cluster/join", { database: url, name });
    await Promise.all(nodes.map(untilCopied));
    const caught_up_s = (performance.now() - began) / 1_000;
    return { printed: await Promise.all(nodes.map((node) => print(node, file, true))), caught_up_s };
  } finally {
    await ended(nodes);
  }
};

const rate = (value: number): string => Math.round(value).toLocaleString("en");
const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

export const threeNodes = async (postgres: TestPostgres): Promise<readonly Result[]> => {
  const dir = mkdtempSync(join(tmpdir(), "holdfast-cluster-"));
  try {
    const file = join(dir, "lines");
    writeLines(file);
    const bare = await alone(file);
    const { printed, caught_up_s } = await together(file, await postgres.database("three"));
    const shares = printed.map(({ copied, records }) => copied / records);
    const rates = printed.map(({ copied, seconds }) => rate(copied / seconds));
    const least = Math.min(...shares);
    const [without, beside] = [bare, printed].map((all) => mean(all.map(({ cpu_us }) => cpu_us)));
    const ingest = (all: readonly Printed[]) => all.map(({ records, seconds }) => rate(records / seconds));
    return [
      {
        name: `records/s in the copy of each of three nodes, with ${rate(WORKERS)} ended workers, beside the ingest of one placed agent each`,
        floor: `ingest without a cluster: ${ingest(bare).join(", ")} records/s`,
        measured: `${rates.join(", ")} of ${ingest(printed).join(", ")} records/s`,
        value: `${least.toFixed(2)} of the ingest at least`,
        threshold: `≥ ${ASKED} each`,
        ok: least >= ASKED,
      },
      {
        name: "the processor time of a daemon for a record that is written and copied",
        floor: `without a cluster: ${without!.toFixed(0)} µs`,
        measured: `${beside!.toFixed(0)} µs; the logs of before the join were copied in ${caught_up_s.toFixed(1)} s`,
        value: `${(beside! - without!).toFixed(0)} µs for the copy`,
        threshold: "–",
        ok: true,
      },
    ];
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
};
