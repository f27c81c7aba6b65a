/** The contract of a cluster's store, on a real Postgres; and what only a database can do wrong. */
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { CLUSTER_CONNECTIONS_MAX, CLUSTER_RUNS_AT_ONCE } from "../../../src/base/limits.ts";
import { ClusterTablesError, migrate } from "../../../src/cluster/postgres/migrate.ts";
import { CLAIM } from "../../../src/cluster/postgres/runs.ts";
import { MIGRATIONS, SCHEMA } from "../../../src/cluster/postgres/schema.ts";
import * as statements from "../../../src/cluster/postgres/statements.ts";
import { PostgresStore } from "../../../src/cluster/postgres/store.ts";
import type { ClusterStore } from "../../../src/cluster/store.ts";
import { TestPostgres } from "../../support/postgres.ts";
import { holdsContract, joined, recordOf, running } from "../support/store-contract.ts";

let postgres: TestPostgres;
let count = 0;
const stores: PostgresStore[] = [];
const clients: pg.Client[] = [];

beforeAll(async () => {
  postgres = await TestPostgres.start();
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.end().catch(() => {})));
  await Promise.all(stores.splice(0).map((store) => store.close()));
});
afterAll(async () => {
  await postgres?.remove();
});

const openAt = async (url: string): Promise<PostgresStore> => {
  const store = await PostgresStore.open(url);
  stores.push(store);
  return store;
};
const fresh = (): Promise<string> => postgres.database(`test_${count++}`);
const open = async (): Promise<ClusterStore> => openAt(await fresh());
const connected = async (url: string): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: url, options: `-c search_path=${SCHEMA}` });
  client.on("error", () => {});
  clients.push(client);
  await client.connect();
  return client;
};

describe("a cluster's store in Postgres", () => {
  holdsContract(open);

  /** A session with an open transaction, and a wait until another one waits for it, or is over. */
  const opened = async (url: string) => {
    const [holder, looker] = [await connected(url), await connected(url)];
    const { rows } = await holder.query<{ pid: number }>("select pg_backend_pid() as pid");
    await holder.query("begin");
    const isBlocking = async (): Promise<boolean> => {
      const waiting = "select 1 from pg_stat_activity where $1 = any (pg_blocking_pids(pid))";
      return (await looker.query(waiting, [rows[0]?.pid])).rows.length > 0;
    };
    const untilWaitedFor = async (isOver: () => boolean): Promise<void> => {
      while (!isOver() && !(await isBlocking()));
    };
    return { holder, untilWaitedFor };
  };

  /** An append of the old term that has read its fence, and is not durable yet: then a claim. */
  const race = async (append: string) => {
    const url = await fresh();
    const store = await openAt(url);
    const [a, b] = [await joined(store, "a"), await joined(store, "b")];
    await running(store, "w", a);
    await store.bury("a", 1, 0);
    await store.append("a", { store_id: "s", epoch: "e" }, []);
    const { holder, untilWaitedFor } = await opened(url);
    await holder.query(append, ["a", "s", "e", 1, 1, ["w"], [1], "old", [false]]);
    let isClaimed = false;
    const claim = store.claim("w", 1, b).then((won) => {
      isClaimed = won;
    });
    await untilWaitedFor(() => isClaimed);
    const wasClaimedFirst = isClaimed;
    await holder.query("commit");
    await claim;
    return { wasClaimedFirst, isClaimed, records: (await store.stream("w", 0)).records.length };
  };

  it("a claim waits for an append of the old term that has begun, and then knows it", async () => {
    expect(await race(statements.APPEND)).toEqual({ wasClaimedFirst: false, isClaimed: true, records: 1 });
  });

  it("without its lock the same append comes after the claim: so the test would find it", async () => {
    const unlocked = statements.APPEND.replace("order by worker for share", "");
    expect(unlocked).not.toBe(statements.APPEND);
    expect(await race(unlocked)).toEqual({ wasClaimedFirst: true, isClaimed: true, records: 1 });
  });

  it("an append that waits for a claim sees it, and its record is late", async () => {
    const url = await fresh();
    const store = await openAt(url);
    const [a, b] = [await joined(store, "a"), await joined(store, "b")];
    const run = await running(store, "w", a);
    await store.bury("a", 1, 0);
    const { holder, untilWaitedFor } = await opened(url);
    await holder.query(CLAIM, [b.node, b.node_term, ["w"], [1]]);
    let isDone = false;
    const append = store.append("a", { store_id: "s", epoch: "e" }, [recordOf(1, run)]).finally(() => {
      isDone = true;
    });
    await untilWaitedFor(() => isDone);
    await holder.query("commit");
    expect(await append).toBe(1);
    expect((await store.stream("w", 0)).records).toEqual([]);
  });

  it("a look that asks for what has changed sees what a first look sees, after each change", async () => {
    const url = await fresh();
    const [store, other] = [await openAt(url), await openAt(url)];
    const [a, b] = [await joined(store, "a"), await joined(store, "b")];
    const isAlike = async (): Promise<number> => {
      const byName = async (one: ClusterStore) =>
        [...(await one.view("a")).placements].sort((x, y) => (x.worker < y.worker ? -1 : 1));
      const [later, first] = [await byName(store), await byName(await openAt(url))];
      expect(later).toEqual(first);
      return later.length;
    };
    const run = await running(store, "w", a);
    expect(await isAlike()).toBe(1);
    await running(store, "v", a);
    await running(store, "u", b);
    expect(await isAlike()).toBe(2);
    await other.begin(run);
    expect(await isAlike()).toBe(2);
    // One goes and another one comes, so that the number stays.
    await other.kill("v");
    await running(other, "t", a);
    expect(await isAlike()).toBe(2);
    expect(await other.release(run, 1)).toBe(true);
    expect(await isAlike()).toBe(2);
    expect(await other.claim("w", run.term, b)).toBe(true);
    expect(await isAlike()).toBe(1);
  });

  it("a renewal waits for no other statement of its node", async () => {
    const url = await fresh();
    const store = await openAt(url);
    const a = await joined(store, "a");
    const run = await running(store, "w", a);
    const { holder, untilWaitedFor } = await opened(url);
    await holder.query("select from placement for update");
    const waiting = Array.from({ length: 2 * CLUSTER_CONNECTIONS_MAX }, () => store.end(run));
    await untilWaitedFor(() => false);
    expect(await store.renew(a)).toBe(true);
    await holder.query("commit");
    expect((await Promise.all(waiting)).filter(Boolean)).toHaveLength(1);
  });

  it("claims that come at once are one statement each for many, and each has its answer", async () => {
    const url = await fresh();
    const store = await openAt(url);
    const [a, b] = [await joined(store, "a"), await joined(store, "b")];
    const names = Array.from({ length: 3 * CLUSTER_RUNS_AT_ONCE }, (_, at) => `w${at}`);
    for (const worker of names)
      await store.place({ worker, spec_digest: "", on_partition: "stop", needs: {} });
    await store.claim("w7", 0, b);
    const won = await Promise.all(names.map((worker) => store.claim(worker, 0, a)));
    expect(names.filter((_, at) => !won[at])).toEqual(["w7"]);
    // An earlier term and this one, two nodes, and one run twice: all at once.
    const begun = [
      { ...a, worker: "w8", term: 1 },
      { ...a, worker: "w8", term: 0 },
      { ...a, worker: "w7", term: 1 },
      { ...b, worker: "w7", term: 1 },
      { ...a, worker: "w9", term: 1 },
      { ...a, worker: "w9", term: 1 },
    ];
    const began = await Promise.all(begun.map((run) => store.begin(run)));
    expect(began).toEqual([true, false, false, true, true, false]);
  });

  it("a run that cannot be told to the database at once with others is asked for again, and none is taken twice", async () => {
    const url = await fresh();
    const store = await openAt(url);
    const a = await joined(store, "a");
    for (const worker of ["w1", "w2"])
      await store.place({ worker, spec_digest: "", on_partition: "stop", needs: {} });
    // Postgres takes no text with a zero byte, so that the statement of all fails.
    const all = ["w1", "w2", "w\0"].map((worker) => store.claim(worker, 0, a));
    expect((await Promise.allSettled(all)).map(({ status }) => status)).toEqual(Array(3).fill("rejected"));
    expect(await Promise.all(["w1", "w2"].map((worker) => store.claim(worker, 0, a)))).toEqual([true, true]);
    expect(await store.claim("w1", 0, a)).toBe(false);
  });

  it("a change of the tables takes as long as it needs, and not as long as another statement may", async () => {
    const pool = new pg.Pool({
      connectionString: await postgres.database("unhurried"),
      options: `-c search_path=${SCHEMA}`,
      statement_timeout: 200,
      query_timeout: 200,
    });
    expect(await migrate(pool, ["select pg_sleep(0.5)"])).toEqual({ from: 0, to: 1 });
    await expect(pool.query("select pg_sleep(0.5)")).rejects.toThrow();
    await pool.end();
  });

  it("nodes that open it at once migrate it once", async () => {
    const url = await fresh();
    await Promise.all(Array.from({ length: 5 }, () => openAt(url)));
    const client = await connected(url);
    const { rows } = await client.query<{ version: number }>(
      "select version from migration order by version",
    );
    expect(rows.map(({ version }) => version)).toEqual(MIGRATIONS.map((_, at) => at + 1));
  });

  it("tables of a newer Holdfast are left alone", async () => {
    const url = await fresh();
    await openAt(url);
    const client = await connected(url);
    await client.query("insert into migration values ($1, clock_timestamp())", [MIGRATIONS.length + 1]);
    await expect(PostgresStore.open(url)).rejects.toThrow(ClusterTablesError);
  });

  it("tables of a newer Holdfast that only adds to them are used as they are", async () => {
    const url = await fresh();
    await openAt(url);
    const client = await connected(url);
    await client.query("alter table node add column colour text");
    const [newer, known] = [MIGRATIONS.length + 1, MIGRATIONS.length];
    await client.query("insert into migration values ($1, clock_timestamp(), $2)", [newer, known]);
    const store = await openAt(url);
    expect(await store.renew(await joined(store, "a"))).toBe(true);
    expect(await store.migrate()).toEqual({ from: newer, to: newer });
    await client.query("update migration set oldest = $1 where version = $1", [newer]);
    await expect(PostgresStore.open(url)).rejects.toThrow(ClusterTablesError);
  });

  it("newer tables are noticed by a store that has used the older ones, and it goes on once they are its own", async () => {
    const url = await fresh();
    const store = await openAt(url);
    const a = await joined(store, "a");
    const client = await connected(url);
    await client.query("insert into migration values ($1, clock_timestamp())", [MIGRATIONS.length + 1]);
    const renewed = () => store.renew(a).catch((cause: unknown) => cause);
    let answer = await renewed();
    while (answer === true) answer = await renewed();
    expect(answer).toBeInstanceOf(ClusterTablesError);
    await client.query("delete from migration where version > $1", [MIGRATIONS.length]);
    expect(await store.renew(a)).toBe(true);
  });

  it("a change that another node made first is no error, whatever the order", async () => {
    const store = await open();
    const fences = await Promise.all(["a", "b", "c"].map((id) => joined(store, id)));
    const workers = Array.from({ length: 30 }, (_, at) => `w${at}`);
    for (const worker of workers)
      await store.place({ worker, spec_digest: "", on_partition: "stop", needs: {} });
    const won = await Promise.all(
      fences.flatMap((fence) => [
        ...workers.map((worker) => store.claim(worker, 0, fence)),
        store.renew(fence).then(() => false),
        store.drain(fence.node, false).then(() => false),
      ]),
    );
    expect(won.filter(Boolean)).toHaveLength(workers.length);
  });
});

describe("a session", () => {
  const session = { kind: "claude_code", session_id: "s1" };

  it("has one holder of those who ask at once, until its placement is over", async () => {
    const store = await openAt(await fresh());
    const a = await joined(store, "a");
    const runs = await Promise.all(["u", "v", "w"].map((worker) => running(store, worker, a)));
    const answers = await Promise.all(runs.map((run) => store.takeSession(session, run)));
    const winner = runs[answers.indexOf(undefined)]!;
    const { worker } = winner;
    expect(answers.filter((answer) => answer === undefined)).toHaveLength(1);
    expect(answers.filter((answer) => answer?.worker === worker)).toHaveLength(2);
    expect(await store.sessionHolder(session)).toEqual({ worker, node: "a" });
    expect(await store.takeSession(session, winner)).toBeUndefined();
    await store.kill(worker);
    const other = runs.find((run) => run !== winner)!;
    expect(await store.takeSession(session, other)).toEqual({ worker, node: "a" });
    await store.stopped(winner);
    expect(await store.sessionHolder(session)).toBeUndefined();
    expect(await store.takeSession(session, other)).toBeUndefined();
  });

  it("is left for another one, taken by no term of before, and forgotten with the use of a name", async () => {
    const store = await openAt(await fresh());
    const a = await joined(store, "a");
    const run = await running(store, "w", a);
    expect(await store.takeSession(session, run)).toBeUndefined();
    expect(await store.takeSession({ ...session, session_id: "s2" }, run)).toBeUndefined();
    expect(await store.sessionHolder(session)).toBeUndefined();
    await store.takeSession(session, { ...run, term: 7 });
    expect(await store.sessionHolder(session)).toBeUndefined();
    await store.end(run);
    const again = { worker: "w", spec_digest: "", on_partition: "stop", needs: {} } as const;
    expect(await store.place(again, "spec")).toBe(false);
    expect(await store.sessionHolder({ ...session, session_id: "s2" })).toBeUndefined();
  });
});

describe("a placed worker of a file", () => {
  it("is its file's while it runs, also where a look before saw it end", async () => {
    const store = await openAt(await fresh());
    const owner = { tree: "shop", file: "/shop.yaml" };
    const seen = async () => {
      const [row] = await store.ofTree("shop", []);
      return row && [row.desired, row.is_over];
    };
    const far = { worker: "far", spec_digest: "", on_partition: "continue", needs: {} } as const;
    expect(await store.place(far, "spec", null, owner)).toBe(true);
    const a = await joined(store, "a");
    expect(await store.claim("far", 0, a)).toBe(true);
    expect(await store.disown("far", "shop")).toBe(false);
    expect(await seen()).toEqual(["running", false]);
    await store.retire("far", "shop", { by: "user", reason: "its spec changed" });
    expect(await seen()).toEqual(["killed", false]);
    // A node that goes on through a partition may still run it when it is dead.
    await store.bury("a", a.node_term, 0);
    expect(await seen()).toEqual(["killed", false]);
    await store.declareGone("a");
    expect(await seen()).toEqual(["killed", true]);
    expect(await store.disown("far", "shop")).toBe(true);
    expect(await seen()).toBeUndefined();
  });
});

describe("a budget of a placed worker", () => {
  it("begins anew with its worker, and stays where the name of another one begins alike", async () => {
    const store = await openAt(await fresh());
    const names = ["team/usd", "team/output_bytes", "team/alice/usd", "team/usd/usd"];
    const known = { limit: 16, spent: 15, portions: new Map() };
    for (const name of names) await store.withBudget(name, () => ({ after: known, result: undefined }));
    const limits = () =>
      Promise.all(names.map((name) => store.withBudget(name, (before) => ({ result: before?.limit }))));
    const team = { worker: "team", spec_digest: "", on_partition: "stop", needs: {} } as const;
    expect(await limits()).toEqual([16, 16, 16, 16]);
    expect(await store.place(team, "spec")).toBe(true);
    expect(await limits()).toEqual([undefined, undefined, 16, 16]);
  });
});

describe("a Postgres that goes away", () => {
  it("refuses meanwhile, and knows afterwards all that it acknowledged", async () => {
    const url = await fresh();
    const store = await openAt(url);
    const a = await joined(store, "a");
    const run = await running(store, "w", a);
    await store.append("a", { store_id: "s", epoch: "e" }, [recordOf(1, run)]);
    await postgres.stop();
    await expect(store.renew(a)).rejects.toThrow();
    await postgres.start();
    expect(await store.renew(a)).toBe(true);
    expect((await store.stream("w", 0)).records).toHaveLength(1);
  });
});

describe("a Postgres that speaks TLS", () => {
  it("is believed with the authority of its certificate, and not without", async () => {
    const authority = postgres.speakTls();
    await postgres.stop();
    await postgres.start();
    const strict = postgres.url("?sslmode=verify-full");
    await expect(PostgresStore.open(strict)).rejects.toThrow();
    const store = await openAt(`${strict}&sslrootcert=${encodeURIComponent(authority)}`);
    expect((await store.view("a")).nodes).toEqual([]);
    const client = await connected(`${strict}&sslrootcert=${encodeURIComponent(authority)}`);
    const { rows } = await client.query("select ssl from pg_stat_ssl where pid = pg_backend_pid()");
    expect(rows).toEqual([{ ssl: true }]);
  });
});
