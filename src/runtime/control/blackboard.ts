/**
 * The blackboard over the log. Requests about one item are decided one after another, from the item's row, and answered once
 * their record is durable. Alarms record expired leases and items; a request that comes before its alarm finds out by itself.
 */
import { Effect, FiberSet, type Scope } from "effect";
import { type Alarm, type Alarms, makeAlarms } from "../../actors/machine/alarms.ts";
import { attempt, attemptAsync } from "../../actors/machine/attempt.ts";
import {
  BB_ITEMS_MAX,
  BB_LOOK_MAX_MS,
  BB_NAMESPACES_MAX,
  BB_PAGE_MAX,
  BB_WATCHERS_MAX,
  RECONCILE_PERIOD_MS,
} from "../../base/limits.ts";
import { decideItem, dueOf, type ItemInput } from "../../control/blackboard/decide.ts";
import { noItem, noneFree, refusalError } from "../../control/blackboard/refusals.ts";
import type { DecisionTime } from "../../control/lease.ts";
import type { BlackboardItem } from "../../protocol/blackboard.ts";
import { blackboardStream } from "../../protocol/blackboard-records.ts";
import { type Caller, USER } from "../../protocol/caller.ts";
import { canonicalJson } from "../../protocol/canonical-json.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { newId } from "../../protocol/ids.ts";
import type { LogRecord, RecordDraft, RecordPayloads } from "../../protocol/records.ts";
import { makeRedactor } from "../../protocol/redact.ts";
import type { ClaimReply, PostReply, ReleaseReply } from "../../protocol/replies/blackboard.ts";
import type { RequestData } from "../../protocol/requests.ts";
import { NAMESPACE_DEFAULT } from "../../protocol/words.ts";
import type { Views } from "../../store/views.ts";
import type { BlackboardApi } from "../blackboard-api.ts";
import type { Core } from "../core.ts";
import { keyReused } from "../idempotency.ts";
import { ambiguous, PREFIX_FOUND_MAX, PREFIX_MIN_CHARS, TOO_SHORT } from "../resolve.ts";
import { leaseEnd, viewOf } from "./item-views.ts";
import { Locks } from "./locks.ts";
import { type LogFollowing, StreamWatches } from "./stream-watches.ts";

type ItemWork<A> = Effect.Effect<A, HoldfastError>;

/** The content of a post as it is recorded. */
type SaidOfItem = Omit<RecordPayloads["bb_posted"], "item_id" | "by" | "clock">;

export const makeBlackboard = (
  core: Core,
  follow: LogFollowing,
): Effect.Effect<BlackboardApi, HoldfastError, Scope.Scope> =>
  Effect.gen(function* () {
    const { tell } = core.services.defects;
    const alarms = yield* makeAlarms((cause) => tell("an alarm of the blackboard", cause));
    const fork = yield* FiberSet.makeRuntime<never, void, never>();
    const board = new BlackboardKeeper(core, follow, alarms, (work) => void fork(work));
    yield* board.recover;
    return board;
  });

class BlackboardKeeper implements BlackboardApi {
  private readonly core: Core;
  private readonly views: Views;
  private readonly watches: StreamWatches;
  private readonly alarms: Alarms;
  private readonly fork: (work: Effect.Effect<void>) => void;
  /** The alarm for the next deadline of each item. */
  private readonly due = new Map<string, Alarm>();
  /** For items that are being decided about, and for keys. */
  private readonly locks = new Locks();
  /** Posts on their way into the log, by namespace. They count already. */
  private readonly arriving = new Map<string, number>();

  constructor(
    core: Core,
    following: LogFollowing,
    alarms: Alarms,
    fork: (work: Effect.Effect<void>) => void,
  ) {
    this.core = core;
    this.views = core.services.views;
    this.watches = new StreamWatches(following, BB_WATCHERS_MAX, "the blackboard");
    this.alarms = alarms;
    this.fork = fork;
  }

  /** Sets the alarms of items from an earlier daemon. */
  readonly recover: ItemWork<void> = attempt(() => {
    for (let after = 0; ; ) {
      const items = this.views.itemsAfter(after, BB_PAGE_MAX);
      for (const item of items) this.arm(item.item_id, item);
      const last = items.at(-1);
      if (last === undefined) return;
      after = last.seq;
    }
  });

  readonly post: BlackboardApi["post"] = ({ caller = USER, by: said, idempotency_key: key, ns, ...item }) =>
    Effect.gen({ self: this }, function* () {
      const by = said ?? (yield* this.core.authority.permitShared(caller));
      const masked = this.masked(item, caller);
      const id = key === undefined ? undefined : `bb-post:${ns}:${key}`;
      return yield* this.once(
        id,
        (first) => this.postedBefore(first, ns, masked, key),
        this.postNew(ns, { ...masked, by }, id),
      );
    });

  readonly list: BlackboardApi["list"] = ({ cursor, limit, ...query }) =>
    attempt(() => {
      const after = cursor === undefined ? 0 : Number(cursor);
      const found = this.views.items({ ...query, after, limit: limit + 1 });
      const page = found.slice(0, limit);
      const time = this.time();
      const items = page.map((item) => viewOf(item, time));
      return found.length > limit ? { items, cursor: String(page.at(-1)!.seq) } : { items };
    });

  readonly claim: BlackboardApi["claim"] = (asked) =>
    Effect.gen({ self: this }, function* () {
      const { caller = USER, token, idempotency_key: key } = asked;
      const established = yield* this.core.authority.permitStart(caller);
      const by = asked.by ?? established;
      // An extension needs no key: repeating it does no harm.
      const id = key === undefined || token !== undefined ? undefined : `bb-claim:${key}`;
      const claiming =
        asked.id === undefined ? this.claimNext(asked, by, id) : this.claimOne(asked.id, asked, by, id);
      return yield* this.once(id, (first) => this.claimedBefore(first, asked), claiming);
    });

  readonly release: BlackboardApi["release"] = ({
    id,
    token,
    done,
    caller = USER,
    by: said,
    idempotency_key,
  }) =>
    Effect.gen({ self: this }, function* () {
      const by = said ?? (yield* this.core.authority.permitShared(caller));
      // A removed item has no row. Only its full id finds its records.
      const item_id = yield* Effect.catch(this.idOf(id), (error) =>
        idempotency_key === undefined ? Effect.fail(error) : Effect.succeed(id.toUpperCase()),
      );
      const record = idempotency_key && `bb-release:${item_id}:${token}:${idempotency_key}`;
      return yield* this.once<ReleaseReply>(
        record,
        (first) => {
          if (first.type === "bb_released" && first.payload.done !== done)
            throw keyReused(idempotency_key as string);
          return { item_id, done, effect: "noop" };
        },
        Effect.as(this.change(item_id, { type: "release", token, done, by }, record), {
          item_id,
          done,
          effect: done ? "deleted" : "updated",
        }),
      );
    });

  readonly follow: BlackboardApi["follow"] = (query, take) =>
    this.watches.follow(blackboardStream(query.ns), query, take);

  readonly watch: BlackboardApi["watch"] = (query) => this.watches.watch(blackboardStream(query.ns), query);

  private time(): DecisionTime {
    const { boot_id } = this.core.services;
    const { mono_ms, clock, wall } = this.core.now();
    return { boot_id, mono_ms, wall_ms: wall.ms, clock };
  }

  /** Masks a post. An agent's post is also masked by the secrets of its worker. */
  private masked(item: Omit<RequestData<"bb/post">, "ns">, caller: Caller): SaidOfItem {
    const { title, body, data, tags, artifacts, ttl_ms } = item;
    const said: Pick<SaidOfItem, "title" | "body" | "data"> = {
      title: title ?? null,
      body: body ?? null,
      data: data ?? null,
    };
    const worker = caller.type === "worker" ? this.core.roster.live.get(caller.worker_id) : undefined;
    const redact = worker?.redact ?? makeRedactor();
    return { ...redact.value(said), tags, artifacts, ttl_ms };
  }

  /** Runs a request with a key once. Its record has this id: a repeat waits for the first request and returns its result. */
  private once<A>(id: string | undefined, before: (first: LogRecord) => A, work: ItemWork<A>): ItemWork<A> {
    if (id === undefined) return work;
    const found = attempt(() => this.core.services.log.byId(id));
    return this.locks.alone(
      id,
      Effect.flatMap(found, (first) => (first === undefined ? work : attempt(() => before(first)))),
    );
  }

  private postNew(
    ns: string,
    said: SaidOfItem & { readonly by: string },
    id: string | undefined,
  ): ItemWork<PostReply> {
    return Effect.gen({ self: this }, function* () {
      yield* Effect.forEach(said.artifacts, (digest) =>
        attemptAsync(async () => this.core.services.artifacts?.freshen(digest)),
      );
      const item_id = newId(this.core.wallMs());
      const draft: RecordDraft = {
        type: "bb_posted",
        stream: blackboardStream(ns),
        correlation_id: item_id,
        ...(id === undefined ? {} : { id }),
        payload: { item_id, ...said, clock: this.core.now().clock },
      };
      yield* attempt(() => this.checkRoom(ns));
      const write = Effect.andThen(
        this.core.commit([draft]),
        attempt(() => this.armNow(item_id)),
      );
      yield* this.counted(ns, Effect.uninterruptible(write));
      return { item_id, ns, effect: "created" };
    });
  }

  /** The reply to a repeated post. Throws if the key was used for another post. */
  private postedBefore(first: LogRecord, ns: string, said: SaidOfItem, key = ""): PostReply {
    if (first.type !== "bb_posted") throw keyReused(key);
    const { item_id, by: _, clock: __, ...before } = first.payload;
    if (canonicalJson(before) !== canonicalJson(said)) throw keyReused(key);
    return { item_id, ns, effect: "noop" };
  }

  private checkRoom(ns: string): void {
    const count = this.views.countItems(ns, BB_ITEMS_MAX) + (this.arriving.get(ns) ?? 0);
    if (count >= BB_ITEMS_MAX)
      throw new HoldfastError(
        "QUEUE_FULL",
        `Namespace ${ns} of the blackboard has ${BB_ITEMS_MAX} items, the most that it may have.`,
        { suggestion: `Finish some of them first: agent bb list --ns ${ns}` },
      );
    if (count === 0 && this.views.namespaces(BB_NAMESPACES_MAX).length >= BB_NAMESPACES_MAX)
      throw new HoldfastError(
        "QUEUE_FULL",
        `The blackboard has items in ${BB_NAMESPACES_MAX} namespaces, the most that it may have.`,
        { suggestion: "Finish the items of one of them first." },
      );
  }

  private counted<A>(ns: string, work: ItemWork<A>): ItemWork<A> {
    const add = (by: number) =>
      Effect.sync(() => {
        const count = (this.arriving.get(ns) ?? 0) + by;
        if (count === 0) this.arriving.delete(ns);
        else this.arriving.set(ns, count);
      });
    return Effect.acquireUseRelease(
      add(1),
      () => work,
      () => add(-1),
    );
  }

  /** Finds an item's id by an id or a unique prefix of one. */
  private idOf(ref: string): ItemWork<string> {
    return attempt(() => {
      const id = ref.toUpperCase();
      if (this.views.item(id) !== undefined) return id;
      const found = ref.length < PREFIX_MIN_CHARS ? [] : this.views.itemsWithPrefix(id, PREFIX_FOUND_MAX);
      const [first, ...more] = found;
      if (first === undefined)
        throw noItem(ref, ref.length < PREFIX_MIN_CHARS ? `${TOO_SHORT} See all: agent bb list` : undefined);
      if (more.length > 0) throw ambiguous(ref, found);
      return first;
    });
  }

  private claimOne(
    ref: string,
    { token, lease_ms }: RequestData<"bb/claim">,
    by: string,
    key: string | undefined,
  ): ItemWork<ClaimReply> {
    return Effect.flatMap(this.idOf(ref), (item_id) =>
      token === undefined
        ? this.claimed(item_id, { type: "claim", by, lease_ms }, key)
        : this.claimed(item_id, { type: "extend", by, token, lease_ms }, undefined),
    );
  }

  private claimed(item_id: string, input: ItemInput, key: string | undefined): ItemWork<ClaimReply> {
    return Effect.map(this.change(item_id, input, key), (item) => {
      // The lock is still held, so the item has not changed since its record.
      const held = item as BlackboardItem;
      return this.claimReply(held, input.type === "claim" ? "created" : "updated");
    });
  }

  private claimReply(item: BlackboardItem, effect: ClaimReply["effect"]): ClaimReply {
    const time = this.time();
    const lease = item.lease!;
    return {
      item_id: item.item_id,
      token: lease.token,
      lease_expires_at: leaseEnd(lease, time),
      item: viewOf(item, time),
      effect,
    };
  }

  /** Claims the oldest free item that no other request is about to claim. */
  private claimNext(
    { ns = NAMESPACE_DEFAULT, tags, lease_ms }: RequestData<"bb/claim">,
    by: string,
    key: string | undefined,
  ): ItemWork<ClaimReply> {
    return Effect.suspend(() => {
      const free = this.views.items({ ns, tags, state: "free", after: 0, limit: this.locks.size + 1 });
      const next = free.find(({ item_id }) => !this.locks.has(item_id));
      if (next === undefined) return Effect.fail(noneFree(ns, tags));
      return Effect.catch(this.claimed(next.item_id, { type: "claim", by, lease_ms }, key), (error) =>
        // The item has just expired, and that is on record now.
        error.code === "ITEM_NOT_FOUND"
          ? this.claimNext({ ns, tags, lease_ms }, by, key)
          : Effect.fail(error),
      );
    });
  }

  /** The reply to a repeated claim: the lease of the first one while it lasts. */
  private claimedBefore(first: LogRecord, { id, idempotency_key = "" }: RequestData<"bb/claim">): ClaimReply {
    const isSame = first.type === "bb_claimed" && first.payload.item_id.startsWith(id?.toUpperCase() ?? "");
    if (!isSame) throw keyReused(idempotency_key);
    const { item_id } = first.payload;
    const item = this.views.item(item_id);
    if (item === undefined) throw refusalError(item_id, { why: "gone" });
    const { lease } = item;
    if (lease?.token !== first.seq || dueOf(item, this.time()) <= this.core.monoMs())
      throw refusalError(item_id, { why: "stale", lease });
    return this.claimReply(item, "noop");
  }

  /**
   * Decides one input for an item after all earlier ones. Returns the item afterwards. `key` is the id of the record. A claimer
   * that goes away meanwhile holds its item until the lease is over.
   */
  private change(item_id: string, input: ItemInput, key?: string): ItemWork<BlackboardItem | undefined> {
    return this.locks.alone(
      item_id,
      Effect.gen({ self: this }, function* () {
        const before = yield* attempt(() => this.views.item(item_id));
        const { events, refused } = decideItem(before, input, this.time());
        const last = events.at(-1);
        const drafts =
          last === undefined || key === undefined || refused !== undefined
            ? events
            : [...events.slice(0, -1), { ...last, id: key }];
        if (drafts.length > 0) yield* this.core.commit(drafts);
        const isSame = drafts.length === 0 && input.type !== "look";
        const item = isSame ? before : yield* attempt(() => this.armNow(item_id));
        if (refused !== undefined) return yield* Effect.fail(refusalError(item_id, refused));
        return item;
      }),
    );
  }

  /** Sets the item's alarm, and returns the item as it is now. */
  private armNow(item_id: string): BlackboardItem | undefined {
    const item = this.views.item(item_id);
    this.arm(item_id, item);
    return item;
  }

  private arm(item_id: string, item: BlackboardItem | undefined): void {
    this.due.get(item_id)?.disarm();
    this.due.delete(item_id);
    if (item === undefined) return;
    const time = this.time();
    const left = dueOf(item, time) - time.mono_ms;
    this.armAfter(item_id, Math.min(Math.max(left, 1), BB_LOOK_MAX_MS));
  }

  private armAfter(item_id: string, delay_ms: number): void {
    this.due.get(item_id)?.disarm();
    this.due.set(
      item_id,
      this.alarms.after(delay_ms, () => this.fork(this.look(item_id))),
    );
  }

  /** Records what has expired. If the store refuses, it tries again. */
  private look(item_id: string): Effect.Effect<void> {
    return Effect.catch(Effect.asVoid(this.change(item_id, { type: "look" })), (error) =>
      Effect.sync(() => {
        if (error.code === "ITEM_NOT_FOUND") return;
        this.core.services.report("an expiry on the blackboard waits for the store", error);
        this.armAfter(item_id, RECONCILE_PERIOD_MS);
      }),
    );
  }
}
