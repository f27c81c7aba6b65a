/** The life of a node on a real Postgres, with a runtime that fails: it is told, and it lives again. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "@effect/vitest";
import { Effect } from "effect";
import { afterAll, beforeAll, expect } from "vitest";
import { PostgresStore } from "../../../src/cluster/postgres/store.ts";
import type { ClusterGround } from "../../../src/daemon/cluster/ground.ts";
import { writeKept } from "../../../src/daemon/cluster/kept.ts";
import { NodeSeat } from "../../../src/daemon/cluster/node.ts";
import { Rights } from "../../../src/daemon/rights.ts";
import { TestPostgres } from "../../support/postgres.ts";

const LOOK_MS = 10;

let postgres: TestPostgres;
let dir: string;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "holdfast-node-"));
  postgres = await TestPostgres.start();
});
afterAll(async () => {
  await postgres?.remove();
  rmSync(dir, { recursive: true, force: true });
});

it.live("an end of its life that nobody asked for is told once, and it lives again", () =>
  Effect.gen(function* () {
    const database = yield* Effect.promise(() => postgres.database("life"));
    yield* Effect.promise(async () => (await PostgresStore.open(database)).close());
    writeKept(dir, {
      database,
      name: "a",
      labels: {},
      capacity: 4,
      endpoint: "",
      term: 0,
      until_ms: null,
      session: "s",
    });
    let isBroken = true;
    const lines: unknown[] = [];
    const runtime = {
      epoch: "e",
      follow: () => Effect.never,
      placed: () => Effect.succeed([]),
      placeOf: () => undefined,
      status: () =>
        Effect.suspend(() =>
          isBroken ? Effect.die(new Error("broken")) : Effect.succeed({ store_id: "s", head: 0 }),
        ),
    } as unknown as ClusterGround["runtime"];
    const ground = {
      stateDir: dir,
      runtime,
      rights: new Rights(),
      log: (_: string, __: string, data: unknown) => void lines.push(data),
    } as unknown as ClusterGround;
    const seat = yield* NodeSeat.open(ground, yield* Effect.scope);
    while (lines.length === 0) yield* Effect.sleep(LOOK_MS);
    isBroken = false;
    while ((yield* seat.status).self?.holds_lease !== true) yield* Effect.sleep(LOOK_MS);
    expect(lines).toEqual([{ what: "the life of this node: broken" }]);
    expect((yield* seat.status).self?.failing).toBeNull();
  }),
);
