/** Several agents as one decision: all or none, with codes; rights and depth only narrow; a repeat starts nobody; and a wait for all below. */
import { it } from "@effect/vitest";
import { Effect, Fiber } from "effect";
import { expect } from "vitest";
import type { Roles } from "../../../src/protocol/roles.ts";
import { memoryMachine, nth, settled, spec } from "../memory-runtime.ts";

const ROLES: Roles = {
  coder: { kind: "command", argv: ["code"], prompt: "You write code.", depth: 1 },
  reader: { kind: "command", argv: ["read"], depth: 0 },
};
const asked = (requested_subagents: readonly { role: string; task: string; local_max_depth?: number }[]) => ({
  requested_subagents: [...requested_subagents],
  wait_for_completion: false,
  cwd: "/",
  client_env: {},
});
const TWO = asked([
  { role: "coder", task: "fix it" },
  { role: "reader", task: "look at it" },
]);
const machineWith = (limits = {}) =>
  Effect.gen(function* () {
    const machine = yield* memoryMachine;
    return { ...machine, ...(yield* machine.boot({}, limits, ROLES)) };
  });

it.effect(
  "all of a group start, with the prompt and the depth of their roles, and the decision is on record",
  () =>
    Effect.gen(function* () {
      const { runtime, log, memory } = yield* machineWith();
      const reply = yield* runtime.spawnMany({ ...TWO, epic_id: "login", spawn_reason: "it hangs" });
      expect(reply).toMatchObject({ epic_id: "login", accepted: true, denied_agents: [], suggestion: null });
      expect(reply.spawned_agents.map(({ role, task, depth }) => [role, task, depth])).toEqual([
        ["coder", "fix it", 0],
        ["reader", "look at it", 0],
      ]);
      yield* nth(memory, 2);
      const [coder, reader] = yield* Effect.forEach(reply.spawned_agents, ({ id }) => runtime.info(id));
      expect(coder?.spec).toMatchObject({
        prompt: "You write code.\n\nfix it",
        max_depth: 1,
        labels: { role: "coder", epic: "login" },
        restart: "temporary",
      });
      expect(reader?.spec).toMatchObject({ prompt: "look at it", max_depth: 0 });
      expect(log.daemonStream(["spawn_decided"]).map(({ payload }) => payload)).toMatchObject([
        { epic_id: "login", spawn_reason: "it hangs", by: "user", accepted: true, denied: [] },
      ]);
    }),
);

it.effect("one that may not start keeps all from starting, and says why as a code", () =>
  Effect.gen(function* () {
    const { runtime, memory } = yield* machineWith();
    const reply = yield* runtime.spawnMany(
      asked([...TWO.requested_subagents, { role: "coders", task: "x" }]),
    );
    expect(reply).toMatchObject({ accepted: false, spawned_agents: [], effect: "noop" });
    expect(reply.denied_agents.map(({ role, reason }) => [role, reason])).toEqual([
      ["coder", "not_started"],
      ["reader", "not_started"],
      ["coders", "unknown_role"],
    ]);
    expect(reply.suggestion).toContain("overseer, worker, companion, coder, reader");
    // Nobody asks whose kind a role without one could have.
    const kindless = yield* runtime.spawnMany(asked([{ role: "worker", task: "x" }]));
    expect(kindless.denied_agents[0]?.reason).toBe("spawn_failed");
    expect(memory.runs).toHaveLength(0);
    expect(yield* runtime.list({ all: true })).toEqual([]);
  }),
);

it.effect("a group counts as a whole", () =>
  Effect.gen(function* () {
    const { runtime } = yield* machineWith({ live_max: 2 });
    yield* runtime.spawn(spec());
    const reply = yield* runtime.spawnMany(TWO);
    expect(reply.denied_agents.map(({ reason }) => reason)).toEqual(["not_started", "resource_exhausted"]);
    expect((yield* runtime.spawnMany(asked([{ role: "reader", task: "x" }]))).accepted).toBe(true);
  }),
);

it.effect("an agent's group is below it, deep as its role allows and no deeper", () =>
  Effect.gen(function* () {
    const { runtime, log, memory } = yield* machineWith();
    const first = yield* runtime.spawnMany(asked([{ role: "coder", task: "lead" }]));
    yield* nth(memory, 1);
    const lead = first.spawned_agents[0]!.id;
    const caller = { type: "worker", worker_id: lead, incarnation: 1 } as const;
    const below = yield* runtime.spawnMany(asked([{ role: "coder", task: "help", local_max_depth: 3 }]), {
      caller,
    });
    expect(below.spawned_agents).toMatchObject([{ depth: 1 }]);
    const helper = below.spawned_agents[0]!.id;
    // It asked for more, and has what is above it: limits only tighten.
    expect(yield* runtime.info(helper)).toMatchObject({ parent: lead, spec: { max_depth: 1 } });
    yield* nth(memory, 2);
    const deeper = yield* runtime.spawnMany(asked([{ role: "reader", task: "x" }]), {
      caller: { type: "worker", worker_id: helper, incarnation: 1 },
    });
    expect(deeper.denied_agents).toMatchObject([{ reason: "local_limit_exceeded" }]);
    expect(log.stream(helper, ["spawn_decided"])).toHaveLength(1);
  }),
);

it.effect(
  "a repeat under the same key starts nobody, also after a crash; another group under it is refused",
  () =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      const first = yield* machine.boot({}, {}, ROLES);
      const keyed = { ...TWO, idempotency_key: "k" };
      const reply = yield* first.runtime.spawnMany(keyed);
      yield* nth(machine.memory, 2);
      yield* first.crash;
      const second = yield* machine.boot({}, {}, ROLES);
      const again = yield* second.runtime.spawnMany(keyed);
      expect(again.effect).toBe("noop");
      expect(again.spawned_agents.map(({ id }) => id)).toEqual(reply.spawned_agents.map(({ id }) => id));
      const other = yield* Effect.flip(
        second.runtime.spawnMany({
          ...asked([TWO.requested_subagents[0]!, { role: "reader", task: "another" }]),
          idempotency_key: "k",
        }),
      );
      expect(other.code).toBe("VERSION_CONFLICT");
      expect(yield* second.runtime.list({ all: true })).toHaveLength(2);
    }),
);

it.effect("waits for all of a group, and for everything below a worker", () =>
  Effect.gen(function* () {
    const { runtime, memory } = yield* machineWith();
    const waiting = yield* Effect.forkChild(runtime.spawnMany({ ...TWO, wait_for_completion: true }));
    const [coder, reader] = [yield* nth(memory, 1), yield* nth(memory, 2)];
    const [lead] = yield* runtime.list();
    const subtree = yield* Effect.forkChild(runtime.wait([lead!.id], undefined, { subtree: true }));
    yield* settled;
    const caller = { type: "worker", worker_id: lead!.id, incarnation: 1 } as const;
    yield* runtime.spawnMany(asked([{ role: "reader", task: "below" }]), { caller });
    const below = yield* nth(memory, 3);
    coder.exit(0);
    reader.exit(3);
    yield* settled;
    expect((yield* Fiber.join(waiting)).spawned_agents.map(({ status }) => status)).toEqual([
      "completed",
      "failed",
    ]);
    expect(subtree.pollUnsafe()).toBeUndefined();
    below.exit(0);
    const ends = yield* Fiber.join(subtree);
    expect(ends.map(({ status }) => status)).toEqual(["completed", "completed"]);
  }),
);
