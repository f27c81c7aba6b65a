/**
 * The copy of a daemon's log in a cluster's Postgres beside its ingest, on one machine: an agent prints 100,000 lines, and when all of
 * them are in the log, the bench looks how many are in the copy. The floor is a bare script that inserts the same records into the same
 * table, by one array a statement, alone on the machine. Then three nodes at once, and the loss of one.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { SCHEMA } from "../src/cluster/postgres/schema.ts";
import { TestPostgres } from "../test/support/postgres.ts";
import { failover } from "./cluster-failover.ts";
import { threeNodes } from "./cluster-nodes.ts";
import { statementsAlone } from "./cluster-statements.ts";
import { ascending, command, percentile, type Result, startDaemon } from "./support.ts";

const QUICK = process.env.HOLDFAST_QUICK === "1";
const LINES = QUICK ? 5_000 : 100_000;
const ROUNDS = QUICK ? 1 : 3;
const FLOOR_STATEMENT_RECORDS = 2_000;
const LOOK_MS = 5;
const ASKED = 0.8;
const PAD = " of a length as agents print them, in the middle of some work".repeat(2);

interface Round {
  /** Records a second. */
  readonly ingest: number;
  readonly copied: number;
  /** Milliseconds until the rest was copied. */
  readonly rest_ms: number;
}

const connected = async (url: string): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: url, options: `-c search_path=${SCHEMA}` });
  await client.connect();
  return client;
};

const round = async (file: string, url: string | undefined): Promise<Round> => {
  const daemon = await startDaemon();
  try {
    if (url !== undefined) {
      await daemon.request("cluster/init", { database: url });
      await daemon.request("cluster/join", { database: url, name: "bench" });
    }
    const client = url === undefined ? undefined : await connected(url);
    const copiedTo = async (): Promise<number> => {
      const found = await client?.query("select coalesce(max(copied_to), 0)::integer as copied_to from log");
      return found?.rows[0]?.copied_to ?? 0;
    };
    while (client !== undefined && (await copiedTo()) === 0) await sleep(LOOK_MS);
    const before = performance.now();
    const { id } = await daemon.request<{ id: string }>("agent/spawn", command(["cat", file]));
    await daemon.request("agent/wait", { ids: [id] });
    const seconds = (performance.now() - before) / 1_000;
    const copied = await copiedTo();
    const { head } = await daemon.request<{ head: number }>("daemon/status", {});
    while (client !== undefined && (await copiedTo()) < head) await sleep(LOOK_MS);
    const rest_ms = performance.now() - before - seconds * 1_000;
    await client?.end();
    return { ingest: head / seconds, copied: copied / seconds, rest_ms };
  } finally {
    await daemon.stop();
  }
};

/** The records of one round again, by a bare script. */
const floor = async (url: string): Promise<number> => {
  const client = await connected(url);
  const { rows } = await client.query<{ seq: string; text: string }>(
    "select seq, text from record order by seq",
  );
  await client.query("truncate record");
  const before = performance.now();
  for (let at = 0; at < rows.length; at += FLOOR_STATEMENT_RECORDS) {
    const some = rows.slice(at, at + FLOOR_STATEMENT_RECORDS);
    await client.query(
      `insert into record (store_id, epoch, seq, is_late, text)
       select 's', 'e', seq, false, text from unnest($1::bigint[], $2::text[]) as b (seq, text)`,
      [some.map(({ seq }) => seq), some.map(({ text }) => text)],
    );
  }
  const seconds = (performance.now() - before) / 1_000;
  await client.end();
  return rows.length / seconds;
};

const median = (values: readonly number[]): number => percentile(ascending(values), 50);
const rate = (value: number): string => Math.round(value).toLocaleString("en");

export const cluster = async (): Promise<readonly Result[]> => {
  const dir = mkdtempSync(join(tmpdir(), "holdfast-cluster-"));
  const postgres = await TestPostgres.start();
  try {
    const file = join(dir, "lines");
    writeFileSync(file, Array.from({ length: LINES }, (_, at) => `line ${at}${PAD}\n`).join(""));
    const alone: Round[] = [];
    const beside: Round[] = [];
    const floors: number[] = [];
    for (let at = 0; at < ROUNDS; at += 1) {
      alone.push(await round(file, undefined));
      const url = await postgres.database(`round_${at}`);
      beside.push(await round(file, url));
      floors.push(await floor(url));
    }
    const of = (rounds: readonly Round[], key: keyof Round): number => median(rounds.map((one) => one[key]));
    const share = median(beside.map(({ copied, ingest }) => copied / ingest));
    return [
      {
        name: "records/s in the copy beside the ingest of one agent",
        measured: `${rate(of(beside, "copied"))} records/s of ${rate(of(beside, "ingest"))}; the rest ${rate(of(beside, "rest_ms"))} ms later`,
        floor: `bare inserts: ${rate(median(floors))} records/s; ingest without a copy: ${rate(of(alone, "ingest"))} records/s`,
        value: `${share.toFixed(2)} of the ingest`,
        threshold: `≥ ${ASKED}`,
        ok: share >= ASKED,
      },
      await statementsAlone(postgres),
      ...(await threeNodes(postgres)),
      await failover(postgres),
    ];
  } finally {
    await postgres.remove();
    rmSync(dir, { recursive: true, force: true });
  }
};
