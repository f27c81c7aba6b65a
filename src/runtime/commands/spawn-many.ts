/**
 * Starts several agents by their roles as one decision. Each is checked whole before any is started; if one of them still fails to
 * start, those that have are ended again.
 */
import { Effect, Semaphore } from "effect";
import { attempt } from "../../actors/machine/attempt.ts";
import { type DenialReason, decideSpawn, depthLimit, type Refusal } from "../../control/overseer/decide.ts";
import { type Caller, USER } from "../../protocol/caller.ts";
import { canonicalDigest } from "../../protocol/canonical-json.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import { parseRule } from "../../protocol/permission-rules.ts";
import {
  DAEMON_STREAM,
  type RecordDraft,
  type RecordPayloads,
  workerStream,
} from "../../protocol/records.ts";
import { redactText } from "../../protocol/redact.ts";
import type { SpawnedAgent, SpawnManyReply } from "../../protocol/replies/spawn-many.ts";
import type { RequestData } from "../../protocol/requests.ts";
import { BUILT_IN_ROLES, type Role, type Roles } from "../../protocol/roles.ts";
import { WorkerSpec, type WorkerSpecInput } from "../../protocol/worker.ts";
import { statusOf } from "../../protocol/worker-status.ts";
import type { Ancestor } from "../../supervisor/admission/seats.ts";
import type { RuntimeApi } from "../api.ts";
import type { Core } from "../core.ts";
import { keyReused } from "../idempotency.ts";

type GroupRequest = RequestData<"agent/spawn-many">;
type GroupRecord = RecordPayloads["spawn_decided"];
type SpawnCalls = Pick<RuntimeApi, "spawn" | "kill" | "wait">;

/** One agent of a group, ready to be asked for. */
interface GroupMember {
  readonly spec: WorkerSpecInput;
  readonly depth: number;
}

const digestOf = ({ epic_id, requested_subagents }: GroupRequest): string =>
  canonicalDigest({ epic_id, requested_subagents });

const refusalOf = ({ message, suggestion, info }: HoldfastError): Refusal => ({
  reason: (info.details?.reason_code as DenialReason | undefined) ?? "spawn_failed",
  message,
  suggestion,
});

const unknownRole = (role: string, roles: Roles): Refusal => ({
  reason: "unknown_role",
  message: `There is no role "${role}".`,
  suggestion: `The roles are ${Object.keys(roles).join(", ")}; more stand in config.yaml, under roles.`,
});

const noKind = (role: string): Refusal => ({
  reason: "spawn_failed",
  message: `The role "${role}" has no kind, and no worker asks whose kind it could have.`,
  suggestion: `Name its kind in config.yaml: roles: { ${role}: { kind: KIND } }`,
});

export class SpawningMany {
  private readonly core: Core;
  private readonly calls: SpawnCalls;
  private readonly roles: Roles;
  /** One decision after the other, so that each knows the workers of the one before. */
  private readonly turn = Semaphore.makeUnsafe(1);

  constructor(core: Core, calls: SpawnCalls, roles: Roles) {
    this.core = core;
    this.calls = calls;
    this.roles = { ...BUILT_IN_ROLES, ...roles };
  }

  readonly spawnMany: RuntimeApi["spawnMany"] = (asked, { caller = USER } = {}) =>
    Effect.gen({ self: this }, function* () {
      const decided = yield* Effect.uninterruptible(this.turn.withPermits(1)(this.decided(asked, caller)));
      return asked.wait_for_completion && decided.accepted ? yield* this.completed(decided) : decided;
    });

  private decided(asked: GroupRequest, caller: Caller): Effect.Effect<SpawnManyReply, HoldfastError> {
    return Effect.gen({ self: this }, function* () {
      const { idempotency_key } = asked;
      const id = idempotency_key === undefined ? undefined : `spawn-many:${idempotency_key}`;
      const earlier = id === undefined ? undefined : yield* attempt(() => this.core.services.log.byId(id));
      if (earlier?.type === "spawn_decided") {
        const { spawned, request_digest } = earlier.payload;
        if (request_digest !== digestOf(asked))
          return yield* Effect.fail(keyReused(idempotency_key as string));
        return yield* this.told(asked, spawned, "noop");
      }
      const parent = caller.type === "worker" ? yield* this.core.rowOf(caller.worker_id) : undefined;
      const ancestors = yield* this.core.ancestors(parent?.id);
      const candidates = asked.requested_subagents.map((one) =>
        this.candidate(one, asked, ancestors, parent?.spec),
      );
      const refusals = yield* Effect.forEach(candidates, (one, at) =>
        this.checked(one, at, ancestors, caller),
      );
      const decision = decideSpawn(asked.requested_subagents, refusals);
      if (!decision.accepted) return yield* this.denied(asked, decision, caller);
      return yield* this.started(asked, candidates as readonly GroupMember[], caller, id);
    });
  }

  /** The spec of a role: what it does not say, it has from the worker that asks. */
  private candidate(
    { role: name, task, local_max_depth }: GroupRequest["requested_subagents"][number],
    asked: GroupRequest,
    ancestors: readonly Ancestor[],
    parent: WorkerSpec | undefined,
  ): GroupMember | Refusal {
    const role = Object.hasOwn(this.roles, name) ? this.roles[name] : undefined;
    if (role === undefined) return unknownRole(name, this.roles);
    const kind = role.kind ?? parent?.kind;
    if (kind === undefined) return noKind(name);
    const depth = ancestors.length;
    const bound = ancestors.reduce(
      (least, { max_depth = least }) => Math.min(least, max_depth),
      this.core.admission.depthMax(),
    );
    const max_depth = depthLimit({ levels: role.depth, local_max_depth }, { depth, bound });
    const { epic_id, cwd, client_env } = asked;
    const profile = role.profile ?? parent?.profile;
    const ofKind = kind === parent?.kind ? { argv: parent.argv, model: parent.model, ext: parent.ext } : {};
    const spec: WorkerSpecInput = {
      ...ofKind,
      ...(parent?.sandbox === undefined ? {} : { sandbox: parent.sandbox }),
      ...rightsOf(role, parent),
      ...(role.argv === undefined ? {} : { argv: role.argv }),
      ...(role.model === undefined ? {} : { model: role.model }),
      ...(max_depth === undefined ? {} : { max_depth }),
      ...(profile === undefined ? {} : { profile }),
      kind,
      cwd,
      client_env,
      restart: "temporary",
      prompt: role.prompt === undefined ? task : `${role.prompt}\n\n${task}`,
      labels: { role: name, ...(epic_id === undefined ? {} : { epic: epic_id }) },
    };
    return { spec, depth };
  }

  /** Everything that a start of it alone would fail of, with those before it in its group. */
  private checked(
    one: GroupMember | Refusal,
    before: number,
    ancestors: readonly Ancestor[],
    caller: Caller,
  ): Effect.Effect<Refusal | undefined, HoldfastError> {
    if ("reason" in one) return Effect.succeed(one);
    const checks = Effect.gen({ self: this }, function* () {
      yield* this.calls.spawn(one.spec, { dry_run: true, caller });
      const spec = WorkerSpec.parse(one.spec);
      const refused = this.core.admission.refusalBehind({ id: "", spec, ancestors }, before);
      if (refused !== undefined) yield* Effect.fail(refused);
    });
    return Effect.match(checks, { onSuccess: () => undefined, onFailure: refusalOf });
  }

  private started(
    asked: GroupRequest,
    candidates: readonly GroupMember[],
    caller: Caller,
    id: string | undefined,
  ): Effect.Effect<SpawnManyReply, HoldfastError> {
    return Effect.gen({ self: this }, function* () {
      const { requested_subagents, idempotency_key } = asked;
      const spawned: { readonly id: string; readonly role: string; readonly depth: number }[] = [];
      for (const [at, { spec, depth }] of candidates.entries()) {
        const { role } = requested_subagents[at]!;
        const key = idempotency_key === undefined ? undefined : `${idempotency_key}#${at}`;
        const begun = yield* Effect.result(this.calls.spawn(spec, { caller, idempotency_key: key }));
        if (begun._tag === "Success") spawned.push({ id: begun.success.id, role, depth });
        else {
          const ids = spawned.map((one) => one.id);
          const reason = "another agent of its group could not be started";
          if (ids.length > 0) yield* this.calls.kill({ ids, reason, grace_ms: 0, by: "daemon" });
          const refusals = requested_subagents.map((_, n) =>
            n === at ? refusalOf(begun.failure) : undefined,
          );
          return yield* this.denied(asked, decideSpawn(requested_subagents, refusals), caller);
        }
      }
      yield* this.record(asked, caller, { accepted: true, spawned, denied: [] }, id);
      return yield* this.told(asked, spawned, "created");
    });
  }

  private denied(
    asked: GroupRequest,
    { denied, suggestion }: ReturnType<typeof decideSpawn>,
    caller: Caller,
  ): Effect.Effect<SpawnManyReply, HoldfastError> {
    const told = denied.map(({ role, reason }) => ({ role, reason }));
    return Effect.as(this.record(asked, caller, { accepted: false, spawned: [], denied: told }), {
      epic_id: asked.epic_id ?? null,
      accepted: false,
      spawned_agents: [],
      denied_agents: denied,
      suggestion,
      effect: "noop" as const,
    });
  }

  private record(
    asked: GroupRequest,
    caller: Caller,
    outcome: Pick<GroupRecord, "accepted" | "spawned" | "denied">,
    id?: string,
  ): Effect.Effect<void, HoldfastError> {
    return Effect.gen({ self: this }, function* () {
      const by = yield* this.core.authority.permitShared(caller);
      const { epic_id, spawn_reason } = asked;
      const payload: GroupRecord = {
        epic_id: epic_id === undefined ? null : redactText(epic_id),
        spawn_reason: spawn_reason === undefined ? null : redactText(spawn_reason),
        by,
        request_digest: digestOf(asked),
        ...outcome,
      };
      const draft: RecordDraft =
        caller.type === "worker"
          ? {
              type: "spawn_decided",
              stream: workerStream(caller.worker_id),
              worker_id: caller.worker_id,
              payload,
            }
          : { type: "spawn_decided", stream: DAEMON_STREAM, payload };
      yield* this.core.commit([id === undefined ? draft : { ...draft, id }]);
    });
  }

  private told(
    { epic_id, requested_subagents }: GroupRequest,
    spawned: GroupRecord["spawned"],
    effect: SpawnManyReply["effect"],
  ): Effect.Effect<SpawnManyReply, HoldfastError> {
    return Effect.map(
      Effect.forEach(spawned, ({ id, role, depth }, at) =>
        Effect.map(this.core.rowOf(id), ({ state }): SpawnedAgent => {
          const task = requested_subagents[at]?.task ?? "";
          return { id, role, task, status: statusOf(state), depth };
        }),
      ),
      (spawned_agents) => ({
        epic_id: epic_id ?? null,
        accepted: true,
        spawned_agents,
        denied_agents: [],
        suggestion: null,
        effect,
      }),
    );
  }

  private completed(decided: SpawnManyReply): Effect.Effect<SpawnManyReply, HoldfastError> {
    const ids = decided.spawned_agents.map(({ id }) => id);
    return Effect.map(this.calls.wait(ids), (ends) => ({
      ...decided,
      spawned_agents: decided.spawned_agents.map((one, at) => ({
        ...one,
        status: ends[at]?.status ?? one.status,
      })),
    }));
  }
}

/** Tools that are listed are all that is allowed: an empty list allows none. */
const rightsOf = (
  { permission, allowed_tools }: Role,
  parent: WorkerSpec | undefined,
): Partial<WorkerSpecInput> => {
  const above =
    parent === undefined
      ? {}
      : {
          permission: parent.permission,
          permission_rules: parent.permission_rules,
          approval_default: parent.approval_default,
        };
  if (allowed_tools === undefined) return { ...above, ...(permission === undefined ? {} : { permission }) };
  const allowed = allowed_tools.flatMap((tool) => parseRule(tool, "allow") ?? []);
  // Denials and questions of the worker that asks hold for those below it, too.
  const stricter = (parent?.permission_rules ?? []).filter(({ action }) => action !== "allow");
  return { ...above, permission: permission ?? "deny", permission_rules: [...stricter, ...allowed] };
};
