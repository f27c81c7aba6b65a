/** Rows of a cluster that nobody needs any more end with the old days of the copy. */
import type pg from "pg";
import { expect, it } from "vitest";
import { CLUSTER_PRUNED_ROWS_MAX, CLUSTER_REQUESTS_KEPT_DAYS } from "../../../src/base/limits.ts";
import type { PostgresStore } from "../../../src/cluster/postgres/store.ts";
import { databasesOf } from "../support/databases.ts";
import { joined, running } from "../support/store-contract.ts";

const databases = databasesOf("pruning");
const fresh = async () => {
  const url = await databases.fresh();
  return { url, store: await databases.opened(url), client: await databases.connected(url) };
};
/** An hour has gone by. */
const tended = async (store: PostgresStore, client: pg.Client): Promise<void> => {
  await client.query("update copy_rule set tended_at = '-infinity'");
  expect(await store.tendCopy()).not.toBeNull();
};
const valuesOf = async (client: pg.Client, text: string): Promise<readonly unknown[]> =>
  (await client.query<{ value: unknown }>(text)).rows.map(({ value }) => value);
const sessions = (client: pg.Client) =>
  valuesOf(client, "select session_id as value from session order by session_id");
const requests = (client: pg.Client) =>
  valuesOf(client, "select request as value from request order by request");
const session = (session_id: string) => ({ kind: "claude_code", session_id });

it("a session stays while its worker holds it, and no longer", async () => {
  const { store, client } = await fresh();
  const a = await joined(store, "a");
  const runs = await Promise.all(["over", "killed", "runs"].map((worker) => running(store, worker, a)));
  for (const run of runs) expect(await store.takeSession(session(run.worker), run)).toBeUndefined();
  await store.end(runs[0]!);
  await store.kill("killed");
  await tended(store, client);
  expect(await sessions(client)).toEqual(["killed", "runs"]);
  await store.stopped(runs[1]!);
  await tended(store, client);
  expect(await sessions(client)).toEqual(["runs"]);
});

it("a session that another worker takes meanwhile stays with that one", async () => {
  const { url, store, client } = await fresh();
  const a = await joined(store, "a");
  const [before, next] = [await running(store, "before", a), await running(store, "next", a)];
  await store.takeSession(session("s"), before);
  await store.end(before);
  const taker = await databases.connected(url);
  await taker.query("begin");
  await taker.query("update session set worker = 'next', term = $1 where session_id = 's'", [next.term]);
  const pruning = tended(store, client);
  const { rows } = await taker.query<{ pid: number }>("select pg_backend_pid() as pid");
  const looker = await databases.connected(url);
  const isWaited = async () =>
    (
      await looker.query("select from pg_stat_activity where $1 = any (pg_blocking_pids(pid))", [
        rows[0]!.pid,
      ])
    ).rowCount === 1;
  while (!(await isWaited()));
  await taker.query("commit");
  await pruning;
  expect(await store.sessionHolder(session("s"))).toEqual({ worker: "next", node: "a" });
});

it("the key of a request answers for as long as its worker has its name, and else for its days", async () => {
  const { store, client } = await fresh();
  const place = (worker: string, request: string) =>
    store.place({ worker, spec_digest: "d", on_partition: "stop", needs: {} }, "spec", request);
  const a = await joined(store, "a");
  for (const worker of ["stays", "reused"]) {
    expect(await place(worker, `${worker}-1`)).toBe(true);
    expect(await store.claim(worker, 0, a)).toBe(true);
    await store.end({ ...a, worker, term: 1 });
  }
  expect(await place("reused", "reused-2")).toBe(true);
  await tended(store, client);
  expect(await requests(client)).toEqual(["reused-1", "reused-2", "stays-1"]);
  const age = (days: number) => client.query("update request set at = now() - $1 * interval '1 day'", [days]);
  await age(CLUSTER_REQUESTS_KEPT_DAYS - 1);
  await tended(store, client);
  expect(await requests(client)).toHaveLength(3);
  await age(CLUSTER_REQUESTS_KEPT_DAYS + 1);
  await tended(store, client);
  expect(await requests(client)).toEqual([]);
  expect(await store.placedBy("stays-1")).toMatchObject({ worker: "stays", is_reused: false });
  expect(await store.placedBy("reused-2")).toMatchObject({ worker: "reused", is_reused: false });
  expect(await store.placedBy("reused-1")).toBeUndefined();
});

it("rows that are too many for one time are left to the next", async () => {
  const { store, client } = await fresh();
  const many = CLUSTER_PRUNED_ROWS_MAX + 1;
  await client.query(
    "insert into request (request, worker, spec_digest, at) select n, 'w', '', '-infinity' from generate_series(1, $1) n",
    [many],
  );
  await tended(store, client);
  expect(await requests(client)).toHaveLength(1);
  await tended(store, client);
  expect(await requests(client)).toEqual([]);
});
