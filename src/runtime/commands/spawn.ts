/** The beginning of a worker's life. A spawn is checked whole, recorded with its secrets masked, and only then put under supervision. */
import { Effect, Option, Semaphore } from "effect";
import { attempt, attemptAsync, typed } from "../../actors/machine/attempt.ts";
import type { Resumer } from "../../actors/sessions.ts";
import { crashPoint } from "../../base/crash-point.ts";
import { type Caller, USER } from "../../protocol/caller.ts";
import { canonicalJson } from "../../protocol/canonical-json.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { newId } from "../../protocol/ids.ts";
import { type RecordDraft, workerStream } from "../../protocol/records.ts";
import { WorkerSpec, type WorkerSpecInput } from "../../protocol/worker.ts";
import type { WorkerRow } from "../../store/port.ts";
import type { ReasonCode } from "../../supervisor/admission/seats.ts";
import { decide } from "../../supervisor/child/decide.ts";
import { evolve, newChild } from "../../supervisor/child/evolve.ts";
import { askedSession } from "../../supervisor/sessions/asked-session.ts";
import type { RuntimeApi } from "../api.ts";
import type { Core } from "../core.ts";
import { queuedRecord, type Ticket } from "../limits/admission.ts";
import { replyOf } from "../reading/views.ts";
import type { SpawnReply } from "../replies.ts";
import { makeSpecs } from "../specs.ts";
import type { Forest } from "../trees/forest.ts";
import { keyReused } from "./idempotency.ts";

export interface Spawning {
  readonly spawn: RuntimeApi["spawn"];
  /** A new life of what has ended, asked for by name. */
  startAgain(row: WorkerRow, by: string): Effect.Effect<void, HoldfastError>;
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

/** The caller is no part of it. A spec that an older version put on record has the defaults of fields that are new. */
const asAsked = (spec: WorkerSpec): string =>
  canonicalJson({ ...WorkerSpec.parse(spec), parent: undefined, client_env: undefined });

export const makeSpawning = (core: Core, forest: Pick<Forest, "add">): Spawning => {
  const { services, roster, admission, authority, adapterOf, rowOf, commit } = core;
  const { log } = services;
  const specs = makeSpecs(core);

  /** Spawns with an idempotency key go one at a time, so that a repeat always finds the first one's record. */
  const keyed = Semaphore.makeUnsafe(1);
  const spawn: RuntimeApi["spawn"] = (given, { caller = USER, ...options } = {}) => {
    const asked = caller.type === "worker" ? { ...given, parent: caller.worker_id } : given;
    const permitted = authority.permitStart(callerOf(asked, caller));
    return Effect.mapError(Effect.andThen(permitted, spawnOnce(asked, options)), withReason);
  };

  /** A caller that names a parent may do no more than it. */
  const callerOf = ({ parent }: WorkerSpecInput, caller: Caller): Caller =>
    caller.type === "worker" || parent === undefined ? caller : { type: "worker", worker_id: parent };

  const spawnOnce = (
    given: WorkerSpecInput,
    { idempotency_key, dry_run = false }: Omit<NonNullable<Parameters<RuntimeApi["spawn"]>[1]>, "caller">,
  ): Effect.Effect<SpawnReply, HoldfastError> => {
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
      // A parent that another daemon supervises is not kept.
      const parent = yield* knownParent(spec);
      if (parent !== undefined) yield* authority.narrow(spec, adapter, parent);
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
          yield* authority.permitStart(callerOf(spec, USER));
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

  const startAgain = (row: WorkerRow, by: string): Effect.Effect<void, HoldfastError> =>
    Effect.gen(function* () {
      const spec = yield* attemptAsync(() => services.files.load(row.id));
      const adapter = yield* adapterOf(row.kind);
      const begin = ({ queued, turn }: Ticket) =>
        Effect.gen(function* () {
          const ended = yield* core.fold(row, spec);
          const at = core.now();
          const { events } = decide(ended, { type: "restart", by, grace_ms: 0 }, at);
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
