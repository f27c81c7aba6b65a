/**
 * The private supervisor of one worker: its decision at the end of an incarnation. The restart table is OTP's
 * (supervisor.erl): permanent always, transient after an abnormal end, temporary never.
 */

import { backoffDelay } from "../../base/backoff.ts";
import { formatDuration } from "../../base/durations.ts";
import { ERROR_CATALOGUE } from "../../protocol/errors.ts";
import {
  type EndCause,
  HELD,
  type RecordDraft,
  type RecordPayloads,
  type WorkerError,
} from "../../protocol/records.ts";
import { RESTART_ENDED, RESTART_RATE_LIMITED, type UncountedRestart } from "../../protocol/restart-cause.ts";
import type { RestartPolicy } from "../../protocol/worker.ts";
import type { Now } from "../clocks/now.ts";
import {
  GAVE_UP_ON_RATE_LIMIT,
  isRateLimited,
  type RateLimitWait,
  rateLimitWait,
} from "../restart/rate-limit.ts";
import { addRestart } from "../restart/window.ts";
import type { ChildState, Decision, WorkerEnd } from "./inputs.ts";
import { askInterrupted, ENDED_INTERRUPTED, type InterruptedTurn } from "./interruption.ts";
import { type Recorder, recorder } from "./recorder.ts";

/** The result of an incarnation's end, on which the supervisor decides. */
export type Verdict =
  /** The worker stays as it ended: killed, abandoned, out of budget. */
  | {
      readonly type: "end";
      readonly state: Exclude<WorkerEnd, "held">;
      readonly reason: string;
      readonly cause?: EndCause;
    }
  /** Another incarnation follows, which no window counts. */
  | { readonly type: "again"; readonly cause: UncountedRestart }
  /** The worker had nothing to do, and waits for a message. */
  | { readonly type: "passivated" }
  /** Its supervisor stopped it. */
  | { readonly type: "held" }
  /** It ended by itself, so its policy decides. */
  | {
      readonly type: "over";
      readonly completed: boolean;
      readonly failure: WorkerError | undefined;
      /** The end was not the agent's fault: no window counts the restart. */
      readonly excused?: UncountedRestart;
      /** A turn was open and does not simply continue: instead of a restart, the worker waits for an answer or ends. */
      readonly interrupted?: InterruptedTurn & { readonly then: "ask" | "never" };
    };

/** A restart that no window counts. A restart by a user also removes the tombstone. */
export const uncounted = (
  child: ChildState,
  cause: UncountedRestart,
  record: Recorder,
  now: Now,
  { delay_ms, note }: RateLimitWait = AT_ONCE,
): RecordDraft =>
  record("worker_restart_scheduled", {
    delay_ms,
    restarts_in_window: 0,
    max_restarts: child.max_restarts,
    period_ms: child.period_ms,
    cause,
    reason: cause,
    ...(note === undefined ? {} : { note }),
    clock: now.clock,
  });

export const passivated = (child: ChildState, record: Recorder, { clock }: Now): RecordDraft =>
  record("worker_state_changed", { from: child.state, to: "waiting", reason: "passivated", clock });

const AT_ONCE: RateLimitWait = { delay_ms: 0 };

/** Schedules the next incarnation. */
const again = (scheduled: RecordDraft, delay_ms = 0): Decision => ({
  events: [scheduled],
  commands: [{ type: "restart_after", delay_ms }],
});

/**
 * Whether no restart can fix the failure: the worker then ends, whatever its policy (compare systemd's
 * RestartPreventExitStatus). `on_unfixable: restart` overrides this.
 */
export const isUnfixable = (
  { on_unfixable }: Pick<ChildState, "on_unfixable">,
  completed: boolean,
  failure: WorkerError | undefined,
): boolean =>
  !completed &&
  failure !== undefined &&
  on_unfixable === "end" &&
  ERROR_CATALOGUE[failure.code]?.restart === "never";

export const unfixableReason = (failure: WorkerError | undefined): string =>
  `${failure?.code}: no restart can fix it`;

/** OTP's restart types. */
export const isRestarted = (policy: RestartPolicy, completed: boolean): boolean =>
  policy === "permanent" || (policy === "transient" && !completed);

/** The decision of a worker's private supervisor at the end of an incarnation. */
export const privately = (child: ChildState, verdict: Verdict, now: Now): Decision => {
  const record = recorder(child);
  const end = (state: WorkerEnd, reason: string, cause?: EndCause): Decision => ({
    events: [
      record("worker_ended", { state: endedState(state), reason, ...(cause === undefined ? {} : { cause }) }),
    ],
    commands: [{ type: "end", state }],
  });
  if (verdict.type === "end") return end(verdict.state, verdict.reason, verdict.cause);
  if (verdict.type === "held") return end("cancelled", HELD);
  if (verdict.type === "passivated")
    return { events: [passivated(child, record, now)], commands: [{ type: "wait" }] };
  if (verdict.type === "again") return again(uncounted(child, verdict.cause, record, now));
  const { completed, failure, excused, interrupted } = verdict;
  if (!isRestarted(child.policy, completed))
    return end(completed ? "completed" : "failed", `${child.policy}: not restarted`, "policy");
  if (isUnfixable(child, completed, failure)) return end("failed", unfixableReason(failure), "unfixable");
  if (interrupted?.then === "never") return end("failed", ENDED_INTERRUPTED);
  if (interrupted !== undefined)
    return {
      events: askInterrupted(child, interrupted, record, now.clock),
      commands: [{ type: "wait" }],
    };
  if (excused !== undefined) return again(uncounted(child, excused, record, now));
  if (failure !== undefined && isRateLimited(failure)) {
    const wait = rateLimitWait(failure, child.rate_limits, now);
    if (wait === undefined) return end("failed", GAVE_UP_ON_RATE_LIMIT, "rate_limited");
    return again(uncounted(child, RESTART_RATE_LIMITED, record, now, wait), wait.delay_ms);
  }

  const window = addRestart(child.restarts, now.mono_ms, child.max_restarts, child.period_ms);
  const limits = { max_restarts: child.max_restarts, period_ms: child.period_ms };
  if (window.exceeded) {
    const gave = end(
      "failed",
      `gave up: more than ${child.max_restarts} restart${child.max_restarts === 1 ? "" : "s"} in ${formatDuration(child.period_ms)}`,
      "gave_up",
    );
    return {
      events: [
        record("supervisor_escalated", {
          supervisor: `root/${child.worker_id}`,
          restarts: child.max_restarts,
          ...limits,
        }),
        ...gave.events,
      ],
      commands: gave.commands,
    };
  }
  const delay_ms = backoffDelay(window.restarts.length, child.backoff, now.random);
  return {
    events: [
      record("worker_restart_scheduled", {
        delay_ms,
        restarts_in_window: window.restarts.length,
        ...limits,
        cause: RESTART_ENDED,
        reason: completed ? "permanent: it ended" : (failure?.message ?? "it failed"),
        clock: now.clock,
      }),
    ],
    commands: [{ type: "restart_after", delay_ms }],
  };
};

/** The state for `worker_ended`. A held worker has not ended, so `held` never comes here. */
const endedState = (state: WorkerEnd): RecordPayloads["worker_ended"]["state"] =>
  state === "held" ? "cancelled" : state;
