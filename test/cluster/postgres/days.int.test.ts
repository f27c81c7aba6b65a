/** The days of the copy on a real Postgres: they are made, dropped by the rule, and what a placed worker needs of them stays. */
import pg from "pg";
import { expect, it, onTestFinished } from "vitest";
import { CLUSTER_COPY_CLOCK_AHEAD_MAX_MS, CLUSTER_COPY_DROP_MAX_DAYS } from "../../../src/base/limits.ts";
import { ClockAheadError } from "../../../src/cluster/errors.ts";
import { migrate } from "../../../src/cluster/postgres/migrate.ts";
import { MIGRATIONS, SCHEMA } from "../../../src/cluster/postgres/schema.ts";
import type { PostgresStore } from "../../../src/cluster/postgres/store.ts";
import type { CopiedRecord } from "../../../src/cluster/store.ts";
import { ageCopy } from "../support/aged.ts";
import { databasesOf } from "../support/databases.ts";
import { joined, recordOf, running } from "../support/store-contract.ts";

const LOG = { store_id: "s", epoch: "e" };

const { fresh, opened, connected } = databasesOf("days");
const seqs = async (client: pg.Client): Promise<readonly number[]> =>
  (await client.query<{ seq: number }>("select seq::integer as seq from record order by seq")).rows.map(
    ({ seq }) => seq,
  );

it("one node of all drops old days, and none of them again within an hour", async () => {
  const url = await fresh();
  const stores = await Promise.all(Array.from({ length: 5 }, () => opened(url)));
  const [store] = stores as [PostgresStore];
  const client = await connected(url);
  for (const seq of [1, 2, 3]) {
    await store.append("a", LOG, [recordOf(seq, null)]);
    if (seq < 3) await ageCopy(client, 8 - seq, seq);
  }
  await store.keepDays(7);
  const told = await Promise.all(stores.map((each) => each.tendCopy()));
  expect(told.filter((dropped) => dropped !== null)).toEqual([0]);
  expect(await seqs(client)).toEqual([1, 2, 3]);

  await store.keepDays(6);
  expect(await store.tendCopy()).toBe(1);
  expect(await seqs(client)).toEqual([2, 3]);
  await ageCopy(client, 9);
  expect(await store.tendCopy()).toBeNull();
  expect(await seqs(client)).toEqual([2, 3]);
  // A record that was dropped is not asked for again.
  expect(await store.append("a", LOG, [])).toBe(3);
});

it("days that are too many for one time are dropped by the next looks, and all are kept without a rule", async () => {
  const url = await fresh();
  const store = await opened(url);
  const client = await connected(url);
  for (let seq = 1; seq <= CLUSTER_COPY_DROP_MAX_DAYS + 1; seq++) {
    await store.append("a", LOG, [recordOf(seq, null)]);
    await ageCopy(client, 100 - seq, seq);
  }
  expect(await store.tendCopy()).toBe(0);
  await store.keepDays(1);
  expect(await store.tendCopy()).toBe(CLUSTER_COPY_DROP_MAX_DAYS);
  expect(await store.tendCopy()).toBe(1);
  expect(await store.tendCopy()).toBeNull();
  expect(await seqs(client)).toEqual([]);
});

it("nothing is dropped while the database's clock is far ahead, and the turn is left to another node", async () => {
  const url = await fresh();
  const store = await opened(url);
  const client = await connected(url);
  await store.append("a", LOG, [recordOf(1, null)]);
  await ageCopy(client, 40);
  await store.keepDays(30);
  const early_ms = Date.now() - CLUSTER_COPY_CLOCK_AHEAD_MAX_MS;
  await expect(store.tendCopy(early_ms - 60_000)).rejects.toThrow(ClockAheadError);
  expect(await seqs(client)).toEqual([1]);
  expect(await store.tendCopy(early_ms + 60_000)).toBe(1);
  expect(await seqs(client)).toEqual([]);
});

it("a running worker brings the same to its next node after its days are dropped", async () => {
  const url = await fresh();
  const store = await opened(url);
  const client = await connected(url);
  const run = await running(store, "w", await joined(store, "a"));
  const id = "01J00000000000000000000000";
  await store.launched(run, id);
  const told = (seq: number, type: string, of: CopiedRecord["run"] = run): CopiedRecord =>
    recordOf(seq, of, JSON.stringify({ stream: `worker:${of === null ? "other" : id}`, type, seq }));
  const days: readonly (readonly [number, readonly CopiedRecord[]])[] = [
    [40, [told(1, "worker_spawn_requested"), told(2, "session_started"), told(3, "output")]],
    [30, [told(4, "worker_restart_scheduled"), told(5, "output", null)]],
    [20, [told(6, "worker_restart_scheduled"), told(7, "output"), told(8, "output", null)]],
    [0, [told(9, "output", null)]],
  ];
  for (const [age, records] of days) {
    await store.append("a", LOG, records);
    await ageCopy(client, age, records[0]!.seq);
  }
  const before = await store.brought("w", id);
  expect(before.records).toHaveLength(4);
  expect(before.newest).toContain('"seq":9');
  for (const keep of [35, 25, 5]) {
    await store.keepDays(keep);
    expect(await store.tendCopy()).toBe(1);
    expect(await store.brought("w", id)).toEqual(before);
  }
  expect(await seqs(client)).toEqual([9]);
  // The log of its node is older than all that is kept.
  await ageCopy(client, 6, 9);
  await store.keepDays(4);
  expect(await store.tendCopy()).toBe(1);
  expect((await store.brought("w", id)).records).toEqual(before.records);
  expect((await store.brought("w", id)).newest).toContain('"seq":8');
  expect((await store.brought("w", "another")).records).toEqual([]);

  await store.end(run);
  await store.keepDays(3);
  await store.tendCopy();
  expect((await client.query("select from brought_before")).rowCount).toBe(0);
});

it("a copy of before goes on as one day, with all its records, for older nodes too", async () => {
  const url = await fresh();
  const pool = new pg.Pool({ connectionString: url, options: `-c search_path=${SCHEMA}` });
  onTestFinished(() => pool.end());
  await migrate(pool, MIGRATIONS.slice(0, 6));
  const client = await connected(url);
  const old = (seq: number): Promise<unknown> =>
    client.query(
      `insert into record (store_id, epoch, seq, worker, term, is_late, text)
       values ('s', 'e', $1, null, null, false, 'r') on conflict do nothing`,
      [seq],
    );
  for (const seq of [1, 2, 3]) await old(seq);
  await client.query("insert into log values ('s', 'e', 3)");

  const store = await opened(url);
  expect(await store.append("a", LOG, [])).toBe(3);
  expect(
    await store.append(
      "a",
      LOG,
      [2, 3, 4, 5].map((seq) => recordOf(seq, null)),
    ),
  ).toBe(5);
  await old(5);
  await old(6);
  expect(await seqs(client)).toEqual([1, 2, 3, 4, 5, 6]);
  const { rows } = await client.query<{ place: number }>(
    "select place::integer from record order by seq, place",
  );
  expect(rows.map(({ place }) => place)).toEqual(
    rows.map(({ place }) => place).toSorted((one, other) => one - other),
  );
  // Nothing is dropped before somebody says a number.
  expect(await store.keepDays()).toEqual({ before: 0, keep_days: 0 });
  expect(await store.tendCopy()).toBe(0);
});

it("a log whose row is gone goes on after its records, and a day without a table gets one", async () => {
  const url = await fresh();
  const store = await opened(url);
  const client = await connected(url);
  const records = [1, 2, 3].map((seq) => recordOf(seq, null));
  await store.append("a", LOG, records);
  await ageCopy(client, 3);
  await client.query("delete from log");
  expect(await store.append("a", LOG, records)).toBe(3);
  expect(await seqs(client)).toEqual([1, 2, 3]);

  const { rows } = await client.query<{ name: string }>(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'record'::regclass`,
  );
  for (const { name } of rows) await client.query(`drop table ${name}`);
  expect(await store.append("a", LOG, [recordOf(4, null)])).toBe(4);
  expect(await seqs(client)).toEqual([4]);
});
