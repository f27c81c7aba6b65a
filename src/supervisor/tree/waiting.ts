/**
 * A worker of a file that waits alone, whatever the strategy, because its siblings could not help. Each function returns
 * false if the worker has ended instead.
 */
import type { WorkerError } from "../../protocol/records.ts";
import { RESTART_RATE_LIMITED } from "../../protocol/restart-cause.ts";
import { askInterrupted, ENDED_INTERRUPTED } from "../child/interruption.ts";
import { recorder } from "../child/recorder.ts";
import { uncounted, type Verdict } from "../child/verdict.ts";
import { GAVE_UP_ON_RATE_LIMIT, rateLimitWait } from "../restart/rate-limit.ts";
import type { Draft } from "./draft.ts";
import type { Member } from "./state.ts";

/** The worker's turn was interrupted: it waits for an answer. */
export const waitsForAnswer = (
  draft: Draft,
  member: Member,
  interrupted: NonNullable<Extract<Verdict, { type: "over" }>["interrupted"]>,
): boolean => {
  const { child } = member;
  if (interrupted.then === "never") {
    draft.end(member, "failed", ENDED_INTERRUPTED);
    return false;
  }
  for (const event of askInterrupted(child, interrupted, recorder(child), draft.now.clock))
    draft.record(event);
  draft.tell(child.worker_id, { type: "wait" });
  return true;
};

/** The worker waits until its provider's rate limit resets. */
export const waitsForLimit = (draft: Draft, member: Member, failure: WorkerError): boolean => {
  const { child } = member;
  const wait = rateLimitWait(failure, child.rate_limits, draft.now);
  if (wait === undefined) {
    draft.end(member, "failed", GAVE_UP_ON_RATE_LIMIT, "rate_limited");
    return false;
  }
  draft.record(uncounted(child, RESTART_RATE_LIMITED, recorder(child), draft.now, wait));
  draft.tell(child.worker_id, { type: "restart_after", delay_ms: wait.delay_ms });
  return true;
};
