/** A board as records tell it: its cards by the events of protocol-v1 notes 2.7, each with the id of its issue, and its dispatcher. */
import type { ClockStamp } from "./clock-stamp.ts";
import type { ErrorCode } from "./errors.ts";
import type { CompletedLane } from "./words.ts";
import type { Priority, WorkerSpec } from "./worker.ts";

/** The words of a card: what a tracker says about an issue. Secrets are masked. */
export interface CardWords {
  readonly title: string;
  readonly body: string | null;
  readonly labels: readonly string[];
  readonly priority: Priority;
}

interface OfCard {
  /** The id that its tracker gives it; unique on its board. */
  readonly issue_id: string;
  readonly by: string;
  readonly clock: ClockStamp;
}

interface IssueDiscovered extends OfCard, CardWords {}

interface IssueClaimed extends OfCard {
  /** With a claim of the dispatcher: the number of this try, and the idempotency key of its spawn. Null for a claim by hand. */
  readonly attempt: number | null;
  readonly request_id: string | null;
}

interface IssueDispatched extends OfCard {
  readonly attempt: number;
  readonly request_id: string;
  /** The worker that runs for it. */
  readonly agent_id: string;
}

interface IssueRetryQueued extends OfCard {
  /** The class of the error's code; `asked`: somebody wants another try. */
  readonly retry_class: string;
  readonly delay_ms: number;
  /** The code of the failure; null where somebody asked. */
  readonly code: ErrorCode | null;
  readonly reason: string;
}

interface IssueReleased extends OfCard {
  /** True: the dispatcher may take it. False: its worker was killed, and it waits for a person. */
  readonly eligible: boolean;
  readonly reason: string;
}

/** protocol-v1 notes 2.7. */
export type CardOutcome =
  | "spawn_denied"
  | "policy_denied"
  | "preflight_failed"
  | "execution_failed"
  | "cancelled"
  | "completed";
export type PolicyStatus = "ok" | "denied" | "blocked" | "validation_failed";

interface IssueBlocked extends OfCard {
  readonly policy_status: PolicyStatus;
  /** Null where a person blocked it. */
  readonly outcome: CardOutcome | null;
  readonly code: ErrorCode | null;
  readonly reason: string;
}

interface IssueHandoff extends OfCard {
  /** The words of whoever moved it. */
  readonly note: string | null;
}

interface IssueDone extends OfCard {
  readonly note: string | null;
}

/** How the dispatcher of a board works from now on. */
export interface BoardConfigured {
  /** Cards that run at once; 0: it takes no more cards. */
  readonly slots: number;
  readonly completed_lane: CompletedLane;
  /** The worker of each card but for the card's words, secrets masked; the whole spec is in the run directory (0600). */
  readonly spec: WorkerSpec;
  readonly by: string;
  readonly clock: ClockStamp;
}

/** The payloads of a board's records, by their types: part of `RecordPayloads`. */
export interface BoardRecords {
  /** A card is on a board, or has new words. The board is that of the stream. */
  "issue.discovered": IssueDiscovered;
  /** Somebody holds the card: a person, an agent, or the dispatcher, which spawns a worker for it next. */
  "issue.claimed": IssueClaimed;
  /** A worker runs for the card. */
  "issue.dispatched": IssueDispatched;
  /** The card is tried again once its delay is over. */
  "issue.retry_queued": IssueRetryQueued;
  /** Nobody holds the card any more, without a result. */
  "issue.released": IssueReleased;
  /** The card waits for a person. */
  "issue.blocked": IssueBlocked;
  /** The work is there, and waits for a review. */
  "issue.handoff": IssueHandoff;
  /** The card is done. */
  "issue.done": IssueDone;
  /** The dispatcher of the board works like this from now on. */
  board_configured: BoardConfigured;
}

const BOARD_STREAM = "board:";
export const boardStream = (board: string): string => `${BOARD_STREAM}${board}`;
/** The inverse of `boardStream`; undefined for a stream of something else. */
export const boardOf = (stream: string): string | undefined =>
  stream.startsWith(BOARD_STREAM) ? stream.slice(BOARD_STREAM.length) : undefined;
