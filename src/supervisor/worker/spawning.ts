/** What begins a worker's life. A spawn is checked whole, recorded with its secrets masked, and only then put under supervision. */
import { Effect, Option, Semaphore } from "effect";
import { canonicalJson } from "../../protocol/canonical-json.ts";
import { crashPoint } from "../../protocol/crash-point.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { newId } from "../../protocol/ids.ts";
import { type RecordDraft, workerStream } from "../../protocol/records.ts";
import { WorkerSpec, type WorkerSpecInput } from "../../protocol/worker.ts";
import type { WorkerRow } from "../../store/port.ts";
import { queuedRecord, type Ticket } from "../admission/admission.ts";
import type { ReasonCode } from "../admission/seats.ts";
import { attempt, attemptAsync, typed } from "../attempt.ts";
import type { Core } from "../core.ts";
import type { RuntimeApi } from "../facade.ts";
import { keyReused } from "../idempotency.ts";
import { replyOf } from "../reading/views.ts";
import type { SpawnReply } from "../replies.ts";
import { askedSession, type Resumer } from "../sessions/sessions.ts";
import type { Forest } from "../tree/forest.ts";
import { decide } from "./decide.ts";
import { evolve, newChild } from "./evolve.ts";
import { makeSpecs } from "./specs.ts";

export interface Spawning {
  readonly spawn: RuntimeApi["spawn"];
  /** A new life of what has ended, asked for by name. */
  startAgain(row: WorkerRow): Effect.Effect<void, HoldfastError>;
}

/** Every denial of a spawn has its contract's reason code; what is no limit of ours is a start that failed. */
const withReason = (error: HoldfastError): HoldfastError => {
  const { details, phase } = error.info;
  if (details?.reason_code !== undefined || phase === "validation") return error;
  return new HoldfastError(error.code, error.message, {
    ...error.info,
    details: { ...details, reason_code: "spawn_failed" satisfies ReasonCode },
  });
};

/** Who asked is no part of it. What an older version put on record has the defaults of fields that are new. */
const asAsked = (spec: WorkerSpec): string =>
  canonicalJson({ ...WorkerSpec.parse(spec), parent: undefined, client_env: undefined });

export const makeSpawning = (core: Core, forest: Pick<Forest, "add">): Spawning => {
  const { services, roster, admission, adapterOf, rowOf, commit } = core;
  const { log } = services;
  const specs = makeSpecs(core);

  /** Spawns with an idempotency key go one at a time, so that a repeat always finds the first one's record. */
  const keyed = Semaphore.makeUnsafe(1);
  const spawn: RuntimeApi["spawn"] = (given, options) =>
    Effect.mapError(spawnOnce(given, options), withReason);

  const spawnOnce: RuntimeApi["spawn"] = (given, { idempotency_key, dry_run = false } = {}) => {
    if (idempotency_key === undefined) return spawnNew(given, undefined, dry_run);
    const requestId = `spawn:${idempotency_key}`;
    return keyed.withPermits(1)(
      Effect.gen(function* () {
        const earlier = yield* attempt(() => log.byId(requestId));
        if (earlier?.type !== "worker_spawn_requested" || earlier.worker_id === undefined)
          return yield* spawnNew(given, requestId, dry_run);
        if (!(yield* isRepeat(given, earlier.payload.spec)))
          return yield* Effect.fail(keyReused(idempotency_key));
        return replyOf(yield* rowOf(earlier.worker_id), "noop");
      }),
    );
  };

  /** A program or a secret that is gone since then does not make another request of it: what cannot be compared is taken for the first. */
  const isRepeat = (given: WorkerSpecInput, first: WorkerSpec): Effect.Effect<boolean, HoldfastError> =>
    Effect.gen(function* () {
      const { spec, adapter } = yield* specs.checked(given);
      const masked = yield* Effect.option(Effect.map(specs.startable(spec, adapter), (made) => made.masked));
      return Option.match(masked, {
        onNone: () => true,
        onSome: (again) => asAsked(again) === asAsked(first),
      });
    });

  const spawnNew = (
    given: WorkerSpecInput,
    requestId: string | undefined,
    dryRun: boolean,
  ): Effect.Effect<SpawnReply, HoldfastError> =>
    Effect.gen(function* () {
      const { spec, adapter } = yield* specs.checked(given);
      const { kept: startable, masked, shown } = yield* specs.startable(spec, adapter);
      yield* attemptAsync(async () => services.workspaces?.refuseBranch(spec));
      if (dryRun) {
        const refused = core.sessions.refusal({ id: "", spec, adapter }, askedSession(spec));
        if (refused !== undefined) return yield* Effect.fail(refused);
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
      // A parent that another daemon supervises is not kept.
      const parent = yield* knownParent(spec);
      const kept = { ...startable, parent };
      const requested: RecordDraft = {
        type: "worker_spawn_requested",
        stream: workerStream(id),
        worker_id: id,
        ...(requestId === undefined ? {} : { id: requestId }),
        payload: { spec: { ...masked, parent }, clock: core.now().clock },
      };
      const begin = ({ queued, turn }: Ticket) =>
        Effect.gen(function* () {
          yield* refuseOrphan(spec);
          yield* attemptAsync(() => services.files.save(id, kept));
          crashPoint("spawn-spec-saved");
          if (kept.supervisor !== "root") return yield* forest.add(id, kept, requested);
          yield* commit(queued === undefined ? [requested] : [requested, queuedRecord(id, queued)]);
          yield* roster.supervise({
            spec: kept,
            adapter,
            turn,
            child: newChild(id, kept),
            order: core.place(),
            beginning: { action: { type: "start" } },
          });
        });
      const ancestors = yield* core.ancestors(kept.parent);
      const session = askedSession(kept);
      yield* holding(
        { id, spec: kept, adapter },
        session,
        admission.admit({ id, spec: kept, ancestors }, begin),
      );
      return replyOf(yield* rowOf(id), "created");
    });

  /** Before anything is recorded: what then does not begin holds no session. */
  const holding = <A>(
    worker: Resumer,
    session: string | undefined,
    begin: Effect.Effect<A, HoldfastError>,
  ): Effect.Effect<A, HoldfastError> =>
    Effect.gen(function* () {
      const { sessions } = core;
      // Two who start the same worker at once: the second one's failure takes nothing from the first.
      const had = sessions.holds(worker.id);
      const refused = yield* attempt(() => sessions.claim(worker, session));
      if (refused !== undefined) return yield* Effect.fail(refused);
      const release = Effect.sync(() => sessions.release(worker.id));
      return yield* had ? begin : Effect.onError(begin, () => release);
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
      const begin = ({ queued, turn }: Ticket) =>
        Effect.gen(function* () {
          const ended = yield* core.fold(row, spec);
          const at = core.now();
          const { events } = decide(ended, { type: "restart", by: "user", grace_ms: 0 }, at);
          yield* commit(queued === undefined ? events : [...events, queuedRecord(row.id, queued)]);
          const child = events.reduce((state, event) => evolve(state, event, at.mono_ms), ended);
          yield* roster.supervise({
            spec,
            adapter,
            turn,
            child,
            order: core.place(),
            beginning: { action: { type: "start" } },
          });
        });
      const ancestors = yield* core.ancestors(spec.parent);
      const session = row.session_id ?? askedSession(spec);
      yield* holding(
        { id: row.id, spec, adapter },
        session,
        admission.admit({ id: row.id, spec, ancestors }, (ticket) => typed(begin(ticket))),
      );
    });

  return { spawn, startAgain };
};
