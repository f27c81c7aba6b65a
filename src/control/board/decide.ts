/**
 * One card: which move is allowed from which lane, and what the end of its worker makes of it. Pure; `foldCard` says what the
 * records of a decision change.
 */

import type { Card } from "../../protocol/board.ts";
import {
  boardStream,
  type CardOutcome,
  type CardWords,
  type PolicyStatus,
} from "../../protocol/board-records.ts";
import { DAEMON } from "../../protocol/caller.ts";
import { canonicalJson } from "../../protocol/canonical-json.ts";
import { ERROR_CATALOGUE } from "../../protocol/errors.ts";
import type { RecordDraft, RecordPayloads, WorkerError } from "../../protocol/records.ts";
import type { CardLane, CompletedLane } from "../../protocol/words.ts";
import { type DecisionTime, monotonicDeadline, type TimeOfDay } from "../lease.ts";
import { retryAfter } from "./retry.ts";

/** A move that people and agents ask for. */
export type CardMove = "claim" | "release" | "retry" | "block" | "handoff" | "done";

/** How a worker ended, for its card. */
export type CardEnd =
  | { readonly type: "completed" }
  | { readonly type: "failed"; readonly error: WorkerError }
  /** Somebody ended it by name. */
  | { readonly type: "killed"; readonly by: string; readonly reason: string }
  /** The daemon was stopped with its agents: that is not the card's fault. */
  | { readonly type: "stopped" };

export type CardEvent =
  | { readonly type: "add"; readonly words: CardWords; readonly by: string }
  | { readonly type: CardMove; readonly by: string; readonly reason?: string | undefined }
  /** The dispatcher takes it: its intent to spawn. */
  | { readonly type: "dispatch" }
  | { readonly type: "dispatched"; readonly agent_id: string }
  /** No worker could be spawned for it. */
  | { readonly type: "refused"; readonly error: WorkerError }
  | { readonly type: "ended"; readonly end: CardEnd; readonly completed_lane: CompletedLane };

export type CardRefusal =
  | { readonly why: "unknown" }
  /** It is in a lane from which this move does not go. */
  | { readonly why: "lane"; readonly card: Card; readonly move: CardMove }
  /** The dispatcher is spawning its worker. */
  | { readonly why: "dispatching"; readonly card: Card }
  /** Somebody else holds it. */
  | { readonly why: "held"; readonly card: Card };

export interface CardDecision {
  readonly events: readonly RecordDraft[];
  readonly refused?: CardRefusal;
}

/** The lanes from which each move goes. A card that runs moves with its worker alone. */
export const MOVES: Readonly<Record<CardMove, readonly CardLane[]>> = {
  claim: ["Todo", "RetryQueued", "Blocked", "Review"],
  release: ["Claimed"],
  retry: ["RetryQueued", "Blocked", "Review"],
  block: ["Todo", "Claimed", "RetryQueued", "Review"],
  handoff: ["Claimed", "Blocked"],
  done: ["Todo", "Claimed", "RetryQueued", "Blocked", "Review"],
};

/** The lane in which a repeat of the move finds the card: it changes nothing. */
const REACHED: Readonly<Record<CardMove, CardLane | null>> = {
  claim: "Claimed",
  release: "Todo",
  retry: null,
  block: "Blocked",
  handoff: "Review",
  done: "Done",
};

/** The dispatcher as records name it. */
export const DISPATCHER = DAEMON;

/** The idempotency key of the spawn for one try of a card. */
export const requestIdOf = ({ board, issue_id }: Pick<Card, "board" | "issue_id">, attempt: number): string =>
  `board:${board}:${issue_id}:${attempt}`;

/** The dispatcher has taken it, and no worker of it is on record yet. */
export const isBeingDispatched = ({ lane, request_id }: Card): boolean =>
  lane === "Claimed" && request_id !== null;

/** Monotonic milliseconds of its next try. */
export const dueOf = ({ retry }: Card, now: TimeOfDay): number =>
  retry === null ? now.mono_ms : monotonicDeadline(retry, now);

interface BoardTime extends DecisionTime {
  /** In [0, 1). */
  readonly random: number;
}

const NOTHING: CardDecision = { events: [] };

/** A record of this card. */
type Say = <Type extends CardRecordType>(
  type: Type,
  by: string,
  payload: Omit<RecordPayloads[Type], "issue_id" | "by" | "clock">,
) => RecordDraft;
type CardRecordType = Extract<keyof RecordPayloads, `issue.${string}`>;

const sayOf =
  (board: string, issue_id: string, { clock }: DecisionTime): Say =>
  (type, by, payload) =>
    ({
      type,
      stream: boardStream(board),
      correlation_id: issue_id,
      payload: { issue_id, ...payload, by, clock },
    }) as unknown as RecordDraft;

export const decideCard = (
  { board, issue_id }: Pick<Card, "board" | "issue_id">,
  card: Card | undefined,
  input: CardEvent,
  now: BoardTime,
): CardDecision => {
  const say = sayOf(board, issue_id, now);
  if (input.type === "add") return added(card, input, say);
  if (card === undefined) return { events: [], refused: { why: "unknown" } };
  switch (input.type) {
    case "dispatch":
      return dispatch(card, now, say);
    case "dispatched":
      return isBeingDispatched(card)
        ? one(
            say("issue.dispatched", DISPATCHER, {
              attempt: card.attempt,
              request_id: card.request_id!,
              agent_id: input.agent_id,
            }),
          )
        : NOTHING;
    case "refused":
      return isBeingDispatched(card) ? failed(card, input.error, deniedAs(input.error), now, say) : NOTHING;
    case "ended":
      return card.lane === "Running" ? ended(card, input, now, say) : NOTHING;
    default:
      return moved(card, input, say);
  }
};

const one = (event: RecordDraft): CardDecision => ({ events: [event] });

const wordsOf = ({ title, body, labels, priority }: CardWords): CardWords => ({
  title,
  body,
  labels,
  priority,
});

const added = (
  card: Card | undefined,
  { words, by }: Extract<CardEvent, { readonly type: "add" }>,
  say: Say,
): CardDecision =>
  card !== undefined && canonicalJson(wordsOf(card)) === canonicalJson(wordsOf(words))
    ? NOTHING
    : one(say("issue.discovered", by, wordsOf(words)));

/** The intent is on record before the spawn: a daemon that dies between the two finds the worker by the key, or spawns it. */
const dispatch = (card: Card, now: BoardTime, say: Say): CardDecision => {
  const isFree = card.lane === "Todo" && card.eligibility === "eligible";
  if (!isFree && !(card.lane === "RetryQueued" && dueOf(card, now) <= now.mono_ms)) return NOTHING;
  const attempt = card.attempt + 1;
  return one(say("issue.claimed", DISPATCHER, { attempt, request_id: requestIdOf(card, attempt) }));
};

const moved = (
  card: Card,
  { type, by, reason }: Extract<CardEvent, { readonly type: CardMove }>,
  say: Say,
): CardDecision => {
  const refused = refusalOf(card, type, by);
  if (refused !== undefined) return { events: [], refused };
  if (card.lane === REACHED[type]) return NOTHING;
  switch (type) {
    case "claim":
      return one(say("issue.claimed", by, { attempt: null, request_id: null }));
    case "release":
      return one(say("issue.released", by, { eligible: true, reason: reason ?? "given back" }));
    case "retry": {
      const payload = { retry_class: "asked", delay_ms: 0, code: null, reason: reason ?? "asked for" };
      return one(say("issue.retry_queued", by, payload));
    }
    case "block": {
      const payload = {
        policy_status: "blocked",
        outcome: null,
        code: null,
        reason: reason ?? `blocked by ${by}`,
      } as const;
      return one(say("issue.blocked", by, payload));
    }
    case "handoff":
      return one(say("issue.handoff", by, { note: reason ?? null }));
    case "done":
      return one(say("issue.done", by, { note: reason ?? null }));
  }
};

const refusalOf = (card: Card, move: CardMove, by: string): CardRefusal | undefined => {
  if (isBeingDispatched(card)) return { why: "dispatching", card };
  const isOthers = card.lane === "Claimed" && card.claimed_by !== by;
  // A person may settle what an agent holds; an agent only what is its own.
  if (isOthers && (move === "claim" || by.startsWith("worker:"))) return { why: "held", card };
  if (card.lane === REACHED[move] || MOVES[move].includes(card.lane)) return undefined;
  return { why: "lane", card, move };
};

const POLICY_CODES: readonly string[] = [
  "POLICY_VIOLATION",
  "PERMISSION_DENIED",
  "DEPTH_LIMIT_EXCEEDED",
  "LOCAL_LIMIT_EXCEEDED",
];

/** Why no worker was spawned, in the words of the contract: by the code. */
const deniedAs = ({ code }: WorkerError): CardOutcome => {
  if (POLICY_CODES.includes(code)) return "policy_denied";
  const exit = Object.hasOwn(ERROR_CATALOGUE, code) ? ERROR_CATALOGUE[code].exit : 1;
  return exit === 3 || exit === 4 ? "preflight_failed" : "spawn_denied";
};

const STATUS_OF: Partial<Readonly<Record<CardOutcome, PolicyStatus>>> = {
  policy_denied: "denied",
  preflight_failed: "validation_failed",
};

const failed = (
  card: Card,
  error: WorkerError,
  outcome: CardOutcome,
  now: BoardTime,
  say: Say,
): CardDecision => {
  const { code, message } = error;
  const retry = retryAfter(error, card.failures, now.random);
  if (retry !== undefined)
    return one(say("issue.retry_queued", DISPATCHER, { ...retry, code, reason: message }));
  const policy_status = STATUS_OF[outcome] ?? "blocked";
  const reason =
    card.failures === 0 ? message : `${card.failures + 1} tries failed; the last one: ${message}`;
  return one(say("issue.blocked", DISPATCHER, { policy_status, outcome, code, reason }));
};

const ended = (
  card: Card,
  { end, completed_lane }: Extract<CardEvent, { readonly type: "ended" }>,
  now: BoardTime,
  say: Say,
): CardDecision => {
  switch (end.type) {
    case "completed":
      return one(
        say(completed_lane === "Review" ? "issue.handoff" : "issue.done", DISPATCHER, { note: null }),
      );
    case "failed":
      return failed(card, end.error, "execution_failed", now, say);
    case "killed":
      return one(say("issue.released", end.by, { eligible: false, reason: end.reason }));
    case "stopped": {
      const reason = "the daemon was stopped with its agents";
      return one(
        say("issue.retry_queued", DISPATCHER, { retry_class: "stopped", delay_ms: 0, code: null, reason }),
      );
    }
  }
};
