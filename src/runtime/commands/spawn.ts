/** Spawns workers. A spec is checked completely, recorded with its secrets masked, and only then put under supervision. */
import { Effect, Option, Semaphore } from "effect";
import { SoloDecider } from "../../actors/deciding/worker-decider.ts";
import { attempt, attemptAsync, typed } from "../../actors/machine/attempt.ts";
import type { Resumer } from "../../actors/sessions.ts";
import { toolsWithEffects } from "../../actors/worker/open-turn.ts";
import { refusalInCluster } from "../../actors/worker/session-holding.ts";
import type { Beginning } from "../../actors/worker/worker.ts";
import type { AgentAdapter } from "../../adapters/adapter.ts";
import { crashPoint } from "../../base/crash-point.ts";
import { askedSession } from "../../protocol/asked-session.ts";
import { byOf, type Caller, USER } from "../../protocol/caller.ts";
import { canonicalJson } from "../../protocol/canonical-json.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { newId } from "../../protocol/ids.ts";
import { type RecordDraft, workerStream } from "../../protocol/records.ts";
import { isEnded, WorkerSpec, type WorkerSpecInput } from "../../protocol/worker.ts";
import type { EventLog } from "../../store/event-log.ts";
import type { Views, WorkerRow } from "../../store/views.ts";
import type { ReasonCode } from "../../supervisor/admission/seats.ts";
import { hasLimits } from "../../supervisor/budgets/budgets.ts";
import { decideBroughtTurn } from "../../supervisor/child/brought-turn.ts";
import { decide } from "../../supervisor/child/decide.ts";
import { evolve, newChild } from "../../supervisor/child/evolve.ts";
import type { ChildState } from "../../supervisor/child/inputs.ts";
import type { InterruptedTurn } from "../../supervisor/child/interruption.ts";
import type { RuntimeApi } from "../api.ts";
import { called } from "../boot/boot.ts";
import { SKILL_KIND } from "../control/skill-ground.ts";
import type { Core } from "../core.ts";
import { keyReused, spawnRecordId } from "../idempotency.ts";
import { lateRefusal } from "../late-refusal.ts";
import { queuedRecord, type Ticket } from "../limits/admission.ts";
import { replyOf } from "../reading/views.ts";
import type { SpawnReply } from "../replies.ts";
import { makeSpecs, type Specs } from "../specs.ts";
import type { Forest } from "../trees/forest.ts";

/** Adds the contract's reason code to a refused spawn. A refusal by none of our limits is a failed start. */
const withReason = (error: HoldfastError): HoldfastError => {
  const { details, phase } = error.info;
  if (details?.reason_code !== undefined || phase === "validation") return error;
  return new HoldfastError(error.code, error.message, {
    ...error.info,
    details: { ...details, reason_code: "spawn_failed" satisfies ReasonCode },
  });
};

/** A spec for comparison: without the caller, and with today's defaults for fields that an older version did not record. */
const asAsked = (spec: WorkerSpec): string =>
  canonicalJson({ ...WorkerSpec.parse(spec), parent: undefined, client_env: undefined, trace: undefined });

/** The state after the request, and how it begins: a start if nothing else is said. */
interface FirstState {
  readonly child: ChildState;
  readonly action?: Beginning["action"];
}

interface SpawnHow {
  readonly by: string;
  readonly dry_run?: boolean;
}

export class Spawning {
  private readonly core: Core;
  private readonly forest: Pick<Forest, "add">;
  private readonly log: EventLog;
  private readonly views: Views;
  private readonly specs: Specs;
  /** Runs spawns with an idempotency key one at a time, so that a repeat always finds the first one's record. */
  private readonly keyed = Semaphore.makeUnsafe(1);

  constructor(core: Core, forest: Pick<Forest, "add">) {
    this.core = core;
    this.forest = forest;
    this.log = core.services.log;
    this.views = core.services.views;
    this.specs = makeSpecs(core);
  }

  readonly spawn: RuntimeApi["spawn"] = (given, options) =>
    given.kind === SKILL_KIND ? Effect.fail(notSpawned()) : this.spawnAny(given, options);

  /** The same for the run of a skill, whose policy was asked. */
  readonly spawnAny: RuntimeApi["spawn"] = (
    { placement, placed: _, ...given },
    { caller = USER, by = byOf(caller), placed, ...options } = {},
  ) => {
    if (placement !== undefined && placed === undefined) return Effect.fail(notPlaced());
    const parent = caller.type === "worker" ? caller.worker_id : given.parent;
    const asked = { ...given, parent, placed: placed ?? this.placeOf(parent) };
    const permitted = this.core.authority.permitStart(callerOf(asked, caller));
    return Effect.mapError(Effect.andThen(permitted, this.spawnOnce(asked, { ...options, by })), withReason);
  };

  /** The agent of a worker of a cluster starts others by the same right, so that they end with it. */
  private placeOf(parent: string | undefined): WorkerSpecInput["placed"] {
    const placed = parent === undefined ? undefined : this.views.worker(parent)?.spec.placed;
    return placed && { ...placed, brought: undefined };
  }

  /** Starts an ended worker again, by name. */
  startAgain(row: WorkerRow, by: string): Effect.Effect<void, HoldfastError> {
    return Effect.gen({ self: this }, function* () {
      const spec = called(yield* attemptAsync(() => this.core.services.files.load(row.id)), row);
      if (spec.placed !== undefined) return yield* Effect.fail(endedHere());
      const adapter = yield* this.core.adapterOf(row.kind);
      const begin = ({ queued, turn }: Ticket) =>
        Effect.gen({ self: this }, function* () {
          const ended = yield* this.core.fold(row, spec);
          const at = this.core.now();
          const { events } = decide(ended, { type: "restart", by, grace_ms: 0 }, at);
          yield* this.core.commit(queued === undefined ? events : [...events, queuedRecord(row.id, queued)]);
          const child = events.reduce((state, event) => evolve(state, event, at.mono_ms), ended);
          yield* this.core.roster.supervise({
            spec,
            adapter,
            turn,
            child,
            order: this.core.place(),
            beginning: { action: { type: "start" } },
          });
        });
      const ancestors = yield* this.core.ancestors(spec.parent);
      const session = row.session_id ?? askedSession(spec);
      yield* this.holding(
        { id: row.id, spec, adapter },
        session,
        this.core.admission.admit({ id: row.id, spec, ancestors }, (ticket) => typed(begin(ticket))),
      );
    });
  }

  private spawnOnce(
    given: WorkerSpecInput,
    { idempotency_key, ...how }: SpawnHow & { readonly idempotency_key?: string | undefined },
  ): Effect.Effect<SpawnReply, HoldfastError> {
    if (idempotency_key === undefined) return this.spawnNew(given, undefined, how);
    const requestId = spawnRecordId(idempotency_key);
    return this.keyed.withPermits(1)(
      Effect.gen({ self: this }, function* () {
        const earlier = yield* attempt(() => this.log.byId(requestId));
        if (earlier?.type !== "worker_spawn_requested" || earlier.worker_id === undefined)
          return yield* this.spawnNew(given, requestId, how);
        if (!(yield* this.isRepeat(given, earlier.payload.spec)))
          return yield* Effect.fail(keyReused(idempotency_key));
        return replyOf(yield* this.core.rowOf(earlier.worker_id), "noop");
      }),
    );
  }

  /**
   * True if the request repeats the first one. If it cannot be compared, because a program or a secret is gone since, it
   * counts as a repeat.
   */
  private isRepeat(given: WorkerSpecInput, first: WorkerSpec): Effect.Effect<boolean, HoldfastError> {
    return Effect.gen({ self: this }, function* () {
      const { spec, adapter } = yield* this.specs.checked(given);
      const masked = yield* Effect.option(
        Effect.map(this.specs.startable(spec, adapter), (made) => made.masked),
      );
      return Option.match(masked, {
        onNone: () => true,
        onSome: (again) => asAsked(again) === asAsked(first),
      });
    });
  }

  private spawnNew(
    given: WorkerSpecInput,
    requestId: string | undefined,
    { by, dry_run = false }: SpawnHow,
  ): Effect.Effect<SpawnReply, HoldfastError> {
    return Effect.gen({ self: this }, function* () {
      const { spec, adapter } = yield* this.specs.checked(given);
      const late = lateRefusal(spec, this.core.wallMs());
      if (late !== undefined) return yield* Effect.fail(late);
      // Drop a parent that belongs to another daemon.
      const parent = yield* this.knownParent(spec);
      if (parent !== undefined) yield* this.core.authority.narrow(spec, adapter, parent);
      const { kept: startable, masked, shown } = yield* this.specs.startable(spec, adapter);
      yield* attemptAsync(async () => this.core.services.workspaces?.refuseBranch(spec));
      if (dry_run) {
        const asked = askedSession(spec);
        const refused =
          this.core.sessions.refusal({ id: "", spec, adapter }, asked) ??
          (yield* refusalInCluster(this.core.services.leases, { spec, adapter }, asked));
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
      const id = newId(this.core.wallMs());
      const kept = { ...startable, parent };
      const requested: RecordDraft = {
        type: "worker_spawn_requested",
        stream: workerStream(id),
        worker_id: id,
        ...(requestId === undefined ? {} : { id: requestId }),
        payload: { spec: { ...masked, parent }, by, clock: this.core.now().clock },
      };
      const begin = ({ queued, turn }: Ticket) =>
        Effect.gen({ self: this }, function* () {
          yield* this.core.authority.permitStart(callerOf(spec, USER));
          yield* attemptAsync(() => this.core.services.files.save(id, kept));
          crashPoint("spawn-spec-saved");
          if (kept.supervisor !== "root") return yield* this.forest.add(id, kept, requested);
          const first = yield* this.first(id, kept, requested, { queued, turn }, adapter);
          const { child, action = { type: "start" } } = first;
          if (isEnded(child.state)) return this.gone(id);
          yield* this.core.roster.supervise({
            spec: kept,
            adapter,
            turn,
            child,
            order: this.core.place(),
            beginning: { action },
          });
          if (action.type === "wait") this.core.admission.rested(id);
        });
      const ancestors = yield* this.core.ancestors(kept.parent);
      const session = askedSession(kept);
      yield* this.holding(
        { id, spec: kept, adapter },
        session,
        this.core.admission.admit({ id, spec: kept, ancestors }, begin),
      );
      return replyOf(yield* this.core.rowOf(id), "created");
    });
  }

  /** A worker that ended with its request, so that nobody supervises it. */
  private gone(id: string): void {
    this.core.admission.left(id);
    this.core.sessions.release(id);
  }

  /**
   * Records the request, and in the same transaction its place in the queue or the beginning of its first incarnation.
   * Returns the state after it. The beginning comes later if it may have to wait for a budget, or for an answer.
   */
  private first(
    id: string,
    spec: WorkerSpec,
    requested: RecordDraft,
    { queued, turn }: Ticket,
    adapter: AgentAdapter,
  ): Effect.Effect<FirstState, HoldfastError> {
    const { commit, services, now, accounts } = this.core;
    const at = now();
    const child = evolve(newChild(id, spec), requested, at.mono_ms);
    const turn_brought = broughtTurn(spec, adapter);
    const held = turn_brought === undefined ? undefined : decideBroughtTurn(child, turn_brought, at);
    if (held !== undefined) {
      const { events } = held;
      const after = events.reduce((state, event) => evolve(state, event, at.mono_ms), child);
      return Effect.as(commit([requested, ...events]), { child: after, action: { type: "wait" } });
    }
    if (queued !== undefined) return Effect.as(commit([requested, queuedRecord(id, queued)]), { child });
    const { parent, budget } = spec;
    const isUnbounded = !hasLimits(budget) && (parent === undefined || accounts.isFree({ id: parent }));
    if (!isUnbounded || !turn.isFree() || turn() !== undefined)
      return Effect.as(commit([requested]), { child });
    // Nobody is there yet to be told: a beginning has no commands.
    const decider = new SoloDecider({ log: services.log, trace: services.trace, now }, child, {
      tell: () => undefined,
    });
    const resumes = spec.placed?.brought?.session_id;
    const going_on = resumes === undefined || adapter.sessions_under === undefined ? {} : { resumes };
    const begun = decider.input({ type: "begin", incarnation: 1, reason: "spawn", ...going_on }, [requested]);
    return Effect.map(begun, () => ({ child: decider.child() }));
  }

  /** Claims the session before anything is recorded. If the worker does not begin, the session is released. */
  private holding<A>(
    worker: Resumer,
    session: string | undefined,
    begin: Effect.Effect<A, HoldfastError>,
  ): Effect.Effect<A, HoldfastError> {
    return Effect.gen({ self: this }, function* () {
      const { sessions, services } = this.core;
      // With two starts of the same worker at once, the failure of the second must not release the first one's claim.
      const had = sessions.holds(worker.id);
      const refused = yield* attempt(() => sessions.claim(worker, session));
      if (refused !== undefined) return yield* Effect.fail(refused);
      const release = Effect.sync(() => sessions.release(worker.id));
      const taking = Effect.flatMap(refusalInCluster(services.leases, worker, session), (held) =>
        held === undefined ? begin : Effect.fail(held),
      );
      return yield* had ? taking : Effect.onError(taking, () => release);
    });
  }

  /**
   * The parent, if this store knows it: the marker of an agent that uses several state directories may name a worker of
   * another one.
   */
  private knownParent({ parent }: WorkerSpec) {
    return attempt(() =>
      parent !== undefined && this.views.worker(parent) !== undefined ? parent : undefined,
    );
  }
}

/** The caller for permission checks: one that names a parent may do no more than the parent. */
const callerOf = ({ parent }: WorkerSpecInput, caller: Caller): Caller =>
  caller.type === "worker" || parent === undefined ? caller : { type: "worker", worker_id: parent };

/** The turn in which the worker ended on another node. */
const broughtTurn = ({ placed }: WorkerSpec, adapter: AgentAdapter): InterruptedTurn | undefined => {
  const { interrupted, session_id = null } = placed?.brought ?? {};
  if (interrupted === undefined || adapter.sessions_under === undefined) return undefined;
  return { tools: toolsWithEffects(adapter, interrupted.tools), session_id };
};

const notPlaced = (): HoldfastError =>
  new HoldfastError("INVALID_STATE", "Only agent spawn places a worker on a cluster.", {
    phase: "validation",
    suggestion: "Place it by itself: agent spawn --where LABEL=V",
  });

const endedHere = (): HoldfastError =>
  new HoldfastError("INVALID_STATE", "A cluster placed this worker here, and its place here has ended.", {
    suggestion: "Place it anew: agent spawn --where",
  });

const notSpawned = (): HoldfastError =>
  new HoldfastError("INVALID_AGENT_KIND", "A skill is not spawned by its kind.", {
    phase: "validation",
    suggestion: "Run it by its name: agent run NAMESPACE/VERB",
  });
