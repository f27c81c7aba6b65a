/** A spawn waits for the disk as seldom as its promises allow. */
import { expect, it } from "@effect/vitest";
import { Effect } from "effect";
import type { EventLog } from "../../../src/store/event-log.ts";
import { memoryMachine, nth, settled, spec } from "../memory-runtime.ts";

const recording = Effect.gen(function* () {
  const { memory, boot, log } = yield* memoryMachine;
  const commits: (readonly string[])[] = [];
  const commit: EventLog["commit"] = (drafts, options) => {
    commits.push(drafts.map(({ type }) => type));
    return log.commit(drafts, options);
  };
  const { runtime } = yield* boot({ log: { ...log, commit } });
  commits.length = 0;
  return { memory, runtime, commits };
});

it.effect("a spawned worker begins in the transaction of its request, before its agent is started", () =>
  Effect.gen(function* () {
    const { memory, runtime, commits } = yield* recording;
    const { id, status } = yield* runtime.spawn(spec());
    expect(status).toBe("starting");
    yield* nth(memory, 1);
    yield* settled;
    expect(commits).toEqual([
      ["worker_spawn_requested", "worker_state_changed"],
      ["worker_spawned", "worker_started", "worker_state_changed"],
    ]);
    expect(yield* runtime.info(id)).toMatchObject({ state: "running", incarnation: 1 });
  }),
);

it.effect("a worker with a budget, and what its agent spawns, begin once the budget was asked", () =>
  Effect.gen(function* () {
    const { memory, runtime, commits } = yield* recording;
    const above = yield* runtime.spawn(spec({ budget: { restarts: 5 } }));
    yield* nth(memory, 1);
    yield* settled;
    const below = yield* runtime.spawn(spec({ parent: above.id }));
    yield* nth(memory, 2);
    yield* settled;
    expect([above.status, below.status]).toEqual(["pending", "pending"]);
    expect(commits.filter((types) => types.includes("worker_spawn_requested"))).toEqual([
      ["worker_spawn_requested"],
      ["worker_spawn_requested"],
    ]);
    expect(yield* runtime.info(below.id)).toMatchObject({ state: "running", incarnation: 1 });
  }),
);
