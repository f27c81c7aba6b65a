/**
 * A card of a board, and the one fold of its records: for the decisions, for the projection, and so for a daemon that starts.
 * States and lanes are those of protocol-v1 notes 2.7. Pure.
 */
import { boardOf, type CardOutcome, type CardWords, type PolicyStatus } from "./board-records.ts";
import type { Deadline } from "./clock-stamp.ts";
import type { ErrorCode } from "./errors.ts";
import type { LogRecord } from "./records.ts";
import type { CardLane } from "./words.ts";

/** Released: nobody holds it, and the lane says what it waits for. */
export const CARD_STATES = ["Unclaimed", "Claimed", "Running", "RetryQueued", "Released"] as const;
export type CardState = (typeof CARD_STATES)[number];

export interface Card extends CardWords {
  readonly board: string;
  readonly issue_id: string;
  /** The seq of the record that discovered it: older cards come first. */
  readonly seq: number;
  readonly state: CardState;
  readonly lane: CardLane;
  readonly policy_status: PolicyStatus;
  readonly eligibility: "eligible" | "ineligible";
  /** Why the dispatcher does not take it; null while it may. */
  readonly denial_reason: string | null;
  readonly last_outcome: CardOutcome | null;
  /** The code of the newest failure. */
  readonly code: ErrorCode | null;
  /** Tries of the dispatcher so far. */
  readonly attempt: number;
  /** Tries that failed since the last time that somebody asked for one. */
  readonly failures: number;
  /** When the next try is due, in RetryQueued. */
  readonly retry: Deadline | null;
  /** The idempotency key of the spawn, from the claim of the dispatcher until the worker's end. */
  readonly request_id: string | null;
  /** The worker of the newest try. */
  readonly agent_id: string | null;
  /** The holder, in Claimed. */
  readonly claimed_by: string | null;
  readonly discovered_at: string;
  /** When its newest record was written. */
  readonly changed_at: string;
  readonly last_seq: number;
}

export type AddedEffect = "created" | "updated" | "noop";

/** The effect of adding many cards: the largest of their effects. */
export const largestEffect = (cards: readonly { readonly effect: AddedEffect }[]): AddedEffect =>
  (["created", "updated"] as const).find((one) => cards.some(({ effect }) => effect === one)) ?? "noop";

/** The card after a record about it. */
export const foldCard = (card: Card | undefined, record: LogRecord): Card | undefined => {
  if (record.type === "issue.discovered") return discovered(card, record);
  if (card === undefined) return undefined;
  const change = changeOf(card, record);
  return change && { ...card, ...change, changed_at: record.recorded_at, last_seq: record.seq };
};

type Change = Partial<Omit<Card, "board" | "issue_id" | "seq">>;

/** Nobody holds it, nothing runs for it, and nothing is due. */
const AT_REST = { claimed_by: null, request_id: null, retry: null } as const;
const OPEN = { policy_status: "ok", eligibility: "eligible", denial_reason: null } as const;

const changeOf = (card: Card, record: LogRecord): Change => {
  switch (record.type) {
    case "issue.claimed": {
      const { by, attempt, request_id } = record.payload;
      const claimed = { ...AT_REST, ...OPEN, state: "Claimed", lane: "Claimed" } as const;
      return attempt === null
        ? { ...claimed, claimed_by: by }
        : { ...claimed, claimed_by: by, attempt, request_id, agent_id: null };
    }
    case "issue.dispatched": {
      const { agent_id, request_id } = record.payload;
      return { state: "Running", lane: "Running", agent_id, request_id, claimed_by: null };
    }
    case "issue.retry_queued": {
      const { code, delay_ms, clock, reason } = record.payload;
      const retry = { clock, at: record.recorded_at, after_ms: delay_ms };
      const queued = { ...AT_REST, ...OPEN, state: "RetryQueued", lane: "RetryQueued", retry } as const;
      return code === null
        ? { ...queued, failures: 0, code: null }
        : {
            ...queued,
            failures: card.failures + 1,
            code,
            denial_reason: reason,
            last_outcome: outcomeOf(card),
          };
    }
    case "issue.released": {
      const { eligible, reason } = record.payload;
      return eligible
        ? { ...AT_REST, ...OPEN, state: "Released", lane: "Todo" }
        : { ...blocked(reason), policy_status: "blocked", last_outcome: "cancelled", code: null };
    }
    case "issue.blocked": {
      const { policy_status, outcome, code, reason } = record.payload;
      return { ...blocked(reason), policy_status, code, last_outcome: outcome ?? card.last_outcome };
    }
    case "issue.handoff":
      return { ...resting("waits for a review"), lane: "Review", ...completedOf(card) };
    case "issue.done":
      return { ...resting("done"), lane: "Done", ...completedOf(card) };
    default:
      return {};
  }
};

const resting = (denial_reason: string) =>
  ({ ...AT_REST, policy_status: "ok", state: "Released", eligibility: "ineligible", denial_reason }) as const;
const blocked = (reason: string) => ({ ...resting(reason), lane: "Blocked" }) as const;

/** From Running it moves on here because its worker has completed. */
const completedOf = ({ lane }: Card): Change =>
  lane === "Running" ? { last_outcome: "completed", code: null } : {};
const outcomeOf = ({ lane }: Card): CardOutcome => (lane === "Running" ? "execution_failed" : "spawn_denied");

/** A card that is known takes the new words, and stays where it is. */
const discovered = (
  card: Card | undefined,
  { stream, seq, recorded_at, payload }: Extract<LogRecord, { readonly type: "issue.discovered" }>,
): Card => {
  const { title, body, labels, priority } = payload;
  const words = { title, body, labels, priority, changed_at: recorded_at, last_seq: seq };
  if (card !== undefined) return { ...card, ...words };
  return {
    ...words,
    ...AT_REST,
    ...OPEN,
    board: boardOf(stream) ?? "",
    issue_id: payload.issue_id,
    seq,
    state: "Unclaimed",
    lane: "Todo",
    last_outcome: null,
    code: null,
    attempt: 0,
    failures: 0,
    agent_id: null,
    discovered_at: recorded_at,
  };
};
