/** Why a worker is started again: what decides whether a restart counts, beside the sentence that says it to people. */

/** The cause of a restart in its record. */
interface ScheduledRestart {
  readonly cause?: RestartCause;
  readonly reason: string;
  readonly restarts_in_window: number;
}

/**
 * Causes of a restart that no window counts: somebody asked for it, the daemon died before the agent was made, it took the
 * agent with it, as it was told to, or the machine did, the provider's rate limit was reached, the session in which it was to
 * go on is no more, somebody was asked first, or it rested until a message came.
 */
export const RESTART_BY_USER = "user";
export const RESTART_NEVER_STARTED = "never_started";
export const RESTART_RATE_LIMITED = "rate_limited";
export const RESTART_SESSION_LOST = "session_lost";
export const RESTART_ANSWERED = "answered";
export const RESTART_WOKEN = "woken";
const UNCOUNTED_RESTARTS = [
  RESTART_BY_USER,
  RESTART_NEVER_STARTED,
  "supervisor_died",
  "machine_restarted",
  RESTART_RATE_LIMITED,
  RESTART_SESSION_LOST,
  RESTART_ANSWERED,
  RESTART_WOKEN,
] as const;
export type UncountedRestart = (typeof UNCOUNTED_RESTARTS)[number];
/** It ended by itself and its policy starts it again: the cause that a window counts. */
export const RESTART_ENDED = "ended";
/** Its supervisor starts it with others, or anew: what its own window would count, its supervisor's has. */
export const RESTART_BY_SUPERVISOR = "supervisor";
export type RestartCause = UncountedRestart | typeof RESTART_ENDED | typeof RESTART_BY_SUPERVISOR;

const uncounted: ReadonlySet<string> = new Set(UNCOUNTED_RESTARTS);
/** An early log said the cause in `reason`, and where it counted also how many had; an agent's message may equal a cause. */
export const restartCause = ({ cause, reason, restarts_in_window }: ScheduledRestart): RestartCause => {
  if (cause !== undefined) return cause;
  if (restarts_in_window > 0) return RESTART_ENDED;
  return uncounted.has(reason) ? (reason as UncountedRestart) : RESTART_BY_SUPERVISOR;
};
/** Neither its own window nor its supervisor's counts it. */
export const isUncounted = (cause: RestartCause): cause is UncountedRestart => uncounted.has(cause);
