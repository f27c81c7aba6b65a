/** Looks up what `standing.ts` and `rights.ts` decide about: the caller of a request, its kin, and its rights (decision 0033). */
import { Effect, Option } from "effect";
import { attempt, attemptAsync } from "../../actors/machine/attempt.ts";
import type { Services } from "../../actors/ports.ts";
import { cwdIn } from "../../actors/worker/workspaces.ts";
import type { AgentAdapter } from "../../adapters/adapter.ts";
import type { Relative, RunId } from "../../adapters/spawner.ts";
import { byOf, type Caller, OF_DAEMON, type Peer, UNKNOWN, USER } from "../../protocol/caller.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { isEnded, type WorkerSpec } from "../../protocol/worker.ts";
import type { WorkerRow } from "../../store/port.ts";
import type { Roster } from "../roster.ts";
import { isBounded, isReduced, type Party, rootsOf, widerRight } from "./rights.ts";
import {
  type Deed,
  type Line,
  refusalOf,
  refusalOfAll,
  refusalOfStart,
  refusalOfUnknown,
  type Standing,
} from "./standing.ts";

/** The kernel's word for a process in a pid namespace above or beside the daemon's: every run is in the daemon's own, or below it. */
const OUTSIDE = 0;

/** Each answers who did it, as records have it, or fails with POLICY_VIOLATION or INVALID_STATE. */
export interface Authority {
  identify(peer: Peer): Caller;
  /** The caller that a process is which was looked at before. */
  identifyIn(lineage: readonly Relative[]): Caller;
  permit(caller: Caller, deed: Deed, target: WorkerRow): Effect.Effect<string, HoldfastError>;
  /** On a supervisor and all below it. */
  permitOn(caller: Caller, deed: Deed, supervisor: string): Effect.Effect<string, HoldfastError>;
  /** For a deed that concerns all workers; `what` is an infinitive. */
  permitAll(caller: Caller, what: string): Effect.Effect<string, HoldfastError>;
  permitStart(caller: Caller): Effect.Effect<string, HoldfastError>;
  /** Fails where the child would have more than the worker that asks for it. */
  narrow(child: WorkerSpec, adapter: AgentAdapter, parent: string): Effect.Effect<void, HoldfastError>;
}

interface Ports {
  readonly services: Services;
  readonly roster: Roster;
  adapterOf(kind: string): Effect.Effect<AgentAdapter, HoldfastError>;
}

export const makeAuthority = ({ services, roster, adapterOf }: Ports): Authority => {
  const { log, spawner, probe } = services;

  const specOf = (id: string): WorkerSpec | undefined => roster.live.get(id)?.spec ?? log.worker(id)?.spec;

  /** Itself first. A chain that the log makes a circle of is cut. */
  const lineOf = (id: string): Line => {
    const line: string[] = [];
    for (let at: string | undefined = id; at !== undefined && !line.includes(at); ) {
      const spec = specOf(at);
      if (spec === undefined) break;
      line.push(at);
      at = spec.parent;
    }
    return line;
  };

  const isBeingStopped = (id: string): boolean => (roster.live.get(id)?.child().stop ?? null) !== null;

  /** Without an incarnation the run is not known to be over. */
  const endingOf = ({ worker_id, incarnation }: Extract<Caller, { type: "worker" }>): string | undefined => {
    const row = log.worker(worker_id);
    if (row === undefined) return undefined;
    if (row.tombstone) return `Worker ${worker_id} was killed`;
    if (isBeingStopped(worker_id)) return `Worker ${worker_id} is being stopped`;
    if (incarnation === undefined) return undefined;
    if (isEnded(row.state)) return `Worker ${worker_id} has ended`;
    return incarnation < row.incarnation ? `Run ${incarnation} of worker ${worker_id} is over` : undefined;
  };

  const standingOf = (caller: Caller): Standing => {
    if (caller.type !== "worker")
      return { caller, line: [], isReduced: false, isBounded: false, ending: undefined };
    const line = lineOf(caller.worker_id);
    const specs = line.flatMap((id) => specOf(id) ?? []);
    return {
      caller,
      line,
      isReduced: specs.some(isReduced),
      isBounded: specs.some(isBounded),
      ending: endingOf(caller),
    };
  };

  const isAnybodyBounded = (): boolean => [...roster.live.values()].some(({ spec }) => isBounded(spec));

  /** A user is not looked at any further. */
  const permitted = (caller: Caller, refusal: (standing: Standing) => HoldfastError | undefined) =>
    Effect.flatMap(
      attempt(() =>
        caller.type === "user"
          ? undefined
          : (refusalOfUnknown(caller, isAnybodyBounded) ?? refusal(standingOf(caller))),
      ),
      (refused) => (refused === undefined ? Effect.succeed(byOf(caller)) : Effect.fail(refused)),
    );

  /** The supervisors of a worker of a file, nearest first: their paths are beginnings of one another. */
  const supervisorsOf = (id: string): readonly string[] => {
    const path = specOf(id)?.supervisor ?? "root";
    if (path === "root") return [];
    const parts = path.split("/");
    return parts.map((_, at) => parts.slice(0, parts.length - at).join("/"));
  };

  const runOf = (claimed: string | undefined): Caller | undefined => {
    const [store, worker_id = ""] = (claimed ?? "").split("/");
    return store === log.store_id && log.worker(worker_id) !== undefined
      ? { type: "worker", worker_id }
      : undefined;
  };

  const inside = ({ worker_id, incarnation }: RunId): Caller =>
    log.worker(worker_id) === undefined ? UNKNOWN : { type: "worker", worker_id, incarnation };

  const rootsWithoutLinks = (spec: WorkerSpec, cwd: string) =>
    Promise.all(rootsOf(spec, cwd).map((path) => probe.realPath?.(path) ?? path));

  const partyOf = (spec: WorkerSpec, adapter: AgentAdapter | undefined, cwd: string) =>
    attemptAsync(
      async (): Promise<Party> => ({
        spec,
        default_restart: adapter?.default_restart ?? "temporary",
        roots: spec.sandbox === undefined ? [] : await rootsWithoutLinks(spec, cwd),
      }),
    );

  return {
    identify: ({ pid, connected_s, claimed }) => {
      const origin = pid === undefined || pid === OUTSIDE ? undefined : spawner.originOf(pid, connected_s);
      if (origin?.type === "run") return inside(origin);
      if (origin?.type === "daemon") return OF_DAEMON;
      return runOf(claimed) ?? (origin?.type === "gone" ? UNKNOWN : USER);
    },
    identifyIn: (lineage) => {
      const origin = spawner.originIn(lineage);
      return origin.type === "run" ? inside(origin) : USER;
    },
    permit: (caller, deed, target) =>
      permitted(caller, (standing) => {
        const isDone = target.tombstone || isBeingStopped(target.id);
        return refusalOf(standing, deed, { line: lineOf(target.id), isDone });
      }),
    permitOn: (caller, deed, supervisor) =>
      permitted(caller, (standing) => {
        const line = [...standing.line, ...standing.line.flatMap(supervisorsOf)];
        return refusalOf({ ...standing, line }, deed, { line: [supervisor], isDone: false });
      }),
    permitAll: (caller, what) => permitted(caller, (standing) => refusalOfAll(standing, what)),
    permitStart: (caller) => permitted(caller, refusalOfStart),
    narrow: (spec, adapter, parent) =>
      Effect.gen(function* () {
        const above = yield* attempt(() => specOf(parent));
        if (above === undefined) return;
        const cwd = yield* attempt(() => cwdIn(log, parent, above));
        const known = yield* Effect.option(adapterOf(above.kind));
        const child = yield* partyOf(spec, adapter, spec.cwd);
        const wider = widerRight(child, yield* partyOf(above, Option.getOrUndefined(known), cwd));
        if (wider === undefined) return;
        yield* Effect.fail(
          new HoldfastError(
            "POLICY_VIOLATION",
            `It asks for ${wider.child}, and worker ${parent} above it has ${wider.parent}; rights only narrow on the way down.`,
            {
              details: { reason_code: "policy_violation", ...wider, parent_id: parent },
              suggestion: "Ask for no more than that, or have it started from outside of the worker.",
            },
          ),
        );
      }),
  };
};
