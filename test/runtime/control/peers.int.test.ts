/** Federation through the whole runtime, on a real log and a wall clock that the test sets. */
import { it } from "@effect/vitest";
import { Clock, Effect } from "effect";
import { expect } from "vitest";
import { FINGERPRINT_AGE_MIN_MS, FINGERPRINT_TASKS_MIN } from "../../../src/base/limits.ts";
import { checkAudit, NO_AUDIT } from "../../../src/protocol/audit.ts";
import type { HoldfastError } from "../../../src/protocol/errors.ts";
import { federatedWorker } from "../../../src/protocol/peer.ts";
import { Requests } from "../../../src/protocol/requests.ts";
import type { RuntimeApi } from "../../../src/runtime/api.ts";
import { memoryMachine, settled, shiftingClock, spec } from "../memory-runtime.ts";

const HUB = "b.example";
const START = Date.parse("2026-03-01T00:00:00Z");
const outcome = <A>(work: Effect.Effect<A, HoldfastError>) =>
  Effect.match(work, { onSuccess: () => "done", onFailure: ({ code }) => code });

const hexId = (n: number): string => n.toString(16).padStart(32, "0");
const crossed = { fields: ["title"], stripped: [], digest: "d".repeat(64), bytes: 10 };

/** A runtime that has met a peer. */
const federating = Effect.gen(function* () {
  const { shift, clock } = yield* shiftingClock;
  const machine = yield* Effect.provideService(memoryMachine, Clock.Clock, clock);
  const pass = (ms: number): void => {
    shift.wall_ms += ms;
  };
  pass(START - clock.currentTimeMillisUnsafe());
  const boot = Effect.provideService(machine.boot(), Clock.Clock, clock);
  const { runtime, crash } = yield* boot;
  yield* runtime.peers.add(
    Requests["peer/add"].parse({
      hub_id: HUB,
      url: "http://b.example",
      shared_capabilities: ["seo:analyze"],
    }),
  );
  yield* runtime.peers.meet({
    hub_id: HUB,
    url: "http://b.example",
    public_key: "a".repeat(64),
    algorithm: "Ed25519",
    capabilities: ["content:translate"],
    timestamp: Math.floor(START / 1_000),
    session: hexId(1),
  });
  return { ...machine, runtime, crash, boot, pass };
});

const task = (n: number) => ({
  hub_id: HUB,
  task_id: hexId(n),
  direction: "out" as const,
  capability: "content:translate",
  ...crossed,
});

const doTask = (runtime: RuntimeApi, n: number) =>
  Effect.gen(function* () {
    const { capability: _, ...ended } = task(n);
    yield* runtime.peers.admit(task(n));
    yield* runtime.peers.settle({ ...ended, status: "success" });
  });

const audited = (runtime: RuntimeApi) =>
  Effect.map(runtime.peers.audit(0, 1_000), ({ entries }) => {
    expect(
      checkAudit(
        NO_AUDIT,
        entries.map(({ seq: _, ...entry }) => entry),
      ).broken,
    ).toBeUndefined();
    return entries.map(({ action, status }) => `${action} ${status}`);
  });

it.effect("a peer is verified by a day of good tasks, and only then can be trusted", () =>
  Effect.gen(function* () {
    const { runtime, pass } = yield* federating;
    expect(yield* outcome(runtime.peers.trust(HUB))).toBe("PEER_UNTRUSTED");
    for (let n = 1; n < FINGERPRINT_TASKS_MIN; n += 1) yield* doTask(runtime, n);
    pass(FINGERPRINT_AGE_MIN_MS);
    expect((yield* runtime.peers.show(HUB)).tier).toBe("known");
    yield* doTask(runtime, FINGERPRINT_TASKS_MIN);
    expect(yield* runtime.peers.show(HUB)).toMatchObject({ tier: "verified", open: [] });
    expect(yield* runtime.peers.trust(HUB, { caller: { type: "user", name: "carol" } })).toMatchObject({
      tier: "trusted",
      effect: "updated",
    });
    expect((yield* runtime.peers.trust(HUB)).effect).toBe("noop");
    const { entries } = yield* runtime.peers.audit(0, 1_000);
    expect(entries.at(-1)).toMatchObject({ actor: "user:carol", action: "peer.trust", target: HUB });
  }),
);

it.effect("a task that arrives twice, across a crash, is admitted and settled once", () =>
  Effect.gen(function* () {
    const { runtime, crash, boot } = yield* federating;
    const asked = { ...task(1), direction: "in" as const, capability: "seo:analyze" };
    const { capability: _, ...ended } = asked;
    expect((yield* runtime.peers.admit(asked)).effect).toBe("updated");
    yield* crash;
    const { runtime: next } = yield* boot;
    expect((yield* next.peers.admit(asked)).effect).toBe("noop");
    expect(yield* outcome(next.peers.admit({ ...asked, digest: "e".repeat(64) }))).toBe("ALREADY_EXISTS");
    expect((yield* next.peers.settle({ ...ended, status: "success" })).effect).toBe("updated");
    expect((yield* next.peers.settle({ ...ended, status: "failed" })).effect).toBe("noop");
    expect((yield* next.peers.admit(asked)).effect).toBe("noop");
    expect(yield* audited(next)).toEqual([
      "peer.add ok",
      "peer.handshake ok",
      "task.request ok",
      "task.result ok",
    ]);
  }),
);

it.effect("a peer that tells of a breaking change is known again, and each notice is in the trail", () =>
  Effect.gen(function* () {
    const { runtime, pass } = yield* federating;
    for (let n = 1; n < FINGERPRINT_TASKS_MIN; n += 1) yield* doTask(runtime, n);
    pass(FINGERPRINT_AGE_MIN_MS);
    yield* doTask(runtime, FINGERPRINT_TASKS_MIN);
    expect(yield* runtime.peers.notify({ hub_id: HUB, change: "notable" })).toMatchObject({
      ...{ tier: "verified", effect: "noop" },
    });
    expect(yield* runtime.peers.notify({ hub_id: HUB, change: "breaking" })).toMatchObject({
      ...{ tier: "known", fingerprint: { tasks: 0 } },
    });
    const trail = yield* audited(runtime);
    expect(trail.slice(-3)).toEqual(["peer.notify ok", "peer.notify ok", "peer.tier ok"]);
    expect(yield* outcome(runtime.peers.notify({ hub_id: "nobody.example", change: "benign" }))).toBe(
      "PEER_NOT_FOUND",
    );
  }),
);

it.effect("a revoked peer is gone, and so are the workers of its tasks", () =>
  Effect.gen(function* () {
    const { runtime, memory } = yield* federating;
    const asked = { ...task(1), direction: "in" as const, capability: "seo:analyze" };
    yield* runtime.peers.admit(asked);
    const name = federatedWorker(HUB, asked.task_id);
    yield* runtime.spawn({ ...spec({ restart: "temporary" }), name });
    yield* runtime.spawn({ ...spec({ restart: "temporary" }), name: "mine" });
    yield* settled;
    const [theirs, mine] = memory.runs;
    yield* Effect.forkChild(runtime.peers.revoke(HUB, "over"));
    yield* settled;
    expect(yield* outcome(runtime.peers.show(HUB))).toBe("PEER_NOT_FOUND");
    expect(yield* outcome(runtime.peers.admit({ ...asked, task_id: hexId(2) }))).toBe("PEER_NOT_FOUND");
    expect([theirs, mine].map((run) => run!.signals.length > 0)).toEqual([true, false]);
  }),
);

it.effect("no agent decides about trust, and none that works for a peer asks another one", () =>
  Effect.gen(function* () {
    const { runtime } = yield* federating;
    const name = federatedWorker(HUB, hexId(1));
    const { id } = yield* runtime.spawn({ ...spec({ restart: "temporary" }), name });
    yield* settled;
    const options = { caller: { type: "worker" as const, worker_id: id } };
    expect(yield* outcome(runtime.peers.trust(HUB, options))).toBe("POLICY_VIOLATION");
    expect(yield* outcome(runtime.peers.revoke(HUB, "", options))).toBe("POLICY_VIOLATION");
    expect(yield* outcome(runtime.peers.admit(task(1), options))).toBe("PEER_UNTRUSTED");
    expect(yield* audited(runtime)).toEqual(["peer.add ok", "peer.handshake ok", "task.request denied"]);
  }),
);
