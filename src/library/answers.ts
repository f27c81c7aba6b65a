/** Signals that give a call up, and functions that answer permission requests. */
import type { ApprovalView } from "../protocol/replies/talk.ts";
import type { WorkerSpecInput } from "../protocol/worker.ts";
import type { DeepReadonly } from "./json.ts";

/** A call that a program may give up: it then rejects with CANCELLED, whose `cause` is the reason of the signal. */
export interface AbortOptions {
  readonly signal?: AbortSignal;
}

/** An answer to a request for permission; undefined leaves the request to others. The agent is told the message of a denial. */
export type ApprovalAnswer =
  | "allow"
  | "deny"
  | { readonly decision: "allow" | "deny"; readonly message?: string }
  | undefined;

/** The reason or the budget that goes with an answer to a hold. */
export interface HoldAnswerOptions {
  /** With `deny`: the reason, which the agent is told. */
  readonly message?: string;
  /** With `continue`, for a spent budget: its bounds from now on, in all. Default: as much again of what is spent. */
  readonly budget?: DeepReadonly<WorkerSpecInput["budget"]>;
}

/** Is called for each request that waits for a person. `signal` is aborted once the request needs no answer any more. */
export type OnApproval = (
  approval: ApprovalView,
  context: { readonly signal: AbortSignal },
) => ApprovalAnswer | Promise<ApprovalAnswer>;
