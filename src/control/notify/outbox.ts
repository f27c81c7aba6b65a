/**
 * The outbox: notifications on their way, folded from the log. It is a value that is kept in a file; what it becomes is decided
 * here, with the clock and the random number passed in. Pure.
 */
import { backoffDelay } from "../../base/backoff.ts";
import {
  NOTIFY_ATTEMPTS_MAX,
  NOTIFY_DEAD_MAX,
  NOTIFY_DEBOUNCE_MS,
  NOTIFY_HOSTS_MAX,
  NOTIFY_REASON_MAX_CHARS,
  NOTIFY_RETRY_MAX_MS,
  NOTIFY_RETRY_MIN_MS,
} from "../../base/limits.ts";
import { type Targets, targetsFor } from "./choose.ts";
import type { Notice } from "./notice.ts";
import { quietUntil } from "./quiet.ts";

/** A notification that waits to be sent to a target. */
export interface PendingNotice {
  readonly target: string;
  readonly notice: Notice;
  /** Epoch milliseconds before which it is not sent. */
  readonly due_ms: number;
  /** Attempts that have failed. */
  readonly attempts: number;
  /** Earlier ones of the same worker and kind that it stands for. */
  readonly earlier: number;
}

/** A notification that was given up. */
export interface DeadNotice {
  readonly target: string;
  /** Kept whole, so that it can be sent again. */
  readonly notice: Notice;
  readonly attempts: number;
  /** Why the last attempt failed. */
  readonly reason: string;
}

export interface NoticeBox {
  /** The cursor behind the last record that was taken; null before the first. */
  readonly cursor: string | null;
  /** The same in the logs of other hosts, by the ids of their stores. */
  readonly hosts?: Readonly<Record<string, string>>;
  readonly pending: readonly PendingNotice[];
  /** Oldest first. */
  readonly dead: readonly DeadNotice[];
}

export const EMPTY_OUTBOX: NoticeBox = { cursor: null, pending: [], dead: [] };

/** The outbox at a place in the log of another host; without a cursor, that place is forgotten. At most NOTIFY_HOSTS_MAX are kept. */
export const atPlace = (outbox: NoticeBox, store_id: string, cursor: string | undefined): NoticeBox => {
  const others = Object.entries(outbox.hosts ?? {}).filter(([id]) => id !== store_id);
  const all = cursor === undefined ? others : [...others, [store_id, cursor] as const];
  return { ...outbox, hosts: Object.fromEntries(all.slice(-NOTIFY_HOSTS_MAX)) };
};

/** The result of one attempt. `isFinal`: no further attempt can succeed. */
export type Sending =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: string; readonly isFinal?: boolean };

/** Two questions are two notifications; any other news of one worker and kind may become one. */
const keyOf = ({ target, notice }: Pick<PendingNotice, "target" | "notice">): string =>
  [
    target,
    notice.kind,
    notice.host ?? "",
    notice.subject.worker_id ?? notice.subject.name ?? "",
    notice.asks?.hold ?? "",
  ].join(" ");

/** Takes a notification in for every target that wants it. */
export const admitted = (outbox: NoticeBox, notice: Notice, targets: Targets, now_ms: number): NoticeBox => {
  const pending = [...outbox.pending];
  for (const target of targetsFor(targets, notice)) {
    const wait_ms = targets[target]?.debounce ?? NOTIFY_DEBOUNCE_MS;
    const fresh = { target, notice, due_ms: now_ms + wait_ms, attempts: 0, earlier: 0 };
    const key = keyOf(fresh);
    // A notification that was tried may have arrived, so another one is made beside it.
    const at = pending.findIndex((one) => one.attempts === 0 && one.due_ms > now_ms && keyOf(one) === key);
    const before = pending[at];
    if (before === undefined) pending.push(fresh);
    // The first one's time stands, so that a stream of news cannot put off its own telling.
    else pending[at] = { ...fresh, due_ms: before.due_ms, earlier: before.earlier + 1 };
  }
  return { ...outbox, pending };
};

/** The time at which it may be sent, quiet hours included. */
export const dueAt = ({ target, notice, due_ms }: PendingNotice, targets: Targets, now_ms: number): number =>
  Math.max(due_ms, quietUntil(targets[target]?.quiet, notice.kind, now_ms) ?? due_ms);

/** The oldest due notification of each target that is not in `busy`. */
export const dueOf = (
  { pending }: NoticeBox,
  targets: Targets,
  busy: ReadonlySet<string>,
  now_ms: number,
): readonly PendingNotice[] => {
  const due = new Map<string, PendingNotice>();
  for (const one of pending)
    if (!busy.has(one.target) && !due.has(one.target) && dueAt(one, targets, now_ms) <= now_ms)
      due.set(one.target, one);
  return [...due.values()];
};

const isSame = (one: PendingNotice, other: PendingNotice): boolean =>
  one.target === other.target && one.notice.id === other.notice.id;

/** Takes one out: it was sent, its question is answered, or its target is gone. */
export const without = (outbox: NoticeBox, sent: PendingNotice): NoticeBox => ({
  ...outbox,
  pending: outbox.pending.filter((one) => !isSame(one, sent)),
});

/** It waits, and was not tried. */
export const postponed = (outbox: NoticeBox, waiting: PendingNotice, due_ms: number): NoticeBox => ({
  ...outbox,
  pending: outbox.pending.map((one) => (isSame(one, waiting) ? { ...one, due_ms } : one)),
});

/** The outbox after an attempt; `random` is in [0, 1). */
export const settledSending = (
  outbox: NoticeBox,
  sent: PendingNotice,
  sending: Sending,
  { now_ms, random }: { readonly now_ms: number; readonly random: number },
): NoticeBox => {
  if (sending.ok) return without(outbox, sent);
  const attempts = sent.attempts + 1;
  if (sending.isFinal === true || attempts >= NOTIFY_ATTEMPTS_MAX)
    return buried(without(outbox, sent), sent, attempts, sending.reason);
  const delay_ms = backoffDelay(
    attempts,
    { min_ms: NOTIFY_RETRY_MIN_MS, max_ms: NOTIFY_RETRY_MAX_MS },
    random,
  );
  const again = { ...sent, attempts, due_ms: now_ms + delay_ms };
  return { ...outbox, pending: outbox.pending.map((one) => (isSame(one, sent) ? again : one)) };
};

const buried = (
  outbox: NoticeBox,
  { target, notice }: PendingNotice,
  attempts: number,
  reason: string,
): NoticeBox => {
  const dead = { target, notice, attempts, reason: reason.slice(0, NOTIFY_REASON_MAX_CHARS) };
  return { ...outbox, dead: [...outbox.dead, dead].slice(-NOTIFY_DEAD_MAX) };
};

/** Lets those of the dead that `isWanted` wait again, as if they had never been tried. Ids stay, so that receivers know them. */
export const revived = (
  outbox: NoticeBox,
  isWanted: (dead: DeadNotice) => boolean,
  now_ms: number,
): { readonly outbox: NoticeBox; readonly again: readonly DeadNotice[] } => {
  const again = outbox.dead.filter(isWanted);
  const pending = again.map(({ target, notice }) => ({
    target,
    notice,
    due_ms: now_ms,
    attempts: 0,
    earlier: 0,
  }));
  return {
    outbox: {
      ...outbox,
      pending: [...outbox.pending, ...pending],
      dead: outbox.dead.filter((one) => !again.includes(one)),
    },
    again,
  };
};
