/** The machine of a node: the workers of its daemon that the cluster placed here, each as a run of its placement. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Effect, Option } from "effect";
import type { PlacedRun } from "../../adapters/process/placed-marker.ts";
import { endPlaced } from "../../adapters/process/placed-runs.ts";
import {
  CLUSTER_ANSWER_MS,
  CLUSTER_LEASE_GRACE_MS,
  CLUSTER_RETRY_MS,
  CLUSTER_STARTS_AT_ONCE,
} from "../../base/limits.ts";
import { AtMost, Together } from "../../base/together.ts";
import type { KeptMembership, NodeMachine, RunOfMember, RunToStart } from "../../cluster/node/machine.ts";
import type { PostgresStore } from "../../cluster/postgres/store.ts";
import type { Killer, RunFence } from "../../cluster/rows.ts";
import type { OwnedRow } from "../../cluster/tree.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { isEnded } from "../../protocol/worker.ts";
import type { PlacedWorker, RuntimeApi } from "../../runtime/api.ts";
import type { Rights } from "../rights.ts";
import { broughtBy } from "./brought.ts";
import { bootClock } from "./kept.ts";
import { launchSpec } from "./spec.ts";
import type { ObeyedTombstones, Tombstone } from "./tombstones.ts";

/** The one who stops workers of this node in the cluster's name. */
const CLUSTER = "cluster";
/** The one who stops all workers with the daemon. */
const DAEMON = "daemon";

/** The killer of a worker whose row says nobody else. */
const HELD_NO_LONGER: Killer = { by: CLUSTER, reason: "its node of the cluster holds it no longer" };
const AT_ONCE = { grace_ms: CLUSTER_LEASE_GRACE_MS };

export interface MachineGround {
  readonly node: string;
  readonly store_id: string;
  readonly stateDir: string;
  readonly runtime: Pick<RuntimeApi, "spawn" | "kill" | "wait" | "placed">;
  readonly store: Pick<
    PostgresStore,
    "toLaunch" | "placed" | "brought" | "launched" | "end" | "stopped" | "killedAt"
  >;
  readonly rights: Rights;
  readonly tombstones: ObeyedTombstones;
  /** Resolves while a guard lives. Rejects otherwise: then nothing starts. */
  readonly guarded: () => Promise<void>;
  readonly keep: (kept: KeptMembership) => void;
  /** The newest record of the log, and the newest in the copy. */
  readonly head: () => Promise<number>;
  readonly copied_to: () => number | null;
  readonly report: (what: string, cause: unknown) => void;
  /** The end of this daemon's membership. */
  readonly signal: AbortSignal;
}

export class PlacedMachine implements NodeMachine {
  readonly now = bootClock;
  readonly newSession = randomUUID;
  private readonly ground: MachineGround;
  private node_term = 0;
  /** Workers whose start is under way here, or that run. */
  private readonly launching = new Set<string>();
  private readonly starting = new AtMost(CLUSTER_STARTS_AT_ONCE);
  /** A search looks at all processes, so one is made for all who wait for one. */
  private readonly sweeps = new Together<string, void>(Number.POSITIVE_INFINITY, async (workers) => {
    const names = new Set(workers);
    await this.end((right) => names.has(right.worker), AT_ONCE);
    return [];
  });
  private readonly searches = new Together<(right: PlacedRun) => boolean, void>(
    Number.POSITIVE_INFINITY,
    async (all) => {
      const { node, store_id } = this.ground;
      await endPlaced(store_id, node, (right) => all.some((which) => which(right)));
      return [];
    },
  );
  /** A signal looks at all its listeners for each new one, and thousands of runs are waited for. */
  private readonly endings = new Set<AbortController>();
  /** Workers whose end by a tombstone is waited for. */
  private readonly clearing = new Set<string>();
  private readonly tombstones: ObeyedTombstones;

  constructor(ground: MachineGround) {
    this.ground = ground;
    this.tombstones = ground.tombstones;
    ground.signal.addEventListener("abort", () => {
      for (const ending of this.endings) ending.abort();
    });
  }

  /** Those that an earlier daemon left, in the form of its log. */
  async found(): Promise<readonly RunOfMember[]> {
    const placed = await this.placed();
    return placed.flatMap((each) => (each.isItself && this.isMine(each) ? [each.placed] : []));
  }

  keep(kept: KeptMembership): void {
    this.ground.keep(kept);
    this.node_term = kept.term;
  }

  sweep(worker: string): Promise<void> {
    return this.sweeps.add(worker);
  }

  async stop(worker: string): Promise<void> {
    const placed = await this.placed(worker);
    const killer = await this.killerOf(worker);
    const term = placed[0]?.placed.term;
    if (term === undefined || killer === undefined) await this.end((right) => right.worker === worker);
    else await this.obey({ worker, term, killer });
    if (term !== undefined) await this.tellStopped({ worker, term }).catch(() => false);
  }

  stopAll(): Promise<void> {
    return this.end(({ on_partition }) => on_partition === "stop", AT_ONCE);
  }

  async copied(): Promise<void> {
    const head = await this.ground.head();
    while ((this.ground.copied_to() ?? 0) < head) await this.pause();
  }

  async launch(run: RunToStart, mayStart: () => boolean): Promise<void> {
    this.launching.add(run.worker);
    try {
      await this.begin(run, mayStart);
    } catch (cause) {
      // The node tries again as soon as this is over.
      await this.pause();
      throw cause;
    } finally {
      this.launching.delete(run.worker);
    }
  }

  /**
   * Obeys the tombstones of workers here, and tells of those of which nothing is left, so that their names are free again. It waits for
   * no end, because a second kill may come before it.
   */
  async tellOfKilled(): Promise<void> {
    const { store, node } = this.ground;
    for (const row of await store.killedAt(node)) {
      const { worker } = row;
      // Its launch tells of its end.
      const isTold = this.launching.has(worker);
      if ((isTold || this.clearing.has(worker)) && !this.tombstones.isNew(row)) continue;
      this.clearing.add(worker);
      void this.obey(row)
        .then(async () => isTold || (await this.tellStopped(row)))
        // The next look does it again.
        .catch(() => undefined)
        .finally(() => this.clearing.delete(worker));
    }
  }

  /** A person on this machine may have killed it, or is about to: then its end is waited for. */
  private async obey(row: Tombstone): Promise<void> {
    const { worker, killer } = row;
    const isNew = this.tombstones.isNew(row);
    this.tombstones.obey(row);
    const isIts = (right: PlacedRun): boolean => right.worker === worker;
    try {
      const look = async () =>
        (await this.placed()).filter((each) => this.isMine(each) && isIts(each.placed));
      const areKilled = (those: readonly PlacedWorker[]): boolean =>
        those.some((each) => each.isItself && isKilledByPerson(each));
      let here = await look();
      while (isNew && !areKilled(here) && this.tombstones.isExpected(row, this.now())) {
        await this.pause();
        here = await look();
      }
      const isKilled = areKilled(here);
      if (isNew && killer?.again === true) return await this.end(isIts, { ...killer, grace_ms: 0 });
      if (isNew && !isKilled) return await this.end(isIts, killer ?? AT_ONCE);
      await this.run(this.ground.runtime.wait(here.map(({ id }) => id)));
      await this.end(isIts, AT_ONCE);
    } catch (cause) {
      this.tombstones.forget(worker);
      throw cause;
    }
  }

  private async begin(run: RunToStart, mayStart: () => boolean): Promise<void> {
    const id = await this.starting.run(() => this.start(run, mayStart));
    if (id === undefined) return;
    const told = this.insist("the start of a run", () => this.ground.store.launched(this.fenceOf(run), id));
    await Promise.all([told, this.untilEnded(run, id, mayStart)]);
  }

  /** The id of the worker; undefined where none was started, which is told then. */
  private async start(run: RunToStart, mayStart: () => boolean): Promise<string | undefined> {
    const { worker, term, starts } = run;
    const { store } = this.ground;
    const before = (await this.placed(worker)).find(({ placed }) => placed.term === term);
    if (before !== undefined && isFinal(before)) return this.none(run, null, overOf(before));
    const row = await store.toLaunch(worker);
    if (row === undefined || row.spec === "") return this.none(run, "Its placement has no spec.");
    const launched = launchSpec(row.spec, this.ground.stateDir);
    if (launched instanceof HoldfastError) return this.none(run, launched.message);
    const { spec, tree } = launched;
    // A start that made no process does not count.
    const last_id = starts > 0 ? row.worker_id : undefined;
    if (last_id != null && spec.restart === "temporary")
      return this.none(run, "It began on a node that was lost, and its restart policy is temporary.");
    const brought = last_id == null ? undefined : broughtBy(await store.brought(worker, last_id));
    await this.ground.guarded();
    this.ground.rights.give(worker, { term, mayStart });
    if (!mayStart()) return undefined;
    const placed = { node: this.ground.node, worker, term, on_partition: run.on_partition, brought, tree };
    const begun = await this.run(Effect.result(this.ground.runtime.spawn(spec, { by: CLUSTER, placed })));
    if (begun._tag === "Failure") {
      if (begun.failure.row.retryable) throw begun.failure;
      return this.none(run, begun.failure.message);
    }
    return begun.success.id;
  }

  private async none(...ended: Parameters<PlacedMachine["finish"]>): Promise<undefined> {
    await this.finish(...ended);
  }

  async ended(run: RunOfMember, mayStart: () => boolean): Promise<void> {
    this.ground.rights.give(run.worker, { term: run.term, mayStart });
    const here = (await this.placed(run.worker)).find(
      (each) => each.isItself && each.placed.term === run.term && !isEnded(each.state),
    );
    if (here !== undefined) await this.untilEnded(run, here.id, mayStart);
  }

  private async untilEnded(run: RunOfMember, id: string, mayStart: () => boolean): Promise<void> {
    await this.run(this.ground.runtime.wait([id]));
    const end = (await this.placed(run.worker)).find((each) => each.id === id);
    if (end === undefined) return this.finish(run, null);
    if (isFinal(end)) return this.finish(run, null, overOf(end));
    // Without a lease its guard may have ended it, and then it runs elsewhere.
    const isItsOwn = end.killed_by === null && mayStart();
    if (isItsOwn) await this.finish(run, null);
  }

  /** Workers that its agent spawned end with it. The cluster must know of it: else it would be started again. */
  private async finish(run: RunOfMember, why: string | null, over: OwnedRow["over"] = null): Promise<void> {
    await this.sweep(run.worker);
    const { store } = this.ground;
    const fence = this.fenceOf(run);
    await this.insist(
      "the end of a run",
      async () => (await store.end(fence, why, over)) || (await this.tellStopped(run)),
    );
  }

  private async insist(what: string, tell: () => Promise<boolean>): Promise<void> {
    for (;;) {
      try {
        await tell();
        return;
      } catch (cause) {
        this.ground.report(what, cause);
        await this.pause();
      }
    }
  }

  /** A database that does not answer holds up no stop. */
  private killerOf(worker: string): Promise<Killer | undefined> {
    const row = Effect.tryPromise(() => this.ground.store.placed(worker));
    const asked = Effect.option(Effect.timeout(row, CLUSTER_ANSWER_MS));
    return Effect.runPromise(Effect.map(asked, (found) => Option.getOrUndefined(found)?.killer ?? undefined));
  }

  private async tellStopped(run: { readonly worker: string; readonly term: number }): Promise<boolean> {
    const ofTerm = (await this.placed(run.worker)).find(
      ({ isItself, placed }) => isItself && placed.term === run.term,
    );
    const isTold = await this.ground.store.stopped(this.fenceOf(run), ofTerm?.checked_by);
    this.tombstones.forget(run.worker);
    return isTold;
  }

  /** Ends workers, and then what a search finds of them. Without a grace they have their own. */
  private async end(
    which: (right: PlacedRun) => boolean,
    killer: Killer | Pick<Killer, "grace_ms"> = {},
  ): Promise<void> {
    const ids = (await this.placed()).flatMap((each) =>
      this.isMine(each) && which(each.placed) ? [each.id] : [],
    );
    const { by, reason, grace_ms, signal } = { ...HELD_NO_LONGER, ...killer };
    if (ids.length > 0) await this.run(this.ground.runtime.kill({ ids, by, reason, grace_ms, signal }));
    await this.searches.add(which);
  }

  private isMine({ placed }: PlacedWorker): boolean {
    return placed.node === this.ground.node;
  }

  private placed(worker?: string): Promise<readonly PlacedWorker[]> {
    return this.run(this.ground.runtime.placed(worker));
  }

  private fenceOf({ worker, term }: { readonly worker: string; readonly term: number }): RunFence {
    return { node: this.ground.node, node_term: this.node_term, worker, term };
  }

  private run<A>(effect: Effect.Effect<A, HoldfastError>): Promise<A> {
    const ending = new AbortController();
    if (this.ground.signal.aborted) ending.abort();
    this.endings.add(ending);
    return Effect.runPromise(effect, { signal: ending.signal }).finally(() => this.endings.delete(ending));
  }

  private pause(): Promise<void> {
    return sleep(CLUSTER_RETRY_MS, undefined, { signal: this.ground.signal });
  }
}

/** Nobody shall start it again, whatever became of the lease. */
export const isFinal = ({ state, killed_by }: PlacedWorker): boolean =>
  state === "completed" || isKilledByPerson({ killed_by });

const isKilledByPerson = ({ killed_by }: Pick<PlacedWorker, "killed_by">): boolean =>
  killed_by !== null && killed_by !== CLUSTER && killed_by !== DAEMON;

const overOf = ({ state }: PlacedWorker): OwnedRow["over"] =>
  state === "completed" ? "completed" : "killed";

/** Whether the newest worker of a placement has ended here for good, as the log has it. */
export const isOverAt =
  ({ placed }: Pick<RuntimeApi, "placed">) =>
  (row: { readonly worker: string; readonly worker_id: string | null }): Promise<boolean> => {
    const isOver = Effect.map(placed(row.worker), (all) =>
      all.some((each) => each.id === row.worker_id && isEnded(each.state) && isFinal(each)),
    );
    return Effect.runPromise(Effect.orElseSucceed(isOver, () => false));
  };

/** The living worker of a placement here, by its id or name. */
export const placedCalled = (
  { resolve, placeOf, placed }: Pick<RuntimeApi, "resolve" | "placeOf" | "placed">,
  ref: string,
): Effect.Effect<PlacedWorker | undefined, HoldfastError> =>
  Effect.gen(function* () {
    const id = yield* resolve(ref);
    const worker = placeOf(id)?.worker;
    const called = worker === undefined ? [] : yield* placed(worker);
    return called.find((one) => one.id === id && one.isItself && !isEnded(one.state));
  });
