/** What begins a worker's life. A spawn is checked whole, recorded with its secrets masked, and only then put under supervision. */
import { Effect, Semaphore } from "effect";
import type { AgentAdapter } from "../adapters/adapter.ts";
import { HoldfastError } from "../protocol/errors.ts";
import { newId } from "../protocol/ids.ts";
import { type RecordDraft, workerStream } from "../protocol/records.ts";
import { makeRedactor } from "../protocol/redact.ts";
import { WorkerSpec, type WorkerSpecInput } from "../protocol/worker.ts";
import type { WorkerRow } from "../store/port.ts";
import { attempt, attemptAsync, typed } from "./attempt.ts";
import type { Core } from "./core.ts";
import { decide } from "./decide.ts";
import { evolve, newChild } from "./evolve.ts";
import type { RuntimeApi } from "./facade.ts";
import type { SpawnReply } from "./replies.ts";
import { replyOf } from "./views.ts";

export interface Spawning {
  readonly spawn: RuntimeApi["spawn"];
  /** A new life of what has ended, asked for by name. */
  startAgain(row: WorkerRow): Effect.Effect<void, HoldfastError>;
}

export const makeSpawning = (core: Core): Spawning => {
  const { services, roster, admission, adapterOf, rowOf, commit } = core;
  const { log } = services;

  const checked = (
    given: WorkerSpecInput,
  ): Effect.Effect<{ spec: WorkerSpec; adapter: AgentAdapter }, HoldfastError> =>
    Effect.gen(function* () {
      const adapter = yield* adapterOf(String(given.kind));
      const parsed = WorkerSpec.safeParse({ ...given, kind: adapter.kind });
      const problems = parsed.success
        ? [...(yield* attempt(() => adapter.validate(parsed.data)))]
        : parsed.error.issues.map((issue) => `${issue.path.join(".") || "spec"}: ${issue.message}`);
      if (parsed.success && parsed.data.backoff_max_ms < parsed.data.backoff_min_ms)
        problems.push("backoff: the longest delay is shorter than the shortest.");
      if (parsed.success && problems.length === 0) return { spec: parsed.data, adapter };
      return yield* Effect.fail(
        new HoldfastError("INVALID_REQUEST", problems.join(" "), { problems, phase: "validation" }),
      );
    });

  /** Spawns with an idempotency key go one at a time, so that a repeat always finds the first one's record. */
  const keyed = Semaphore.makeUnsafe(1);
  const spawn: RuntimeApi["spawn"] = (given, { idempotency_key, dry_run = false } = {}) => {
    if (idempotency_key === undefined) return spawnNew(given, undefined, dry_run);
    const requestId = `spawn:${idempotency_key}`;
    return keyed.withPermits(1)(
      Effect.gen(function* () {
        const earlier = yield* attempt(() => log.byId(requestId)?.worker_id);
        if (earlier === undefined) return yield* spawnNew(given, requestId, dry_run);
        return replyOf(yield* rowOf(earlier), "noop");
      }),
    );
  };

  const spawnNew = (
    given: WorkerSpecInput,
    requestId: string | undefined,
    dryRun: boolean,
  ): Effect.Effect<SpawnReply, HoldfastError> =>
    Effect.gen(function* () {
      const { spec, adapter } = yield* checked(given);
      // Start errors that are certain now are told now, before anything is recorded.
      const { plan, env, client_env, secrets } = yield* typed(services.prepare(adapter, spec, 1, undefined));
      yield* attemptAsync(() => services.spawner.check({ argv: plan.argv, cwd: spec.cwd, env }));
      const redact = makeRedactor(secrets);
      if (dryRun) {
        const shown = {
          argv: plan.argv.map(redact.text),
          cwd: spec.cwd,
          env: redact.env(env),
          stdin: plan.stdin.kind,
        };
        return {
          id: "",
          name: spec.name ?? null,
          kind: spec.kind,
          status: "pending" as const,
          effect: "would_create" as const,
          plan: shown,
        };
      }
      const id = newId(core.wallMs());
      // Keys that its kind has no use for are not kept; nor is a parent that another daemon supervises.
      const kept = { ...spec, client_env, parent: yield* knownParent(spec) };
      const masked = {
        ...kept,
        env: redact.env(spec.env),
        client_env: {},
        argv: spec.argv.map(redact.text),
        ...(spec.prompt === undefined ? {} : { prompt: redact.text(spec.prompt) }),
      };
      const requested: RecordDraft = {
        type: "worker_spawn_requested",
        stream: workerStream(id),
        worker_id: id,
        ...(requestId === undefined ? {} : { id: requestId }),
        payload: { spec: masked, clock: core.now().clock },
      };
      const begin = Effect.gen(function* () {
        yield* refuseOrphan(spec);
        yield* attemptAsync(() => services.files.save(id, kept));
        yield* commit([requested]);
        yield* roster.supervise({
          spec: kept,
          adapter,
          child: newChild(id, kept),
          order: core.place(),
          beginning: { action: { type: "start" } },
        });
      });
      yield* admission.admit(id, kept, begin);
      return replyOf(yield* rowOf(id), "created");
    });

  /** The marker of an agent that spawns in another state directory names a worker of its own. */
  const knownParent = ({ parent }: WorkerSpec) =>
    attempt(() => (parent !== undefined && log.worker(parent) !== undefined ? parent : undefined));

  /** A killed worker's agent starts nothing more: the kill of a subtree would never come to its end. */
  const refuseOrphan = ({ parent }: WorkerSpec): Effect.Effect<void, HoldfastError> =>
    Effect.gen(function* () {
      const row = parent === undefined ? undefined : yield* attempt(() => log.worker(parent));
      if (row?.tombstone === true)
        yield* Effect.fail(
          new HoldfastError("INVALID_STATE", `Worker ${row.id}, which asks for this one, was killed.`),
        );
    });

  const startAgain = (row: WorkerRow): Effect.Effect<void, HoldfastError> =>
    Effect.gen(function* () {
      const spec = yield* attemptAsync(() => services.files.load(row.id));
      const adapter = yield* adapterOf(row.kind);
      const begin = Effect.gen(function* () {
        const ended = yield* core.fold(row, spec);
        const at = core.now();
        const { events } = decide(ended, { type: "restart", by: "user", grace_ms: 0 }, at);
        yield* commit(events);
        const child = events.reduce((state, event) => evolve(state, event, at.mono_ms), ended);
        yield* roster.supervise({
          spec,
          adapter,
          child,
          order: core.place(),
          beginning: { action: { type: "start" } },
        });
      });
      yield* admission.admit(row.id, spec, typed(begin));
    });

  return { spawn, startAgain };
};
