/** Signals that give a call up, and functions that answer permission requests. */
import type { ApprovalView } from "../protocol/replies/talk.ts";

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

/** Is called for each request that waits for a person. `signal` is aborted once the request needs no answer any more. */
export type OnApproval = (
  approval: ApprovalView,
  context: { readonly signal: AbortSignal },
) => ApprovalAnswer | Promise<ApprovalAnswer>;
