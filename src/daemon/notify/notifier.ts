/**
 * Notifications while a daemon runs: one fiber reads the log into the outbox, one sends what is due. The outbox and the cursor
 * are one value in one file, so a crash repeats at most what was sent since the last write, under the same ids.
 */
import { Cause, Clock, Effect, Latch, type Scope, Stream } from "effect";
import type { Defects } from "../../actors/defects.ts";
import { attemptAsync } from "../../actors/machine/attempt.ts";
import { crashPoint } from "../../base/crash-point.ts";
import { LOCAL_HOST } from "../../base/host-address.ts";
import {
  NOTIFY_LOOK_MS,
  NOTIFY_PENDING_MAX,
  NOTIFY_REREAD_MS,
  NOTIFY_SENDINGS_MAX,
  NOTIFY_SHARED_LOOK_MS,
} from "../../base/limits.ts";
import { targetsFor } from "../../control/notify/choose.ts";
import { NOTICE_TYPES, type Notice, noticeOf } from "../../control/notify/notice.ts";
import {
  admitted,
  atPlace,
  dueAt,
  dueOf,
  type NoticeBox,
  type PendingNotice,
  postponed,
  revived,
  type Sending,
  settledSending,
  without,
} from "../../control/notify/outbox.ts";
import { isQuiet } from "../../control/notify/quiet.ts";
import { cursorOf } from "../../protocol/cursor.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import { newId } from "../../protocol/ids.ts";
import { NOTICE_KINDS_DEFAULT, type NotificationSettings } from "../../protocol/notifications.ts";
import type { LogRecord } from "../../protocol/records.ts";
import type { NotifyTargetView } from "../../protocol/replies/notify.ts";
import type { RuntimeApi } from "../../runtime/api.ts";
import type { ClusterApi } from "../cluster-api.ts";
import type { Log } from "../log.ts";
import type { AnswerLink, NotificationsApi } from "../notifications-api.ts";
import { type FollowedHost, HostNews, type HostOutbox } from "./host-news.ts";
import { KeptFileWriter, type KeptNotifications } from "./kept.ts";
import { Links } from "./links.ts";
import type { OutgoingNotice } from "./message.ts";
import { noTarget, notDead, notFollowed } from "./refusals.ts";
import { placeOf, type SenderGround, sendNotice } from "./senders.ts";
import { SharedQuestions, type WhenTold } from "./shared.ts";
import { subjectOf } from "./subjects.ts";

export interface NotifierGround {
  readonly settings: NotificationSettings;
  /** Other hosts whose news are told too. */
  readonly hosts: readonly FollowedHost[];
  readonly file: string;
  readonly runtime: RuntimeApi;
  readonly log: Log;
  readonly defects: Defects;
  /** The address at which this daemon serves HTTP; undefined if it does not. */
  readonly url: () => string | undefined;
  readonly isHealthy: () => boolean;
  readonly cluster: Pick<ClusterApi, "tellingOfBudget">;
  readonly sender: SenderGround;
}

interface TargetStanding {
  readonly sent: number;
  readonly sent_ms: number | undefined;
  /** Why the newest attempt failed. */
  readonly failing: string | undefined;
}

const NOTHING_SENT: TargetStanding = { sent: 0, sent_ms: undefined, failing: undefined };
/** Holds that one look at the inbox finds; a worker asks far fewer. */
const HOLDS_ASKED = 100;

export class Notifier implements NotificationsApi {
  private readonly ground: NotifierGround;
  private outbox: NoticeBox;
  private readonly links: Links;
  private readonly writer: KeptFileWriter;
  private readonly standings = new Map<string, TargetStanding>();
  /** Targets to which something is being sent. */
  private readonly busy = new Set<string>();
  /** Opened when the sending fiber may have something to do. */
  private readonly changed = Latch.makeUnsafe(false);
  /** Opened when there is room for more that waits. */
  private readonly room = Latch.makeUnsafe(true);
  private readonly shared: SharedQuestions;
  private isUnwell = false;
  private readonly hosts: ReadonlyMap<string, HostNews>;
  /** The names of the daemons whose logs are followed, by the ids of their stores. */
  private readonly followedStores = new Map<string, string>();

  constructor(ground: NotifierGround, kept: KeptNotifications) {
    this.ground = ground;
    this.outbox = kept.outbox;
    this.links = new Links(kept.links);
    this.shared = new SharedQuestions(ground.cluster);
    const outbox: HostOutbox = {
      log: ground.log,
      claim: (store_id, name) => this.claim(store_id, name),
      placeIn: (store_id) => this.outbox.hosts?.[store_id],
      take: (notice, store_id, cursor) => this.admit(notice, () => atPlace(this.outbox, store_id, cursor)),
    };
    this.hosts = new Map(ground.hosts.map((host) => [host.name, new HostNews(host, outbox)]));
    this.writer = new KeptFileWriter(ground.file, () => ({ outbox: this.outbox, links: this.links.all() }));
  }

  private get targets() {
    return this.ground.settings.targets;
  }

  /** Runs until the scope ends. The file has all that waits then. */
  readonly run: Effect.Effect<void, never, Scope.Scope> = Effect.gen({ self: this }, function* () {
    yield* Effect.addFinalizer(() => this.save);
    yield* Effect.forkScoped(this.lasting("reading the log for notifications", this.reading));
    yield* Effect.forkScoped(this.lasting("sending notifications", this.sendDue));
    yield* Effect.forkScoped(this.lasting("looking at the daemon for notifications", this.looking));
    const own = this.hosts.size === 0 ? undefined : yield* Effect.option(this.ground.runtime.status());
    if (own?._tag === "Some") this.claim(own.value.store_id, LOCAL_HOST);
    for (const news of this.hosts.values())
      yield* Effect.forkScoped(this.lasting("reading the news of another host", news.run));
  });

  /** Does it for ever, and goes on after a defect. */
  private lasting<R>(where: string, work: Effect.Effect<void, never, R>): Effect.Effect<never, never, R> {
    const { defects } = this.ground;
    const paused = Effect.catchCause(work, (cause) =>
      Effect.andThen(
        Effect.sync(() => defects.tell(where, Cause.squash(cause))),
        Effect.sleep(NOTIFY_REREAD_MS),
      ),
    );
    return Effect.forever(paused);
  }

  private readonly save: Effect.Effect<void> = Effect.suspend(() =>
    Effect.catch(
      attemptAsync(() => this.writer.save()),
      (error) =>
        Effect.sync(() => this.ground.log("warn", "notifications cannot be kept", { cause: error.message })),
    ),
  );

  private become(outbox: NoticeBox): void {
    this.outbox = outbox;
    if (outbox.pending.length < NOTIFY_PENDING_MAX) Latch.openUnsafe(this.room);
    else Latch.closeUnsafe(this.room);
    Latch.openUnsafe(this.changed);
    Effect.runFork(this.save);
  }

  /** Reads the log from the cursor on; where that fails, again after a while. */
  private readonly reading: Effect.Effect<void> = Effect.suspend(() =>
    Effect.catch(this.followed, (error) =>
      Effect.suspend(() => {
        this.ground.log("warn", "the log cannot be read for notifications", { cause: error.message });
        // The log is another one: nothing of it was told, and what it has is no news.
        if (error.code === "CURSOR_UNKNOWN") this.outbox = { ...this.outbox, cursor: null };
        return Effect.andThen(Effect.sleep(NOTIFY_REREAD_MS), this.reading);
      }),
    ),
  );

  private readonly followed: Effect.Effect<void, HoldfastError> = Effect.suspend(() =>
    Effect.gen({ self: this }, function* () {
      const { runtime } = this.ground;
      if (this.outbox.cursor === null) {
        // A target that is new is told of what happens from now on.
        const { head } = yield* runtime.status();
        this.become({ ...this.outbox, cursor: cursorOf(runtime.epoch, head) });
      }
      const from = this.outbox.cursor ?? 0;
      const records = runtime.watch({ from, follow: true, filter: { types: NOTICE_TYPES } });
      yield* Stream.runForEach(records, (record) => this.take(record));
    }),
  );

  private take(record: LogRecord): Effect.Effect<void, HoldfastError> {
    return Effect.gen({ self: this }, function* () {
      const subject = yield* subjectOf(record, this.ground.runtime);
      const notice = subject === undefined ? undefined : noticeOf(record, subject);
      const cursor = cursorOf(this.ground.runtime.epoch, record.seq);
      yield* this.admit(notice, () => ({ ...this.outbox, cursor }));
    });
  }

  /** Waits for room. `placed`: the outbox behind the record. */
  private admit(notice: Notice | undefined, placed: () => NoticeBox): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      yield* this.room.await;
      const now = yield* Clock.currentTimeMillis;
      crashPoint("notify-taken");
      this.become(notice === undefined ? placed() : admitted(placed(), notice, this.targets, now));
    });
  }

  /** Each log is followed by one name. */
  private claim(store_id: string, name: string): string {
    const known = this.followedStores.get(store_id) ?? name;
    this.followedStores.set(store_id, known);
    return known;
  }

  /** Starts what is due, and waits for a change or for the next time. */
  private readonly sendDue: Effect.Effect<void, never, Scope.Scope> = Effect.suspend(() =>
    Effect.gen({ self: this }, function* () {
      Latch.closeUnsafe(this.changed);
      const now = yield* Clock.currentTimeMillis;
      for (const one of dueOf(this.outbox, this.targets, this.busy, now)) {
        if (this.busy.size >= NOTIFY_SENDINGS_MAX) break;
        this.busy.add(one.target);
        yield* Effect.forkScoped(this.sendOne(one));
      }
      const idle = this.outbox.pending.filter(({ target }) => !this.busy.has(target));
      if (idle.length === 0 || this.busy.size >= NOTIFY_SENDINGS_MAX) return yield* this.changed.await;
      const next = Math.min(...idle.map((one) => dueAt(one, this.targets, now)));
      // Sooner than quiet hours end, because a clock may be changed meanwhile.
      const wait_ms = Math.min(NOTIFY_LOOK_MS, Math.max(0, next - now));
      yield* Effect.timeoutOption(this.changed.await, wait_ms);
    }),
  );

  private sendOne(one: PendingNotice): Effect.Effect<void> {
    return Effect.ensuring(
      Effect.gen({ self: this }, function* () {
        const target = this.targets[one.target];
        const telling = target === undefined ? "never" : yield* this.tellingOf(one.notice);
        if (target === undefined || telling !== "now") {
          const later = (yield* Clock.currentTimeMillis) + NOTIFY_SHARED_LOOK_MS;
          this.become(telling === "later" ? postponed(this.outbox, one, later) : without(this.outbox, one));
          return;
        }
        crashPoint("notify-before-send");
        const sending = yield* this.attempt(one);
        crashPoint("notify-sent");
        if (sending.ok) yield* this.shared.sent(one.notice);
        const now_ms = yield* Clock.currentTimeMillis;
        this.become(settledSending(this.outbox, one, sending, { now_ms, random: Math.random() }));
      }),
      Effect.sync(() => {
        this.busy.delete(one.target);
        Latch.openUnsafe(this.changed);
      }),
    );
  }

  private attempt(one: Pick<PendingNotice, "target" | "notice" | "earlier">): Effect.Effect<Sending> {
    return Effect.gen({ self: this }, function* () {
      const outgoing = yield* this.outgoing(one);
      const target = this.targets[one.target]!;
      const sending = yield* Effect.promise(() => sendNotice(target, outgoing, this.ground.sender));
      const before = this.standings.get(one.target) ?? NOTHING_SENT;
      const sent_ms = yield* Clock.currentTimeMillis;
      if (sending.ok) this.standings.set(one.target, { sent: before.sent + 1, sent_ms, failing: undefined });
      else {
        this.standings.set(one.target, { ...before, failing: sending.reason });
        const told = { target: one.target, id: one.notice.id, reason: sending.reason };
        this.ground.log("warn", "a notification was not taken", told);
      }
      return sending;
    });
  }

  /** The digests of its links are on the disk before the links are sent. */
  private outgoing({
    target,
    notice,
    earlier,
  }: Pick<PendingNotice, "target" | "notice" | "earlier">): Effect.Effect<OutgoingNotice> {
    return Effect.gen({ self: this }, function* () {
      const base = this.ground.settings.url ?? this.ground.url();
      if (notice.asks === null || base === undefined) return { notice, earlier, answers: [] };
      const now = yield* Clock.currentTimeMillis;
      const { hold } = notice.asks;
      const { host, title, text } = notice;
      const answers = notice.asks.answers.map((answer) => ({
        answer,
        url: `${base.replace(/\/$/, "")}/answer/${this.links.make({ target, host, hold, answer, title, text }, now)}`,
      }));
      yield* this.save;
      return { notice, earlier, answers };
    });
  }

  /** News without a question never grows old; a question that cannot be looked up is told. */
  private tellingOf({ host, asks, kind, subject }: Notice): Effect.Effect<WhenTold> {
    if (asks === null) return Effect.succeed("now");
    const runtime = host === undefined ? this.ground.runtime : this.hosts.get(host);
    if (runtime === undefined) return Effect.succeed("now");
    const id = subject.worker_id ?? subject.name ?? "";
    const open =
      kind === "approval"
        ? Effect.map(runtime.approvals({ id: asks.hold, all: true, limit: 1 }), ({ approvals }) =>
            approvals.some(({ approval_id, state }) => approval_id === asks.hold && state === "open")
              ? ("now" as const)
              : ("never" as const),
          )
        : Effect.flatMap(runtime.inbox({ id, limit: HOLDS_ASKED }), ({ holds }) => {
            const hold = holds.find((each) => each.id === asks.hold);
            return hold === undefined ? Effect.succeed("never" as const) : this.shared.tellingOf(hold, host);
          });
    return Effect.catch(open, ({ code }) =>
      Effect.succeed(code === "WORKER_NOT_FOUND" ? ("never" as const) : ("now" as const)),
    );
  }

  /** The daemon's own health is in no record: a log that cannot be written has none. */
  private readonly looking: Effect.Effect<void> = Effect.suspend(() =>
    Effect.gen({ self: this }, function* () {
      yield* Effect.sleep(NOTIFY_LOOK_MS);
      const status = yield* Effect.option(this.ground.runtime.status());
      const trouble = status._tag === "Some" ? status.value.store_error : null;
      const isUnwell = trouble !== null || !this.ground.isHealthy();
      if (isUnwell && !this.isUnwell) {
        const now = yield* Clock.currentTimeMillis;
        const text = trouble?.message ?? "The tick of its supervisor is late.";
        this.become(admitted(this.outbox, ofDaemon(now, "The daemon is unwell", text), this.targets, now));
      }
      this.isUnwell = isUnwell;
    }),
  );

  readonly list: NotificationsApi["list"] = Effect.suspend(() =>
    Effect.map(Clock.currentTimeMillis, (now) => ({
      targets: Object.keys(this.targets).map((name) => this.viewOf(name, now)),
      hosts: [...this.hosts.values()].map(({ name, failing = null }) => ({ name, failing })),
      dead: this.outbox.dead.map(({ notice: { id, kind, title, at }, ...dead }) => ({
        id,
        kind,
        title,
        at,
        ...dead,
      })),
    })),
  );

  private viewOf(name: string, now: number): NotifyTargetView {
    const target = this.targets[name]!;
    const pending = this.outbox.pending.filter((one) => one.target === name);
    const { sent, sent_ms, failing } = this.standings.get(name) ?? NOTHING_SENT;
    const due = pending.map((one) => dueAt(one, this.targets, now));
    return {
      name,
      ...placeOf(target),
      events: target.events ?? [...NOTICE_KINDS_DEFAULT],
      pending: pending.length,
      next_at: due.length === 0 ? null : new Date(Math.min(...due)).toISOString(),
      quiet: isQuiet(target.quiet, now),
      sent,
      sent_at: sent_ms === undefined ? null : new Date(sent_ms).toISOString(),
      failing: failing ?? null,
    };
  }

  readonly test: NotificationsApi["test"] = (wanted) =>
    Effect.gen({ self: this }, function* () {
      const names = Object.keys(this.targets).filter((name) => wanted === undefined || name === wanted);
      if (names.length === 0) return yield* Effect.fail(noTarget(wanted, Object.keys(this.targets)));
      const now = yield* Clock.currentTimeMillis;
      const results = yield* Effect.forEach(
        names,
        (target) => {
          const notice = ofDaemon(now, "A test of Holdfast", `Notifications reach ${target}.`);
          return Effect.map(this.attempt({ target, notice, earlier: 0 }), (sending) => ({
            target,
            ok: sending.ok,
            reason: sending.ok ? null : sending.reason,
          }));
        },
        { concurrency: NOTIFY_SENDINGS_MAX },
      );
      return { effect: "created" as const, results };
    });

  readonly resend: NotificationsApi["resend"] = (wanted) =>
    Effect.gen({ self: this }, function* () {
      const { dead } = this.outbox;
      const ids = new Set(wanted === "all" ? dead.map(({ notice }) => notice.id) : wanted);
      const unknown = [...ids].find((id) => !dead.some(({ notice }) => notice.id === id));
      if (unknown !== undefined) return yield* Effect.fail(notDead(unknown));
      const now = yield* Clock.currentTimeMillis;
      const { outbox, again } = revived(this.outbox, ({ notice }) => ids.has(notice.id), now);
      this.become(outbox);
      yield* this.save;
      return {
        effect: again.length === 0 ? ("noop" as const) : ("created" as const),
        results: again.map(({ target, notice: { id, title } }) => ({ id, target, title })),
      };
    });

  readonly tell: NotificationsApi["tell"] = (notice, isMine) =>
    Effect.gen({ self: this }, function* () {
      if (targetsFor(this.targets, notice).length === 0) return;
      if (yield* attemptAsync(isMine)) yield* this.admit(notice, () => this.outbox);
    });

  readonly linkOf: NotificationsApi["linkOf"] = (token) => this.links.of(token, this.ground.sender.wallMs());

  private answered({ target, host, hold, answer }: AnswerLink): Effect.Effect<unknown, HoldfastError> {
    if (host === undefined)
      return this.ground.runtime.answer(hold, answer, { caller: { type: "user", name: `link:${target}` } });
    return this.hosts.get(host)?.answer(hold, answer) ?? Effect.fail(notFollowed(host));
  }

  readonly use: NotificationsApi["use"] = (token) =>
    Effect.gen({ self: this }, function* () {
      const link = this.links.of(token, yield* Clock.currentTimeMillis);
      if (link === undefined) return undefined;
      const used = this.links.useUp(link);
      yield* this.save;
      yield* Effect.tapError(this.answered(link), ({ code }) =>
        Effect.sync(() => {
          // Nothing was answered, and the same link may do it a moment later.
          if (code === "UNAVAILABLE") this.links.putBack(used);
        }),
      );
      return link as AnswerLink;
    });
}

/** News of the daemon that no record tells. */
const ofDaemon = (now: number, title: string, text: string): Notice => ({
  id: newId(now),
  kind: "daemon",
  at: new Date(now).toISOString(),
  subject: { worker_id: null, name: null, labels: {}, within: [], is_spawned: false },
  title,
  text,
  asks: null,
  command: "agent doctor",
});
