/** Three nodes as fibers on a real Postgres, in real time: one is cut off, one is killed, and the database goes away. */
import { it } from "@effect/vitest";
import { Effect } from "effect";
import { afterAll, beforeAll, expect } from "vitest";
import { PostgresStore } from "../../../src/cluster/postgres/store.ts";
import { TestPostgres } from "../../support/postgres.ts";
import { CanaryMachine, Flock, startedMember } from "../support/canaries.ts";
import { Door } from "../support/door.ts";

const HOUR_MS = 3_600_000;
const LOOK_MS = 20;
const STOPS = ["s1", "s2", "s3", "s4", "s5", "s6"];
const GO_ON = ["c1", "c2", "c3"];

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await TestPostgres.start();
});
afterAll(async () => {
  await postgres?.remove();
});

/** As long as the test may take. */
const until = (holds: () => boolean) =>
  Effect.gen(function* () {
    while (!holds()) yield* Effect.sleep(LOOK_MS);
  });
const openAt = (url: string) =>
  Effect.acquireRelease(
    Effect.promise(() => PostgresStore.open(url)),
    (store) => Effect.promise(() => store.close()),
  );

const cluster = (name: string) =>
  Effect.gen(function* () {
    const flock = new Flock();
    const url = yield* Effect.promise(() => postgres.database(name));
    const person = yield* openAt(url);
    const nodes = yield* Effect.forEach(["a", "b", "c"], (id, at) =>
      Effect.gen(function* () {
        const door = new Door(yield* openAt(url));
        const machine = yield* CanaryMachine.make(id, flock, (at - 1) * HOUR_MS);
        const { kill } = yield* startedMember(machine, door.store);
        yield* Effect.addFinalizer(() => kill);
        return { id, door, machine, kill };
      }),
    );
    for (const worker of [...STOPS, ...GO_ON])
      yield* Effect.promise(() =>
        person.place({
          worker,
          spec_digest: "",
          on_partition: GO_ON.includes(worker) ? "continue" : "stop",
          needs: {},
        }),
      );
    yield* until(() => [...STOPS, ...GO_ON].every((worker) => flock.nodeOf(worker) !== undefined));
    return {
      flock,
      person,
      nodes,
      nodeOf: (worker: string) => nodes.find(({ id }) => id === flock.nodeOf(worker))!,
    };
  });

it.live(
  "the workers of a node that is cut off, and of one that is killed, run elsewhere, and none twice",
  () =>
    Effect.gen(function* () {
      const { flock, nodeOf } = yield* cluster("elsewhere");
      const cut = nodeOf("s1");
      cut.door.isShut = true;
      yield* until(() => STOPS.every((worker) => ![undefined, cut.id].includes(flock.nodeOf(worker))));
      expect(GO_ON.map((worker) => flock.startsOf(worker))).toEqual([1, 1, 1]);
      cut.door.isShut = false;
      const killed = nodeOf("s1");
      yield* killed.kill;
      killed.machine.switchOff();
      yield* until(() => STOPS.every((worker) => ![undefined, killed.id].includes(flock.nodeOf(worker))));
      expect(flock.overlaps).toEqual([]);
    }),
);

it.live("while Postgres is away, some stop and the others go on; and when it is back, all run", () =>
  Effect.gen(function* () {
    const { flock } = yield* cluster("outage");
    yield* Effect.promise(() => postgres.stop());
    yield* until(() => STOPS.every((worker) => flock.nodeOf(worker) === undefined));
    expect(GO_ON.map((worker) => flock.nodeOf(worker) !== undefined)).toEqual([true, true, true]);
    yield* Effect.promise(() => postgres.start());
    yield* until(() => STOPS.every((worker) => flock.nodeOf(worker) !== undefined));
    expect(GO_ON.map((worker) => flock.startsOf(worker))).toEqual([1, 1, 1]);
    // On a busy machine a node may miss its lease once more.
    for (const worker of STOPS) expect(flock.startsOf(worker), worker).toBeGreaterThanOrEqual(2);
    expect(flock.overlaps).toEqual([]);
  }),
);
