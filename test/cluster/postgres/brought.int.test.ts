/** The mark of the records that a worker brings to its next node, on a real Postgres, over an upgrade too. */
import pg from "pg";
import { expect, it, onTestFinished } from "vitest";
import { isBrought } from "../../../src/cluster/postgres/brought.ts";
import { migrate } from "../../../src/cluster/postgres/migrate.ts";
import { MIGRATIONS, SCHEMA } from "../../../src/cluster/postgres/schema.ts";
import { BROUGHT } from "../../../src/cluster/postgres/statements.ts";
import type { CopiedRecord } from "../../../src/cluster/store.ts";
import { ageCopy } from "../support/aged.ts";
import { databasesOf } from "../support/databases.ts";
import { joined, recordOf, running } from "../support/store-contract.ts";

const LOG = { store_id: "s", epoch: "e" };
const ID = "01J00000000000000000000000";
const BEFORE_THE_MARK = 11;
const TYPES = ["worker_spawn_requested", "session_started", "output", "worker_restart_scheduled"];

const { fresh, opened, connected } = databasesOf("brought");

const textOf = (seq: number, type: string): string => JSON.stringify({ seq, stream: `worker:${ID}`, type });

/** As a node of before the mark copies a record. */
const byOlder = (client: pg.Client, seq: number, type: string): Promise<unknown> =>
  client.query(
    `insert into record (store_id, epoch, seq, worker, term, is_late, text) values ('s', 'e', $1, 'w', 1, false, $2)`,
    [seq, textOf(seq, type)],
  );

it("a worker brings the same whether an older node copied its records, before the upgrade or after it", async () => {
  const url = await fresh();
  const pool = new pg.Pool({ connectionString: url, options: `-c search_path=${SCHEMA}` });
  onTestFinished(() => pool.end());
  await migrate(pool, MIGRATIONS.slice(0, BEFORE_THE_MARK));
  const client = await connected(url);
  for (const [at, type] of TYPES.entries()) await byOlder(client, at + 1, type);
  await ageCopy(client, 9);

  const store = await opened(url);
  const run = await running(store, "w", await joined(store, "a"));
  await store.launched(run, ID);
  for (const [at, type] of TYPES.entries()) await byOlder(client, at + 5, type);
  const news = TYPES.map((type, at): CopiedRecord => recordOf(at + 9, run, textOf(at + 9, type)));
  expect(await store.append("a", LOG, news)).toBe(12);
  const seqs = async (): Promise<readonly number[]> =>
    (await store.brought("w", ID)).records.map((text) => JSON.parse(text).seq);
  const all = [12, 10, 9, 8, 6, 5, 4, 2, 1];
  expect(await seqs()).toEqual(all);
  await store.keepDays(5);
  expect(await store.tendCopy()).toBe(1);
  expect(await seqs()).toEqual(all);
});

it("the mark and the database say the same of a text", async () => {
  const url = await fresh();
  const store = await opened(url);
  const client = await connected(url);
  const run = await running(store, "w", await joined(store, "a"));
  const type = '"type":"session_abandoned"';
  const texts = [
    ...TYPES.map((each) => textOf(1, each)),
    ...[type, type.replace('":"', '": "'), type.slice(0, -1), type.slice(1)],
    // The type ends where the look ends, and one character behind it; a character may be of many bytes.
    ...[192, 193].flatMap((end) => ["x", "é", "漢"].map((pad) => pad.repeat(end - type.length) + type)),
    `${"😀".repeat(10)}${type}`,
  ];
  await store.append(
    "a",
    LOG,
    texts.map((text, at) => recordOf(at + 1, run, text)),
  );
  const marks = async () =>
    (await client.query<{ is_brought: boolean }>("select is_brought from record order by seq")).rows.map(
      ({ is_brought }) => is_brought,
    );
  const byNode = await marks();
  expect(byNode).toEqual(texts.map(isBrought));
  expect(new Set(byNode)).toEqual(new Set([true, false]));
  await client.query(`update record set is_brought = left(text, 192) ~
    '"type":"(worker_spawn_requested|worker_restart_scheduled|session_started|session_abandoned)"'`);
  expect(await marks()).toEqual(byNode);
});

it("a search of what a worker brings takes the index of the marked ones", async () => {
  const url = await fresh();
  const store = await opened(url);
  const client = await connected(url);
  const run = await running(store, "w", await joined(store, "a"));
  const output = Array.from({ length: 2_000 }, (_, at) => recordOf(at + 1, run, textOf(at + 1, "output")));
  await store.append("a", LOG, [...output, recordOf(2_001, run, textOf(2_001, "session_started"))]);
  await client.query("analyze record");
  const { rows: found } = await client.query<{ name: string; size: number }>(
    `select c.relname as name, c.reltuples::integer as size from pg_class c join pg_index i on i.indexrelid = c.oid
     where pg_get_expr(i.indpred, i.indrelid) like '%is_brought%' and c.reltuples > 0`,
  );
  expect(found).toEqual([{ name: expect.any(String), size: 1 }]);
  const { rows } = await client.query(`explain (format json) ${BROUGHT}`, ["w", ID, 1_000, 10_000]);
  expect(JSON.stringify(rows)).toContain(`"Index Name":"${found[0]!.name}"`);
});

interface PlanNode {
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly PlanNode[];
}

/** The most rows that one step of a plan looked at. */
const mostRows = (node: PlanNode): number =>
  Math.max(
    (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)) * node["Actual Loops"],
    ...(node.Plans ?? []).map(mostRows),
  );

it("a search of what a worker brings reads no records of the other workers of its node", async () => {
  const url = await fresh();
  const store = await opened(url);
  const client = await connected(url);
  const node = await joined(store, "a");
  const [run, other] = [await running(store, "w", node), await running(store, "v", node)];
  const others = Array.from({ length: 2_000 }, (_, at) => recordOf(at + 2, other, textOf(at + 2, "output")));
  await store.append("a", LOG, [recordOf(1, run, textOf(1, "session_started")), ...others]);
  await client.query("analyze record");
  const { rows } = await client.query<{ "QUERY PLAN": readonly { readonly Plan: PlanNode }[] }>(
    `explain (analyze, format json) ${BROUGHT}`,
    ["w", ID, 1_000, 10_000],
  );
  expect(mostRows(rows[0]!["QUERY PLAN"][0]!.Plan)).toBeLessThan(20);
  expect(JSON.parse((await store.brought("w", ID)).newest!)).toMatchObject({ seq: 2_001 });
});
