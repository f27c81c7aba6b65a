/**
 * A daemon as a node of a cluster (decision 0080): it lives as a member and copies its log, from a join on and over restarts, until
 * it leaves.
 */
import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { Effect, Exit, Schedule, Scope, Semaphore } from "effect";
import {
  CLUSTER_ANSWER_MS,
  CLUSTER_GUARD_LOOK_MS,
  CLUSTER_KILL_FOLLOWS_MS,
  CLUSTER_RETRY_MS,
} from "../../base/limits.ts";
import type { SharedQuestion, Telling } from "../../cluster/budgets.ts";
import { liveAsMember } from "../../cluster/node/membership.ts";
import { ship } from "../../cluster/node/shipper.ts";
import { PostgresStore } from "../../cluster/postgres/store.ts";
import type { Killer } from "../../cluster/rows.ts";
import type { Caller } from "../../protocol/caller.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { HoldAnswer } from "../../protocol/holds.ts";
import { redactText } from "../../protocol/redact.ts";
import type {
  ClusterChange,
  ClusterMade,
  ClusterStatus,
  NodeChange,
  NodeDrained,
} from "../../protocol/replies/cluster.ts";
import type { RequestData } from "../../protocol/requests.ts";
import type { PerWorker, SpawnReply } from "../../runtime/api.ts";
import type { Answered, HoldView } from "../../runtime/replies.ts";
import {
  type AskedPlace,
  type AskedTree,
  type AskedTreeDown,
  type ClusterApi,
  type HowToKill,
  NO_STATUS,
  NOTHING_PLACED,
  noNode,
  type PlacedTree,
} from "../cluster-api.ts";
import { addressOf } from "./address.ts";
import { budgetsOf, tellingOfBudget } from "./budgets.ts";
import { answerCalls } from "./call-desk.ts";
import { nodeCalls } from "./calls.ts";
import { makeTables, tendingDays } from "./days.ts";
import { killPlaced, nodeIsGone, placeWorker } from "./desk.ts";
import { drainNode } from "./drain.ts";
import type { ClusterGround } from "./ground.ts";
import { LeaseGuard } from "./guard.ts";
import { termOf } from "./joining.ts";
import { bootClock, forgetKept, type KeptNode, nameOfMachine, readKept, rowOf, writeKept } from "./kept.ts";
import { leaveCluster, placedOn } from "./leaving.ts";
import { shippedLog } from "./log.ts";
import { isOverAt, PlacedMachine, placedCalled } from "./placed-machine.ts";
import { answerPlace, PlaceQuestions, placeQuestions } from "./questions.ts";
import { copyReads } from "./reading.ts";
import { nameTaken, otherNode, refusalOf, stillPlaced } from "./refusals.ts";
import { isKept, rewriteKept } from "./rewrite.ts";
import { changeOf } from "./self.ts";
import { sessionsAsked, sessionsOf } from "./session-locks.ts";
import { statusOf } from "./status.ts";
import { givingBack } from "./stopping.ts";
import { ObeyedTombstones } from "./tombstones.ts";
import { atMost, type TreeGround, treeDownOn, treeOn } from "./tree.ts";
import { sentenceOf, Trouble } from "./trouble.ts";

/** This daemon while it is a node. */
interface LivingNode {
  /** Undefined until the address of the database could be read. */
  store: PostgresStore | undefined;
  kept: KeptNode;
  copied_to: number | null;
  readonly lease: Trouble;
  readonly copy: Trouble;
  readonly drop: Trouble;
  isStopping: boolean;
  readonly tombstones: ObeyedTombstones;
  readonly end: Effect.Effect<void>;
}

type AskedJoin = RequestData<"cluster/join">;

export class NodeSeat implements ClusterApi {
  private readonly ground: ClusterGround;
  private readonly scope: Scope.Scope;
  /** A join and a leave wait for each other. */
  private readonly turn = Semaphore.makeUnsafe(1);
  private living: LivingNode | undefined;
  /** As they were known last. */
  private asked: readonly HoldView[] = [];

  /** Goes on as the node of the file. Throws if it cannot be read. */
  static open(ground: ClusterGround, scope: Scope.Scope): Effect.Effect<NodeSeat> {
    return Effect.suspend(() => {
      const seat = new NodeSeat(ground, scope);
      const kept = readKept(ground.stateDir);
      return Effect.as(kept === undefined ? Effect.void : seat.begin(kept), seat);
    });
  }

  private constructor(ground: ClusterGround, scope: Scope.Scope) {
    this.ground = ground;
    this.scope = scope;
  }

  get isLiving(): boolean {
    return this.living !== undefined;
  }

  init({ database, keep_days }: RequestData<"cluster/init">): Effect.Effect<ClusterMade, HoldfastError> {
    return this.asking(database, (store) => makeTables(store, keep_days));
  }

  join(asked: AskedJoin): Effect.Effect<ClusterChange, HoldfastError> {
    return this.turn.withPermits(1)(Effect.suspend(() => this.joined(asked)));
  }

  readonly leave: Effect.Effect<NodeChange, HoldfastError> = Effect.suspend(() =>
    this.turn.withPermits(1)(Effect.suspend(() => this.left())),
  );

  readonly status: Effect.Effect<ClusterStatus, HoldfastError> = Effect.suspend(() => {
    const { living } = this;
    return living === undefined ? Effect.succeed(NO_STATUS) : statusOf(living, this.ground.runtime);
  });

  place({ caller, ...asked }: AskedPlace): Effect.Effect<SpawnReply, HoldfastError> {
    return Effect.andThen(
      this.ground.runtime.permitAll(caller, "place a worker on a cluster"),
      this.atDesk((store) => placeWorker(store, asked)),
    );
  }

  kill(worker: string, how: HowToKill): Effect.Effect<PerWorker | undefined, HoldfastError> {
    const isOver = isOverAt(this.ground.runtime);
    return Effect.flatMap(this.killer(how), (killer) =>
      this.atDesk((store) => killPlaced(store, worker, { killer, dry_run: how.dry_run }, isOver)),
    );
  }

  private killer({ caller, reason = "killed", grace_ms, signal }: HowToKill) {
    const by = this.ground.runtime.permitAll(caller, "kill a worker of the cluster");
    return Effect.map(
      by,
      (permitted): Killer => ({ by: permitted, reason: redactText(reason), grace_ms, signal }),
    );
  }

  tree(asked: AskedTree): Effect.Effect<PlacedTree, HoldfastError> {
    if (!this.isLiving && asked.workers.length === 0) return Effect.succeed(NOTHING_PLACED);
    return treeOn(this.treeGround, asked);
  }

  treeDown(asked: AskedTreeDown): Effect.Effect<PlacedTree, HoldfastError> {
    return this.isLiving ? treeDownOn(this.treeGround, asked) : Effect.succeed(NOTHING_PLACED);
  }

  readonly questions: Effect.Effect<readonly HoldView[]> = Effect.suspend(() => {
    if (this.living === undefined) return Effect.succeed([]);
    const looked = Effect.timeout(
      this.atDesk((store) => placeQuestions(store, Date.now())),
      CLUSTER_ANSWER_MS,
    );
    const kept = Effect.map(looked, (holds) => {
      this.asked = holds;
      return holds;
    });
    return Effect.catch(kept, () => Effect.succeed(this.asked));
  });

  answer(
    worker: string,
    said: HoldAnswer,
    caller: Caller,
  ): Effect.Effect<Answered | undefined, HoldfastError> {
    if (!this.isLiving) return Effect.undefined;
    const known = atMost(this.atDesk((store) => store.placed(worker)));
    const answered = Effect.flatMap(this.killer({ caller, dry_run: false }), (killer) =>
      this.atDesk((store) => answerPlace(store, worker, said, killer)),
    );
    return Effect.flatMap(known, (row) => (row === undefined ? Effect.undefined : answered));
  }

  tellingOfBudget(asked: SharedQuestion): Effect.Effect<Telling, HoldfastError> {
    const teller = `${this.living?.kept.name}/${asked.teller}`;
    return atMost(this.atDesk((store) => tellingOfBudget(store, { ...asked, teller })));
  }

  drain(asked: RequestData<"cluster/drain">): Effect.Effect<NodeDrained, HoldfastError> {
    return this.atDesk((store) => drainNode(store, asked));
  }

  readonly copy = copyReads(
    (ask) => this.atDesk(ask),
    () => this.living?.kept.name ?? "",
  );

  readonly calls = nodeCalls({
    atDesk: (ask) => this.atDesk(ask),
    self: () => this.living?.kept.name,
    runtime: () => this.ground.runtime,
  });

  giveUp({ node }: { readonly node: string }): Effect.Effect<NodeChange, HoldfastError> {
    return this.atDesk((store) => nodeIsGone(store, node));
  }

  /** A database that is away is told of the end of the worker when it is back. */
  bury(ref: string, how: HowToKill): Effect.Effect<void> {
    const found = placedCalled(this.ground.runtime, ref);
    const buried = Effect.flatMap(Effect.all([this.killer(how), found]), ([killer, one]) => {
      if (one === undefined) return Effect.void;
      const { worker } = one.placed;
      this.living?.tombstones.expectKill(worker, bootClock() + CLUSTER_KILL_FOLLOWS_MS);
      return this.atDesk((store) => store.kill(worker, killer));
    });
    return Effect.asVoid(Effect.exit(Effect.timeout(buried, CLUSTER_ANSWER_MS)));
  }

  stopping(end: Effect.Effect<void, HoldfastError>): Effect.Effect<void, HoldfastError> {
    return Effect.suspend(() => {
      const { living } = this;
      if (living === undefined) return end;
      living.isStopping = true;
      const goesOn = ({ code }: HoldfastError) =>
        Effect.sync(() => {
          if (code === "AGENTS_RUNNING") living.isStopping = false;
        });
      const asking = (deed: (store: PostgresStore) => Promise<void>) =>
        this.asking(living.kept.database, deed);
      const givenBack = Effect.catchCause(
        Effect.suspend(() => givingBack(this.ground, living, asking)),
        (cause) => Effect.sync(() => living.lease.report("the return of this node's workers", cause)),
      );
      return Effect.andThen(Effect.tapError(end, goesOn), givenBack);
    });
  }

  private readonly treeGround: TreeGround = {
    atDesk: (ask) => this.atDesk(ask),
    permitted: (caller) => this.ground.runtime.permitAll(caller, "place the workers of a file"),
  };

  private atDesk<Reply>(ask: (store: PostgresStore) => Promise<Reply>): Effect.Effect<Reply, HoldfastError> {
    return Effect.suspend(() => {
      const { living } = this;
      if (living === undefined) return Effect.fail(noNode());
      const { store } = living;
      if (store === undefined)
        return Effect.fail(new HoldfastError("UNAVAILABLE", `The database is away: ${living.lease.failing}`));
      return Effect.tryPromise({ try: () => ask(store), catch: refusalOf });
    });
  }

  private joined(asked: AskedJoin): Effect.Effect<ClusterChange, HoldfastError> {
    const { name = nameOfMachine(), labels, capacity, database, endpoint = "" } = asked;
    const wanted = { name, labels, capacity, database, endpoint };
    if (this.living !== undefined) {
      const { kept } = this.living;
      const known = {
        name: kept.name,
        labels: kept.labels,
        capacity: kept.capacity,
        database: kept.database,
        endpoint: kept.endpoint,
      };
      if (!isDeepStrictEqual(known, wanted)) return Effect.fail(otherNode(kept.name));
      if (isKept(this.ground.stateDir)) return Effect.succeed(changeOf(kept, "noop"));
      // Somebody removed the file, and takes that back.
      return Effect.as(this.keep(kept), changeOf(kept, "created"));
    }
    return Effect.gen({ self: this }, function* () {
      const { store_id } = yield* this.ground.runtime.status();
      const node = rowOf(wanted, store_id);
      const term = yield* this.asking(database, (store) => termOf(store, node, randomUUID()));
      if (term === undefined) return yield* Effect.fail(nameTaken(name));
      // It renews at once: without a lease that is kept it holds none. The session is that of a next join.
      const kept = { ...wanted, term, until_ms: null, session: randomUUID() };
      yield* this.keep(kept);
      yield* this.begin(kept);
      this.ground.log("info", "this daemon is a node of a cluster", { node: name });
      return changeOf(kept, "created");
    });
  }

  private left(): Effect.Effect<NodeChange, HoldfastError> {
    const { living, ground } = this;
    if (living === undefined) return Effect.fail(noNode());
    return Effect.gen({ self: this }, function* () {
      const { store_id } = yield* ground.runtime.status();
      // The end of its life closes the connections of a spawn that is under way, so a leave that is refused must not come so far.
      const self = rowOf(living.kept, store_id);
      const held = yield* this.asking(living.kept.database, (store) => placedOn(store, self));
      if (held > 0) return yield* Effect.fail(stillPlaced(held));
      // While it lives it would join again.
      yield* living.end;
      this.living = undefined;
      const { kept } = living;
      const placed = yield* Effect.tapError(
        this.asking(kept.database, (store) => leaveCluster(store, rowOf(kept, store_id), kept)),
        () => this.begin(kept),
      );
      if (placed > 0) {
        yield* this.begin(kept);
        return yield* Effect.fail(stillPlaced(placed));
      }
      forgetKept(ground.stateDir);
      ground.log("info", "this daemon has left its cluster", { node: kept.name });
      return { name: kept.name, effect: "deleted" as const };
    });
  }

  private keep(kept: KeptNode): Effect.Effect<void, HoldfastError> {
    return Effect.try({
      try: () => writeKept(this.ground.stateDir, kept),
      catch: (cause) =>
        new HoldfastError("FILE_FAILED", `cluster.json cannot be written: ${sentenceOf(cause)}`, { cause }),
    });
  }

  /** Lives as the node until the scope of the daemon ends, or it leaves. */
  private begin(kept: KeptNode): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const { log } = this.ground;
      const scope = yield* Scope.fork(this.scope);
      const living: LivingNode = {
        store: undefined,
        kept,
        copied_to: null,
        lease: new Trouble((what) => log("warn", "the lease of this node is in danger", { what })),
        copy: new Trouble((what) => log("warn", "the log is not copied", { what })),
        drop: new Trouble((what) => log("warn", "old days of the copy are not dropped", { what })),
        isStopping: false,
        tombstones: new ObeyedTombstones(),
        end: Scope.close(scope, Exit.void),
      };
      this.living = living;
      const life = Effect.catchCause(Effect.scoped(this.live(living)), (cause) => {
        living.lease.report("the life of this node", cause);
        return Effect.sleep(CLUSTER_RETRY_MS);
      });
      yield* Effect.forkIn(Effect.forever(life), scope);
    });
  }

  /** Ends by a failure alone. */
  private live(living: LivingNode): Effect.Effect<void, unknown, Scope.Scope> {
    return Effect.gen({ self: this }, function* () {
      const { stateDir, runtime, answer } = this.ground;
      const { report } = living.lease;
      const { name, database, term, until_ms, session } = living.kept;
      const opening = (address: string) =>
        Effect.acquireRelease(
          Effect.try({ try: () => PostgresStore.at(address), catch: (cause) => cause }),
          (opened) => {
            living.store = undefined;
            return Effect.promise(() => opened.close());
          },
        );
      // An acquisition cannot be interrupted, so the endless retry stands around it: a leave and a stop end it at once.
      const store = yield* Effect.tryPromise(() => addressOf(database)).pipe(
        Effect.flatMap(opening),
        Effect.tapError((cause) => Effect.sync(() => report("the address of the cluster", cause))),
        Effect.retry(Schedule.spaced(CLUSTER_RETRY_MS)),
      );
      living.store = store;
      const { store_id } = yield* runtime.status();
      const guard = LeaseGuard.open(stateDir, store_id, name);
      const guarding = Effect.tryPromise(() => guard.ensure()).pipe(
        Effect.catchCause((cause) => Effect.sync(() => report("the guard of the lease", cause))),
        Effect.repeat(Schedule.spaced(CLUSTER_GUARD_LOOK_MS)),
      );
      yield* sessionsAsked(this.ground.rights, sessionsOf(store, name));
      const ended = new AbortController();
      yield* Effect.addFinalizer(() => Effect.sync(() => ended.abort()));
      const machine = new PlacedMachine({
        node: name,
        store_id,
        stateDir,
        runtime,
        store,
        rights: this.ground.rights,
        tombstones: living.tombstones,
        guarded: () => guard.ensure(),
        keep: (membership) => {
          const next = { ...living.kept, ...membership };
          rewriteKept(stateDir, next);
          living.kept = next;
          if (membership.until_ms !== null) living.lease.isWell();
        },
        head: async () => (await Effect.runPromise(runtime.status())).head,
        copied_to: () => living.copied_to,
        report,
        signal: ended.signal,
      });
      const clearing = Effect.tryPromise(() => machine.tellOfKilled()).pipe(
        Effect.exit,
        Effect.repeat(Schedule.spaced(CLUSTER_GUARD_LOOK_MS)),
      );
      this.ground.rights.setBank(budgetsOf(name, store, this.ground.rights));
      yield* Effect.addFinalizer(() => Effect.sync(() => this.ground.rights.setBank(undefined)));
      const questions = new PlaceQuestions(store, this.ground.tell, bootClock);
      const member = liveAsMember({
        node: rowOf(living.kept, store_id),
        store,
        machine,
        kept: { term, until_ms, session },
        found: yield* Effect.promise(() => machine.found()),
        report,
        saw: (view) => questions.saw(view),
        isStopping: () => living.isStopping,
      });
      const onCopied = (seq: number): void => {
        living.copied_to = seq;
        living.copy.isWell();
      };
      const log = shippedLog(runtime, store_id);
      const copying = ship({ node: name, store, log, onCopied, report: living.copy.report });
      const tending = tendingDays(store, living, this.ground.log);
      const answering = answerCalls({ node: name, calls: store.calls, answer, report });
      const all = [member, copying, guarding, clearing, tending, answering];
      yield* Effect.all(all, { concurrency: "unbounded", discard: true });
    });
  }

  /** Asks a database once, by a connection that is closed again. */
  private asking<Reply>(
    database: string,
    question: (store: PostgresStore) => Promise<Reply>,
  ): Effect.Effect<Reply, HoldfastError> {
    return Effect.tryPromise({
      try: async () => {
        const store = PostgresStore.at(await addressOf(database));
        try {
          return await question(store);
        } finally {
          await store.close();
        }
      },
      catch: refusalOf,
    });
  }
}
