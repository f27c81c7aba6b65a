/** The copy of a log on a real Postgres: dense, each record once, over a database that goes away and a node that begins again. */
import { it } from "@effect/vitest";
import { Effect, Fiber } from "effect";
import pg from "pg";
import { afterAll, beforeAll, expect } from "vitest";
import { CLUSTER_SHIP_MAX_RECORDS } from "../../../src/base/limits.ts";
import { ship } from "../../../src/cluster/node/shipper.ts";
import { SCHEMA } from "../../../src/cluster/postgres/schema.ts";
import { PostgresStore } from "../../../src/cluster/postgres/store.ts";
import type { CopiedRecord } from "../../../src/cluster/store.ts";
import { TestPostgres } from "../../support/postgres.ts";

const LOOK_MS = 5;

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await TestPostgres.start();
});
afterAll(async () => {
  await postgres?.remove();
});

class GrowingLog {
  readonly store_id = "s";
  readonly epoch = "e";
  copied = 0;
  private readonly records: CopiedRecord[] = [];

  grow(count: number): void {
    for (let at = 0; at < count; at++)
      this.records.push({ seq: this.records.length + 1, run: null, text: `r${this.records.length + 1}` });
  }

  get size(): number {
    return this.records.length;
  }

  read(after: number, max: number): Effect.Effect<readonly CopiedRecord[]> {
    return Effect.map(
      until(() => this.records.length > after),
      () => this.records.slice(after, after + max),
    );
  }
}

const setUp = (name: string) =>
  Effect.gen(function* () {
    const url = yield* Effect.promise(() => postgres.database(name));
    const store = yield* Effect.acquireRelease(
      Effect.promise(() => PostgresStore.open(url)),
      (opened) => Effect.promise(() => opened.close()),
    );
    const log = new GrowingLog();
    const reports: string[] = [];
    const started = Effect.forkChild(
      ship({
        node: "a",
        store,
        log,
        onCopied: (seq) => {
          log.copied = seq;
        },
        report: (what) => reports.push(what),
      }),
    );
    const texts = Effect.promise(async () => {
      const client = new pg.Client({ connectionString: url, options: `-c search_path=${SCHEMA}` });
      await client.connect();
      const { rows } = await client.query<{ text: string }>("select text from record order by seq");
      await client.end();
      return rows.map(({ text }) => text);
    });
    return { log, reports, started, texts, url };
  });
const until = (holds: () => boolean) =>
  Effect.gen(function* () {
    while (!holds()) yield* Effect.sleep(LOOK_MS);
  });
const dense = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `r${at + 1}`);

it.live("a log is copied to its end, and goes on to be", () =>
  Effect.gen(function* () {
    const { log, started, texts } = yield* setUp("ends");
    log.grow(CLUSTER_SHIP_MAX_RECORDS * 3 + 7);
    yield* started;
    yield* until(() => log.copied === log.size);
    log.grow(3);
    yield* until(() => log.copied === log.size);
    expect(yield* texts).toEqual(dense(log.size));
  }),
);

it.live("a copy goes on where it was, after a database that was away and a node that begins again", () =>
  Effect.gen(function* () {
    const { log, reports, started, texts } = yield* setUp("away");
    log.grow(CLUSTER_SHIP_MAX_RECORDS * 20);
    const first = yield* started;
    yield* until(() => log.copied > 0);
    yield* Effect.promise(() => postgres.stop());
    log.grow(10);
    yield* until(() => reports.length > 0);
    yield* Effect.promise(() => postgres.start());
    yield* until(() => log.copied === log.size);
    yield* Fiber.interrupt(first);
    log.grow(10);
    yield* started;
    yield* until(() => log.copied === log.size);
    expect(yield* texts).toEqual(dense(log.size));
  }),
);

it.live("a copy that was deleted while the log stood still is made anew", () =>
  Effect.gen(function* () {
    const { log, started, texts, url } = yield* setUp("deleted");
    log.grow(5);
    yield* started;
    yield* until(() => log.copied === log.size);
    yield* Effect.promise(async () => {
      const client = new pg.Client({ connectionString: url, options: `-c search_path=${SCHEMA}` });
      await client.connect();
      await client.query("truncate log, record");
      await client.end();
    });
    while ((yield* texts).length < 5) yield* Effect.sleep(LOOK_MS);
    expect(yield* texts).toEqual(dense(5));
  }),
);

it.live("a copy whose tables were dropped while the log stood still is made anew once there are tables", () =>
  Effect.gen(function* () {
    const { log, reports, started, texts, url } = yield* setUp("dropped");
    log.grow(5);
    yield* started;
    yield* until(() => log.copied === log.size);
    yield* Effect.promise(async () => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.query(`drop schema ${SCHEMA} cascade`);
      await client.end();
    });
    yield* until(() => reports.length > 0);
    yield* Effect.promise(async () => (await PostgresStore.open(url)).close());
    while ((yield* texts).length < 5) yield* Effect.sleep(LOOK_MS);
    expect(yield* texts).toEqual(dense(5));
  }),
);
