/**
 * Looks up the facts for `standing.ts` and `rights.ts`: the caller of a request, its relation to the target, and its rights
 * (decision 0033).
 */
import { Effect, Option } from "effect";
import { attempt, attemptAsync } from "../../actors/machine/attempt.ts";
import type { Services } from "../../actors/ports.ts";
import { cwdIn } from "../../actors/worker/workspaces.ts";
import type { AgentAdapter } from "../../adapters/adapter.ts";
import type { RelatedProcess } from "../../adapters/posix.ts";
import { runOf } from "../../adapters/process/living.ts";
import { descendsFrom } from "../../adapters/process/origin.ts";
import type { RunId } from "../../adapters/spawner.ts";
import { handedOn } from "../../control/federation/refusals.ts";
import { byOf, type Caller, OF_DAEMON, type Peer, UNKNOWN, USER } from "../../protocol/caller.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { FEDERATED } from "../../protocol/peer.ts";
import { isEnded, type WorkerSpec } from "../../protocol/worker.ts";
import type { WorkerRow } from "../../store/views.ts";
import type { Roster } from "../roster.ts";
import { isBounded, isReduced, type Party, rootsOf, widerRight } from "./rights.ts";
import {
  type CallerStanding,
  type Deed,
  type Lineage,
  refusalOf,
  refusalOfAll,
  refusalOfStart,
  refusalOfUnknown,
} from "./standing.ts";

/**
 * The pid that the kernel gives for a process in a pid namespace above or beside the daemon's. Every run is in the daemon's
 * own namespace or below it.
 */
const OUTSIDE = 0;

type PermitEffect = Effect.Effect<string, HoldfastError>;

interface AuthorityPorts {
  readonly services: Services;
  readonly roster: Roster;
  adapterOf(kind: string): Effect.Effect<AgentAdapter, HoldfastError>;
}

/** The supervisors above a worker of a file, nearest first. The path of each is a prefix of the next lower one's. */
const supervisorsAbove = (path: string): readonly string[] => {
  if (path === "root") return [];
  const parts = path.split("/");
  return parts.map((_, at) => parts.slice(0, parts.length - at).join("/"));
};

/** Each `permit` method returns the `by` for records, or fails with POLICY_VIOLATION or INVALID_STATE. */
export class Authority {
  private readonly ports: AuthorityPorts;

  constructor(ports: AuthorityPorts) {
    this.ports = ports;
  }

  readonly identify = ({ pid, connected_s, claimed }: Peer): Caller => {
    const { posix } = this.ports.services.spawner;
    const hosting = pid === undefined || pid === OUTSIDE ? undefined : this.hosting(pid);
    if (hosting !== undefined) return this.hosted(hosting, claimed);
    const origin = pid === undefined || pid === OUTSIDE ? undefined : posix?.originOf(pid, connected_s);
    if (origin?.type === "run") return this.inside(origin);
    if (origin?.type === "daemon") return OF_DAEMON;
    return this.runOf(claimed) ?? (origin?.type === "gone" ? UNKNOWN : USER);
  };

  /** The caller, from the ancestors of a process that were read before. */
  readonly identifyIn = (lineage: readonly RelatedProcess[]): Caller => {
    const origin = this.ports.services.spawner.posix?.originIn(lineage);
    return origin?.type === "run" ? this.inside(origin) : USER;
  };

  readonly permit = (caller: Caller, deed: Deed, target: WorkerRow): PermitEffect =>
    this.permitted(caller, (standing) => {
      const isDone = target.tombstone || this.isBeingStopped(target.id);
      return refusalOf(standing, deed, { line: this.lineOf(target.id), isDone });
    });

  /** Permits an action on a supervisor and everything below it. */
  readonly permitOn = (caller: Caller, deed: Deed, supervisor: string): PermitEffect =>
    this.permitted(caller, (standing) => {
      const above = standing.line.flatMap((id) => supervisorsAbove(this.specOf(id)?.supervisor ?? "root"));
      const line = [...standing.line, ...above];
      return refusalOf({ ...standing, line }, deed, { line: [supervisor], isDone: false });
    });

  /** Permits an action that concerns all workers. `what` is an infinitive. */
  readonly permitAll = (caller: Caller, what: string): PermitEffect =>
    this.permitted(caller, (standing) => refusalOfAll(standing, what));

  readonly permitStart = (caller: Caller): PermitEffect => this.permitted(caller, refusalOfStart);

  /**
   * Permits a change of something shared, such as the blackboard. It changes no run, so a run that is being ended may do it
   * too.
   */
  readonly permitShared = (caller: Caller): PermitEffect => this.permitted(caller, () => undefined);

  /**
   * Fails with POLICY_VIOLATION if the child would have more rights than the worker that spawns it, and with PEER_UNTRUSTED if it
   * would hand on the task of a peer.
   */
  narrow(spec: WorkerSpec, adapter: AgentAdapter, parent: string): Effect.Effect<void, HoldfastError> {
    const { services, adapterOf } = this.ports;
    return Effect.gen({ self: this }, function* () {
      const above = yield* attempt(() => this.specOf(parent));
      if (above === undefined) return;
      if (adapter.asks_others === true && (yield* attempt(() => this.isFederated(parent))))
        return yield* Effect.fail(handedOn());
      const cwd = yield* attempt(() => cwdIn(services.log, parent, above));
      const known = yield* Effect.option(adapterOf(above.kind));
      const child = yield* this.partyOf(spec, adapter, spec.cwd);
      const wider = widerRight(child, yield* this.partyOf(above, Option.getOrUndefined(known), cwd));
      if (wider === undefined) return;
      yield* Effect.fail(
        new HoldfastError(
          "POLICY_VIOLATION",
          `It asks for ${wider.child}, but worker ${parent} above it has ${wider.parent}; rights only narrow on the way down.`,
          {
            details: { reason_code: "policy_violation", ...wider, parent_id: parent },
            suggestion: "Ask for no more than that, or start it from outside the worker.",
          },
        ),
      );
    });
  }

  /** Whether the worker does a task of a peer, or is below one that does. */
  private isFederated(id: string): boolean {
    return this.lineOf(id).some((at) => this.specOf(at)?.name?.startsWith(FEDERATED) === true);
  }

  private row(id: string): WorkerRow | undefined {
    return this.ports.services.views.worker(id);
  }

  private specOf(id: string): WorkerSpec | undefined {
    return this.ports.roster.live.get(id)?.spec ?? this.row(id)?.spec;
  }

  /** The worker and its ancestors, itself first. Stops at a repeat, so that a circle in the log cannot loop. */
  private lineOf(id: string): Lineage {
    const line: string[] = [];
    for (let at: string | undefined = id; at !== undefined && !line.includes(at); ) {
      const spec = this.specOf(at);
      if (spec === undefined) break;
      line.push(at);
      at = spec.parent;
    }
    return line;
  }

  private isBeingStopped(id: string): boolean {
    return (this.ports.roster.live.get(id)?.child().stop ?? null) !== null;
  }

  /**
   * Why the caller's run may start nothing more; undefined if it may. Without an incarnation, the run counts as current.
   */
  private endingOf({ worker_id, incarnation }: Extract<Caller, { type: "worker" }>): string | undefined {
    const row = this.row(worker_id);
    if (row === undefined) return undefined;
    if (row.tombstone) return `Worker ${worker_id} was killed`;
    if (this.isBeingStopped(worker_id)) return `Worker ${worker_id} is being stopped`;
    if (incarnation === undefined) return undefined;
    if (isEnded(row.state)) return `Worker ${worker_id} has ended`;
    return incarnation < row.incarnation ? `Run ${incarnation} of worker ${worker_id} is over` : undefined;
  }

  private standingOf(caller: Caller): CallerStanding {
    if (caller.type !== "worker")
      return { caller, line: [], isReduced: false, isBounded: false, ending: undefined };
    const line = this.lineOf(caller.worker_id);
    const specs = line.flatMap((id) => this.specOf(id) ?? []);
    return {
      caller,
      line,
      isReduced: specs.some(isReduced),
      isBounded: specs.some(isBounded),
      ending: this.endingOf(caller),
    };
  }

  /** The standing of a user is not looked up. */
  private permitted(
    caller: Caller,
    refusal: (standing: CallerStanding) => HoldfastError | undefined,
  ): PermitEffect {
    const isAnybodyBounded = () => [...this.ports.roster.live.values()].some(({ spec }) => isBounded(spec));
    return Effect.flatMap(
      attempt(() =>
        caller.type === "user"
          ? undefined
          : (refusalOfUnknown(caller, isAnybodyBounded) ?? refusal(this.standingOf(caller))),
      ),
      (refused) => (refused === undefined ? Effect.succeed(byOf(caller)) : Effect.fail(refused)),
    );
  }

  /** The runtime in whose process the peer is. */
  private hosting(pid: number): string | undefined {
    for (const [name, runtime] of this.ports.services.runtimes ?? []) {
      const host = runtime.host?.();
      if (host !== undefined && descendsFrom(pid, host)) return name;
    }
    return undefined;
  }

  /** Runs of one process can only say which of them they are. One that does not say, or lies about its runtime, is nobody. */
  private hosted(runtime: string, claimed: string | undefined): Caller {
    const run = runOf(claimed ?? "", this.ports.services.log.store_id);
    return run !== undefined && this.row(run.worker_id)?.spec.runtime === runtime
      ? this.inside(run)
      : UNKNOWN;
  }

  private runOf(claimed: string | undefined): Caller | undefined {
    const [store, worker_id = ""] = (claimed ?? "").split("/");
    return store === this.ports.services.log.store_id && this.row(worker_id) !== undefined
      ? { type: "worker", worker_id }
      : undefined;
  }

  private inside({ worker_id, incarnation }: RunId): Caller {
    return this.row(worker_id) === undefined ? UNKNOWN : { type: "worker", worker_id, incarnation };
  }

  private partyOf(spec: WorkerSpec, adapter: AgentAdapter | undefined, cwd: string) {
    const { probe } = this.ports.services;
    const withoutLinks = () => Promise.all(rootsOf(spec, cwd).map((path) => probe.realPath?.(path) ?? path));
    return attemptAsync(
      async (): Promise<Party> => ({
        spec,
        default_restart: adapter?.default_restart ?? "temporary",
        roots: spec.sandbox === undefined ? [] : await withoutLinks(),
      }),
    );
  }
}
