/** Mailboxes as their users see them: permissions and answers. */
import { Effect } from "effect";
import { attempt } from "../../actors/machine/attempt.ts";
import { withoutSecrets } from "../../actors/worker/launching.ts";
import {
  MAILBOX_ATTEMPTS_MAX,
  MAILBOX_LEASE_DEFAULT_MS,
  MAILBOX_PAGE_DEFAULT,
  MAILBOX_TTL_DEFAULT_MS,
} from "../../base/limits.ts";
import { heldUnder, leaseLost, type MailInput, mailStateOf, unknownMail } from "../../control/mailbox/box.ts";
import { byOf, type Caller, USER } from "../../protocol/caller.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { isUlid } from "../../protocol/forms.ts";
import { newId, ulidOf } from "../../protocol/ids.ts";
import { type MailSent, type MailType, USER_BOX } from "../../protocol/mail-records.ts";
import type { LogRecord } from "../../protocol/records.ts";
import type { MailLeaseReply, MailSentReply, MailView, PolledMail } from "../../protocol/replies/mail.ts";
import type { JsonValue } from "../../protocol/talk-records.ts";
import { isEnded } from "../../protocol/worker.ts";
import type { MailRow } from "../../store/views.ts";
import type { MailboxApi } from "../api.ts";
import type { Core } from "../core.ts";
import { keyReused } from "../idempotency.ts";
import { ambiguous, PREFIX_FOUND_MAX, PREFIX_MIN_CHARS } from "../resolve.ts";
import { type Boxes, type BoxInput, boxNameOf } from "./boxes.ts";
import { hasEnded, isSameLetter, noAsk, notYours, unanswered } from "./letters.ts";

/** A message to be sent. */
interface Letter {
  readonly to: string;
  readonly from: string;
  readonly type: MailType;
  readonly payload: JsonValue;
  readonly artifact?: string | undefined;
  readonly correlates?: string | undefined;
  readonly ttl_ms: number;
  readonly delay_ms: number;
  readonly message_id: string;
  readonly by: string;
}

/** The id of a message's record. A repeat has the same one. */
const recordIdOf = (message_id: string): string => `mail:${message_id}`;
/** The id of the reply to an ask, which has only one. */
const replyIdOf = (ask_id: string): string => ulidOf(`reply to ${ask_id}`);

/** The mailbox for replies to a sender. An unknown caller uses the user's. */
const replyAddress = (from: string): string => (isUlid(from) ? from : USER_BOX);
const fromOf = (caller: Caller): string => (caller.type === "worker" ? caller.worker_id : caller.type);

export class Mailboxes implements MailboxApi {
  private readonly core: Core;
  private readonly boxes: Boxes;
  /** Callers that wait for a worker's first poll, and the workers that have polled since this daemon began. */
  private readonly readers = new Map<string, Set<() => void>>();
  private readonly polled = new Set<string>();

  constructor(core: Core, boxes: Boxes) {
    this.core = core;
    this.boxes = boxes;
  }

  readonly send: MailboxApi["send"] = ({
    to,
    caller = USER,
    by = byOf(caller),
    idempotency_key: key,
    ...asked
  }) =>
    Effect.gen({ self: this }, function* () {
      const { type = "cmd", correlation_id: correlates } = asked;
      const from = fromOf(caller);
      if (type === "reply") return yield* this.reply(correlates, caller, { ...asked, by });
      const box = yield* this.destination(to);
      const message_id = key === undefined ? newId(this.core.wallMs()) : ulidOf(`${from} ${box} ${key}`);
      const { ttl_ms = MAILBOX_TTL_DEFAULT_MS, delay_ms = 0, payload, artifact } = asked;
      const letter = { to: box, from, type, payload, artifact, correlates, ttl_ms, delay_ms, message_id, by };
      const effect = yield* this.post(letter);
      const first = effect === "noop" ? this.sentBy(message_id)?.payload : undefined;
      if (first !== undefined && key !== undefined && !isSameLetter(first, this.masked(letter)))
        return yield* Effect.fail(keyReused(key));
      return { message_id, to: box, effect };
    });

  readonly poll: MailboxApi["poll"] = ({
    id,
    caller = USER,
    by = byOf(caller),
    limit = 1,
    lease_ms = MAILBOX_LEASE_DEFAULT_MS,
    wait_ms = 0,
  } = {}) =>
    Effect.gen({ self: this }, function* () {
      const box = yield* this.own(id, caller);
      if (caller.type === "worker") this.sawReader(box);
      const until = this.core.monoMs() + wait_ms;
      for (;;) {
        const messages = yield* this.take(box, limit, lease_ms, by);
        const left = until - this.core.monoMs();
        if (messages.length > 0 || left <= 0) return { messages };
        yield* Effect.timeoutOption(this.boxes.untilReady(box), left);
      }
    });

  readonly ack: MailboxApi["ack"] = (token, { reply, caller = USER, by = byOf(caller) } = {}) =>
    Effect.gen({ self: this }, function* () {
      const { box, message } = yield* this.held(token, caller);
      const { message_id, from } = message;
      if (reply === undefined) {
        yield* this.boxes.decide(box, () => ({ type: "ack", token, by }));
        return { message_id, effect: "updated" };
      }
      const reply_id = replyIdOf(message_id);
      const letter: Letter = {
        to: replyAddress(from),
        from: box === USER_BOX ? USER_BOX : box,
        type: "reply",
        payload: reply.payload,
        artifact: reply.artifact,
        correlates: message_id,
        ttl_ms: MAILBOX_TTL_DEFAULT_MS,
        delay_ms: 0,
        message_id: reply_id,
        by,
      };
      const answered: BoxInput = { name: box, input: { type: "ack", token, by } };
      yield* this.boxes.decideTogether([box, letter.to], () => {
        const sent = this.sending(letter);
        return sent === undefined ? [answered] : [answered, { name: letter.to, input: sent }];
      });
      return { message_id, reply_id, effect: "updated" };
    });

  readonly nack: MailboxApi["nack"] = (
    token,
    { delay_ms = 0, note, caller = USER, by = byOf(caller) } = {},
  ) =>
    Effect.gen({ self: this }, function* () {
      const { box, message } = yield* this.held(token, caller);
      const given = note === undefined ? undefined : this.redacted(box, note);
      yield* this.boxes.decide(box, () => ({ type: "nack", token, by, delay_ms, note: given }));
      return this.leaseReply(box, message.message_id);
    });

  readonly extend: MailboxApi["extend"] = (
    token,
    { lease_ms = MAILBOX_LEASE_DEFAULT_MS, caller = USER, by = byOf(caller) } = {},
  ) =>
    Effect.gen({ self: this }, function* () {
      const { box, message } = yield* this.held(token, caller);
      yield* this.boxes.decide(box, () => ({ type: "extend", token, by, lease_ms }));
      return this.leaseReply(box, message.message_id);
    });

  readonly list: MailboxApi["list"] = ({
    id,
    dead = false,
    limit = MAILBOX_PAGE_DEFAULT,
    cursor = "0",
    caller = USER,
  } = {}) =>
    Effect.gen({ self: this }, function* () {
      const box = yield* this.own(id, caller);
      const found = yield* attempt(() =>
        this.core.services.views.mailIn(box, dead, Number(cursor), limit + 1),
      );
      const rows = found.slice(0, limit);
      const messages = rows.map((row) => this.viewOf(row));
      return found.length > limit ? { messages, cursor: String(rows.at(-1)!.seq) } : { messages };
    });

  readonly show: MailboxApi["show"] = (ref, { caller = USER } = {}) =>
    Effect.map(this.known(ref, caller), (row) => this.viewOf(row));

  readonly resend: MailboxApi["resend"] = (ref, { caller = USER, by = byOf(caller) } = {}) =>
    Effect.gen({ self: this }, function* () {
      const { message_id, box: to } = yield* this.known(ref, caller);
      yield* this.boxes.decide(to, () => ({ type: "resend", message_id, by }));
      return { message_id, to, effect: "updated" };
    });

  readonly drop: MailboxApi["drop"] = (ref, { caller = USER, by = byOf(caller) } = {}) =>
    Effect.gen({ self: this }, function* () {
      const { message_id, box: to } = yield* this.known(ref, caller);
      yield* this.dropped(to, message_id, by, "asked");
      return { message_id, to, effect: "updated" };
    });

  /** Resolves once the worker has polled its mailbox for the first time, in this daemon or an earlier one. */
  untilRead(worker_id: string): Effect.Effect<void, HoldfastError> {
    return Effect.callback((resume) => {
      if (this.polled.has(worker_id) || this.core.services.views.isMailReader(worker_id))
        return resume(Effect.void);
      const waiting = this.readers.get(worker_id) ?? new Set();
      const wake = () => resume(Effect.void);
      this.readers.set(worker_id, waiting.add(wake));
      return Effect.sync(() => {
        waiting.delete(wake);
        if (waiting.size === 0) this.readers.delete(worker_id);
      });
    });
  }

  /** Resolves with the reply to an ask, which it takes out of the asker's mailbox. Fails if the ask is a dead letter. */
  untilAnswered(ask_id: string, box: string): Effect.Effect<MailSent, HoldfastError> {
    const reply_id = replyIdOf(ask_id);
    const replied = () => this.sentBy(reply_id);
    const isGone = () => this.boxes.box(box).get(ask_id)?.message.dead != null;
    return Effect.gen({ self: this }, function* () {
      for (;;) {
        yield* this.boxes.untilTold([reply_id, ask_id], () => replied() !== undefined || isGone());
        const record = yield* attempt(replied);
        if (record !== undefined) {
          const asker = boxNameOf(record.stream);
          if (this.boxes.box(asker).has(reply_id))
            yield* Effect.ignore(this.dropped(asker, reply_id, "daemon", "answered"));
          return record.payload;
        }
        if (isGone()) return yield* Effect.fail(unanswered(ask_id, box));
      }
    });
  }

  private sentBy(message_id: string): Extract<LogRecord, { readonly type: "mailbox_sent" }> | undefined {
    const record = this.core.services.log.byId(recordIdOf(message_id));
    return record?.type === "mailbox_sent" ? record : undefined;
  }

  private sawReader(box: string): void {
    if (this.polled.has(box)) return;
    this.polled.add(box);
    for (const wake of this.readers.get(box) ?? []) wake();
  }

  private take(box: string, limit: number, lease_ms: number, by: string) {
    return Effect.gen({ self: this }, function* () {
      if (!this.boxes.isPollDue(box)) return [];
      const records = yield* this.boxes.decide(box, () => ({ type: "poll", limit, lease_ms, by }));
      return yield* attempt(() => records.flatMap((record) => this.polledBy(record)));
    });
  }

  private polledBy(record: LogRecord): readonly PolledMail[] {
    if (record.type !== "mailbox_delivered") return [];
    const [row] = this.core.services.views.mail(record.payload.message_id, 1);
    // No row: a consumer with an older token has acknowledged it meanwhile.
    return row === undefined ? [] : [{ ...this.viewOf(row), token: record.seq }];
  }

  /** Sends a message once: a repeat with the same id is a `noop`. */
  private post(letter: Letter) {
    return Effect.gen({ self: this }, function* () {
      const records = yield* this.boxes.decide(letter.to, () => this.sending(letter));
      const effect: MailSentReply["effect"] = records.length === 0 ? "noop" : "created";
      return effect;
    });
  }

  /** The input that sends a message; undefined if it was sent before. */
  private sending(letter: Letter): MailInput | undefined {
    const { message_id } = letter;
    if (this.sentBy(message_id) !== undefined) return undefined;
    return { type: "send", sent: this.masked(letter), id: recordIdOf(message_id) };
  }

  private reply(
    correlates: string | undefined,
    caller: Caller,
    {
      payload,
      artifact,
      ttl_ms = MAILBOX_TTL_DEFAULT_MS,
      delay_ms = 0,
      by,
    }: Parameters<MailboxApi["send"]>[0] & { readonly by: string },
  ): Effect.Effect<MailSentReply, HoldfastError> {
    return Effect.gen({ self: this }, function* () {
      const asked = correlates === undefined ? undefined : yield* attempt(() => this.sentBy(correlates));
      if (asked === undefined || correlates === undefined) return yield* Effect.fail(noAsk(correlates));
      const box = boxNameOf(asked.stream);
      if (box !== fromOf(caller)) yield* this.permitted(box, caller);
      const to = replyAddress(asked.payload.from);
      const message_id = replyIdOf(correlates);
      const letter = {
        to,
        from: box,
        type: "reply",
        payload,
        artifact,
        correlates,
        ttl_ms,
        delay_ms,
        by,
      } as const;
      const effect = yield* this.post({ ...letter, message_id });
      return { message_id, to, effect };
    });
  }

  /** Masks the secrets of the sender's and the receiver's agents, as in all records. */
  private masked({ to, from, payload, artifact, correlates, ...letter }: Letter): Omit<MailSent, "clock"> {
    const { to: _, ...rest } = { to, ...letter };
    return {
      ...rest,
      from,
      payload: this.redacted(from, this.redacted(to, payload)),
      ...(artifact === undefined ? {} : { artifact: { digest: artifact } }),
      ...(correlates === undefined ? {} : { correlates }),
    };
  }

  private redacted<T>(worker_id: string, value: T): T {
    return (this.core.roster.live.get(worker_id)?.redact ?? withoutSecrets).value(value);
  }

  /** The mailbox that a message goes to: a worker's that has not ended, or the user's. */
  private destination(to: string | undefined): Effect.Effect<string, HoldfastError> {
    if (to === undefined)
      return Effect.fail(new HoldfastError("INVALID_REQUEST", "A message needs the address of its mailbox."));
    if (to === USER_BOX) return Effect.succeed(USER_BOX);
    return Effect.flatMap(this.core.find(to), ({ id, state }) =>
      isEnded(state) ? Effect.fail(hasEnded(id)) : Effect.succeed(id),
    );
  }

  /** The mailbox that the caller means; fails if it may not read it. */
  private own(id: string | undefined, caller: Caller): Effect.Effect<string, HoldfastError> {
    return Effect.gen({ self: this }, function* () {
      const box =
        id === undefined
          ? replyAddress(fromOf(caller))
          : id === USER_BOX
            ? USER_BOX
            : (yield* this.core.find(id)).id;
      yield* this.permitted(box, caller);
      return box;
    });
  }

  private permitted(box: string, caller: Caller): Effect.Effect<unknown, HoldfastError> {
    if (caller.type === "user") return Effect.void;
    if (box !== USER_BOX)
      return Effect.flatMap(this.core.rowOf(box), (row) => this.core.authority.permit(caller, "poll", row));
    if (caller.type === "worker") return Effect.fail(notYours(caller.worker_id));
    return this.core.authority.permitAll(caller, "read the mailbox of the user");
  }

  private held(token: number, caller: Caller) {
    return Effect.gen({ self: this }, function* () {
      const { log } = this.core.services;
      const record = yield* attempt(() => log.read(token - 1, 1).records[0]);
      if (record?.seq !== token || record.type !== "mailbox_delivered")
        return yield* Effect.fail(leaseLost(token));
      const box = boxNameOf(record.stream);
      yield* this.permitted(box, caller);
      const entry = heldUnder(this.boxes.box(box), token, this.core.monoMs());
      if (entry === undefined) return yield* Effect.fail(leaseLost(token));
      return { box, message: entry.message };
    });
  }

  private known(ref: string, caller: Caller): Effect.Effect<MailRow, HoldfastError> {
    return Effect.gen({ self: this }, function* () {
      const wanted = ref.toUpperCase();
      const found =
        ref.length < PREFIX_MIN_CHARS
          ? []
          : yield* attempt(() => this.core.services.views.mail(wanted, PREFIX_FOUND_MAX));
      const [row] = found;
      if (row === undefined) return yield* Effect.fail(unknownMail(ref));
      if (found.length > 1)
        return yield* Effect.fail(
          ambiguous(
            ref,
            found.map(({ message_id }) => message_id),
          ),
        );
      yield* this.permitted(row.box, caller);
      return row;
    });
  }

  private dropped(name: string, message_id: string, by: string, why: "asked" | "answered") {
    return this.boxes.decide(name, () => ({ type: "drop", message_id, by, why }));
  }

  private leaseReply(box: string, message_id: string): MailLeaseReply {
    const entry = this.boxes.box(box).get(message_id);
    const now = this.core.monoMs();
    return {
      message_id,
      effect: "updated",
      state: entry === undefined ? "dead" : mailStateOf(entry, now),
      visible_at: entry === undefined ? null : this.instant(entry.hidden_ms, now),
    };
  }

  /** A monotonic time as RFC 3339; null if it is not in the future. */
  private instant(mono_ms: number, now: number): string | null {
    return mono_ms <= now ? null : new Date(this.core.wallMs() + Math.ceil(mono_ms - now)).toISOString();
  }

  private viewOf(row: MailRow): MailView {
    const { box, correlates, dead, token, holder, payload, artifact } = row;
    const entry = this.boxes.box(box).get(row.message_id);
    const now = this.core.monoMs();
    const state = entry === undefined ? "ready" : mailStateOf(entry, now);
    return {
      message_id: row.message_id,
      to: box,
      from: row.from,
      from_name: isUlid(row.from) ? (this.core.services.views.worker(row.from)?.name ?? null) : null,
      type: row.type,
      correlation_id: correlates,
      payload,
      artifact,
      state,
      attempt: row.attempt,
      attempts_max: MAILBOX_ATTEMPTS_MAX,
      sent_at: row.sent_at,
      visible_at: state === "dead" || entry === undefined ? null : this.instant(entry.hidden_ms, now),
      expires_at: state === "dead" || entry === undefined ? null : this.instant(entry.expires_ms, now),
      holder: token === null ? null : holder,
      note: row.note,
      cause: dead,
      died_at: row.died_at,
    };
  }
}
