/**
 * One mailbox: its messages by id, and the deadlines of each on today's clock. `decideBox` answers an input with records, or refuses it;
 * `evolveBox` folds a record. A lease that has lapsed needs no record: what was under it can be polled again. Pure.
 */
import {
  MAILBOX_ATTEMPTS_MAX,
  MAILBOX_DEAD_MAX,
  MAILBOX_DEATHS_AT_ONCE,
  MAILBOX_MESSAGES_MAX,
  MAILBOX_POLL_MAX,
} from "../../base/limits.ts";
import type { ClockStamp } from "../../protocol/clock-stamp.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { foldMail, isOfMail, type MailMessage, type MailState, mailboxStream } from "../../protocol/mail.ts";
import type { DeathCause, MailSent } from "../../protocol/mail-records.ts";
import type { LogRecord, RecordDraft } from "../../protocol/records.ts";
import { type DecisionTime, monotonicDeadline, type TimeOfDay } from "../lease.ts";

export interface MailEntry {
  readonly message: MailMessage;
  /** Monotonic milliseconds. */
  readonly hidden_ms: number;
  readonly expires_ms: number;
}

export type MailBox = ReadonlyMap<string, MailEntry>;

export const EMPTY_BOX: MailBox = new Map();

export type MailInput =
  | {
      readonly type: "send";
      readonly sent: Omit<MailSent, "clock">;
      /** Idempotency key of its record. */
      readonly id?: string | undefined;
    }
  | { readonly type: "poll"; readonly limit: number; readonly lease_ms: number; readonly by: string }
  | { readonly type: "ack"; readonly token: number; readonly by: string }
  | {
      readonly type: "nack";
      readonly token: number;
      readonly by: string;
      readonly delay_ms: number;
      readonly note?: string | undefined;
    }
  | { readonly type: "extend"; readonly token: number; readonly by: string; readonly lease_ms: number }
  | { readonly type: "resend"; readonly message_id: string; readonly by: string }
  | {
      readonly type: "drop";
      readonly message_id: string;
      readonly by: string;
      readonly why: "asked" | "answered";
    }
  /** Time has passed. */
  | { readonly type: "look" };

const isUnderLease = ({ message, hidden_ms }: MailEntry, mono_ms: number): boolean =>
  message.token !== null && hidden_ms > mono_ms;

/** Why it is to die now; undefined for one that lives on, or is dead. */
const deathOf = (entry: MailEntry, mono_ms: number): DeathCause | undefined => {
  if (entry.message.dead !== null || isUnderLease(entry, mono_ms)) return undefined;
  if (entry.message.attempt >= MAILBOX_ATTEMPTS_MAX) return "attempts";
  return entry.expires_ms <= mono_ms ? "expired" : undefined;
};

export const mailStateOf = (entry: MailEntry, mono_ms: number): MailState => {
  if (entry.message.dead !== null || deathOf(entry, mono_ms) !== undefined) return "dead";
  if (isUnderLease(entry, mono_ms)) return "leased";
  return entry.hidden_ms > mono_ms ? "delayed" : "ready";
};

/** When time alone changes something about it next. */
const nextChangeOf = (entry: MailEntry, mono_ms: number): number => {
  if (entry.message.dead !== null) return Number.POSITIVE_INFINITY;
  if (deathOf(entry, mono_ms) !== undefined) return mono_ms;
  if (isUnderLease(entry, mono_ms)) return entry.hidden_ms;
  return entry.hidden_ms > mono_ms ? Math.min(entry.hidden_ms, entry.expires_ms) : entry.expires_ms;
};

/** The first such change of all its messages; Infinity where time changes nothing. */
export const nextChange = (box: MailBox, mono_ms: number): number => {
  let first = Number.POSITIVE_INFINITY;
  for (const entry of box.values()) first = Math.min(first, nextChangeOf(entry, mono_ms));
  return first;
};

/** The messages that the next poll gets, in the order in which it gets them. */
export const readyMail = (box: MailBox, mono_ms: number): readonly MailEntry[] =>
  [...box.values()]
    .filter((entry) => mailStateOf(entry, mono_ms) === "ready")
    .sort((a, b) => a.hidden_ms - b.hidden_ms || a.message.seq - b.message.seq);

export const hasReadyMail = (box: MailBox, mono_ms: number): boolean => {
  for (const entry of box.values()) if (mailStateOf(entry, mono_ms) === "ready") return true;
  return false;
};

/** Whether something is to die by now. */
export const isLookDue = (box: MailBox, mono_ms: number): boolean => {
  for (const entry of box.values()) if (deathOf(entry, mono_ms) !== undefined) return true;
  return false;
};

/** The records of an input, those of what is due before them. Throws where the input is refused: nothing has changed then. */
export const decideBox = (
  name: string,
  box: MailBox,
  input: MailInput,
  now: DecisionTime,
): readonly RecordDraft[] => {
  const stream = mailboxStream(name);
  const due = deathsDue(stream, box, now);
  switch (input.type) {
    case "look":
      return due;
    case "send":
      refuseFull(name, box, now);
      return [
        ...due,
        {
          type: "mailbox_sent",
          stream,
          payload: { ...input.sent, clock: now.clock },
          ...(input.id === undefined ? {} : { id: input.id }),
        },
      ];
    case "poll": {
      const { limit, lease_ms, by } = input;
      const got = readyMail(box, now.mono_ms).slice(0, Math.min(limit, MAILBOX_POLL_MAX));
      return [
        ...due,
        ...got.map(({ message: { message_id, attempt } }): RecordDraft => {
          const payload = { message_id, attempt: attempt + 1, lease_ms, by, clock: now.clock };
          return { type: "mailbox_delivered", stream, payload };
        }),
      ];
    }
    case "resend": {
      const { message_id, by } = input;
      const known = box.get(message_id);
      if (known?.message.dead == null) throw notDead(message_id, known !== undefined);
      refuseFull(name, box, now);
      return [...due, { type: "mailbox_resent", stream, payload: { message_id, by, clock: now.clock } }];
    }
    case "drop": {
      const { message_id, by, why } = input;
      if (!box.has(message_id)) throw unknownMail(message_id);
      const payload = { message_id, why, by, clock: now.clock };
      return [...due, { type: "mailbox_dropped", stream, payload }];
    }
    default:
      return [...due, ...ofHolder(stream, box, input, now)];
  }
};

type HolderInput = Extract<MailInput, { readonly token: number }>;

/** A token holds until its message is given to somebody else, or is dead: also after its lease, as long as nobody else wanted it. */
export const heldUnder = (box: MailBox, token: number, mono_ms: number): MailEntry | undefined => {
  for (const entry of box.values())
    if (entry.message.token === token) return deathOf(entry, mono_ms) === undefined ? entry : undefined;
  return undefined;
};

const ofHolder = (
  stream: string,
  box: MailBox,
  input: HolderInput,
  { mono_ms, clock }: DecisionTime,
): readonly RecordDraft[] => {
  const { token, by } = input;
  const entry = heldUnder(box, token, mono_ms);
  if (entry === undefined) throw leaseLost(token);
  const { message_id, attempt } = entry.message;
  const held = { message_id, token, by, clock };
  switch (input.type) {
    case "ack":
      return [{ type: "mailbox_acked", stream, payload: held }];
    case "extend":
      return [{ type: "mailbox_extended", stream, payload: { ...held, lease_ms: input.lease_ms } }];
    case "nack": {
      const { delay_ms, note } = input;
      const payload = { ...held, delay_ms, ...(note === undefined ? {} : { note }) };
      const nacked: RecordDraft = { type: "mailbox_nacked", stream, payload };
      if (attempt < MAILBOX_ATTEMPTS_MAX) return [nacked];
      return [nacked, diedDraft(stream, message_id, "attempts", clock)];
    }
  }
};

const diedDraft = (
  stream: string,
  message_id: string,
  cause: DeathCause,
  clock: ClockStamp,
): RecordDraft => ({
  type: "mailbox_died",
  stream,
  payload: { message_id, cause, clock },
});

const deathsDue = (
  stream: string,
  box: MailBox,
  { mono_ms, clock }: DecisionTime,
): readonly RecordDraft[] => {
  const dying: RecordDraft[] = [];
  const dead: MailMessage[] = [];
  for (const entry of box.values()) {
    const { message } = entry;
    if (message.dead !== null) dead.push(message);
    const cause = deathOf(entry, mono_ms);
    if (cause !== undefined) dying.push(diedDraft(stream, message.message_id, cause, clock));
  }
  // One transaction stays small: the next look goes on.
  const now = dying.slice(0, MAILBOX_DEATHS_AT_ONCE);
  const over = dead.length + now.length - MAILBOX_DEAD_MAX;
  if (over <= 0) return now;
  const oldest = dead.sort(byDeath).slice(0, over);
  return [
    ...oldest.map(({ message_id }): RecordDraft => {
      const payload = { message_id, why: "room", by: "daemon", clock } as const;
      return { type: "mailbox_dropped", stream, payload };
    }),
    ...now,
  ];
};

const byDeath = (a: MailMessage, b: MailMessage): number =>
  (a.died_at ?? "") < (b.died_at ?? "") ? -1 : (a.died_at ?? "") > (b.died_at ?? "") ? 1 : a.seq - b.seq;

const refuseFull = (name: string, box: MailBox, { mono_ms }: DecisionTime): void => {
  let living = 0;
  for (const entry of box.values()) if (mailStateOf(entry, mono_ms) !== "dead") living += 1;
  if (living < MAILBOX_MESSAGES_MAX) return;
  throw new HoldfastError(
    "QUEUE_FULL",
    `The mailbox of ${name} holds ${MAILBOX_MESSAGES_MAX} messages, and takes no more until some are acknowledged.`,
    { suggestion: `See what is in it: agent mailbox list ${name}` },
  );
};

export const leaseLost = (token: number): HoldfastError =>
  new HoldfastError(
    "LEASE_LOST",
    `Nothing is held under the token ${token}: its message was acknowledged, given back, or given to somebody else after its lease.`,
    { details: { token } },
  );

export const unknownMail = (message_id: string): HoldfastError =>
  new HoldfastError("MESSAGE_NOT_FOUND", `No mailbox holds the message ${message_id}.`);

const notDead = (message_id: string, isThere: boolean): HoldfastError =>
  isThere
    ? new HoldfastError(
        "INVALID_STATE",
        `The message ${message_id} is no dead letter: it is still to be delivered.`,
        {
          suggestion: "List the dead letters with: agent mailbox list --dead",
        },
      )
    : unknownMail(message_id);

/** The box after a record of its stream. */
export const evolveBox = (box: MailBox, record: LogRecord, now: TimeOfDay): MailBox => {
  if (!isOfMail(record)) return box;
  const { message_id } = record.payload;
  const before = box.get(message_id);
  const message = foldMail(before?.message, record);
  if (message === before?.message) return box;
  const after = new Map(box);
  if (message === undefined) after.delete(message_id);
  else after.set(message_id, entryOf(message, now, before));
  return after;
};

/** A deadline that is known already stays as it is: the wall clock may have jumped since. */
const entryOf = (message: MailMessage, now: TimeOfDay, before?: MailEntry): MailEntry => ({
  message,
  hidden_ms:
    before?.message.hidden === message.hidden ? before.hidden_ms : monotonicDeadline(message.hidden, now),
  expires_ms: before?.message.ttl === message.ttl ? before.expires_ms : monotonicDeadline(message.ttl, now),
});

/** As the next daemon finds it. */
export const boxOf = (messages: readonly MailMessage[], now: TimeOfDay): MailBox =>
  new Map(messages.map((message) => [message.message_id, entryOf(message, now)]));
