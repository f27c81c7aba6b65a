/** The answers of boards, without Effect, as in `replies.ts`. */
import type { AddedEffect, CardState } from "../protocol/board.ts";
import type { CardOutcome, PolicyStatus } from "../protocol/board-records.ts";
import type { ErrorCode } from "../protocol/errors.ts";
import type { CardLane, CompletedLane } from "../protocol/words.ts";
import type { Priority, WorkerStatus } from "../protocol/worker.ts";
import type { WorkerWorkspace } from "../protocol/workspace.ts";

/** A card, with the names of protocol-v1 notes 2.7. */
export interface CardView {
  readonly board: string;
  readonly issue_id: string;
  readonly title: string;
  readonly body: string | null;
  readonly labels: readonly string[];
  readonly priority: Priority;
  readonly state: CardState;
  readonly lane: CardLane;
  readonly policy_status: PolicyStatus;
  readonly eligibility: "eligible" | "ineligible";
  /** Why the dispatcher does not take it, or why its last try failed. */
  readonly denial_reason: string | null;
  readonly last_outcome: CardOutcome | null;
  /** The code of the newest failure. */
  readonly code: ErrorCode | null;
  /** Tries of the dispatcher so far. */
  readonly attempt: number;
  readonly retry_due_at: string | null;
  /** The run of its worker; null before it has begun. */
  readonly run_id: string | null;
  /** The worker of its newest try. */
  readonly agent_id: string | null;
  readonly claimed_by: string | null;
  readonly discovered_at: string;
  readonly changed_at: string;
}

/** One card, with what leads from it to its work. */
export interface CardInfo extends CardView {
  readonly worker: {
    readonly id: string;
    readonly name: string | null;
    readonly kind: string;
    readonly status: WorkerStatus;
    readonly reason: string;
  } | null;
  readonly workspace: WorkerWorkspace | null;
  /** Commands that show more of it, or move it on. */
  readonly commands: readonly string[];
}

export interface DispatcherView {
  /** Cards that run at once; 0: it takes no more cards. */
  readonly slots: number;
  readonly completed_lane: CompletedLane;
  readonly kind: string;
  readonly cwd: string;
  /** Each worker has a worktree of its own. */
  readonly worktree: boolean;
  readonly by: string;
  readonly configured_at: string;
}

export interface BoardReply {
  readonly board: string;
  /** Null where nobody has set one. */
  readonly dispatcher: DispatcherView | null;
  /** Cards of the whole board, by lane. */
  readonly lanes: Readonly<Record<CardLane, number>>;
  readonly cards: readonly CardView[];
  /** There are more after these. */
  readonly cursor?: string;
}

export interface CardsAdded {
  readonly board: string;
  readonly cards: readonly {
    readonly issue_id: string;
    /** `noop`: the board has it with these words already. */
    readonly effect: AddedEffect;
  }[];
  /** The largest of them. */
  readonly effect: AddedEffect;
}

export interface CardMoved extends CardView {
  /** `noop`: it was there before. */
  readonly effect: "updated" | "noop";
}

export interface DispatchSet extends DispatcherView {
  readonly board: string;
  readonly effect: "created" | "updated" | "noop";
}
