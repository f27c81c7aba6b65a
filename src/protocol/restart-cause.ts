/** Why a worker is restarted. The cause decides whether a restart counts; the sentence beside it is for people. */

/** The cause of a restart in its record. */
interface ScheduledRestart {
  readonly cause?: RestartCause;
  readonly reason: string;
  readonly restarts_in_window: number;
}

/**
 * Causes of a restart that no window counts: a user asked for it; the daemon died before it made the agent; the daemon,
 * the machine or the lease of its node took the agent down with it; the provider's rate limit was reached; the session to continue is gone; a person
 * answered a question; the worker rested until a message came.
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
  "lease_lost",
  "machine_restarted",
  RESTART_RATE_LIMITED,
  RESTART_SESSION_LOST,
  RESTART_ANSWERED,
  RESTART_WOKEN,
] as const;
export type UncountedRestart = (typeof UNCOUNTED_RESTARTS)[number];
/** The agent ended by itself and the policy restarts it: windows count this cause. */
export const RESTART_ENDED = "ended";
/** Its supervisor restarts the worker, alone or with others. The supervisor's window has counted what its own window would count. */
export const RESTART_BY_SUPERVISOR = "supervisor";
export type RestartCause = UncountedRestart | typeof RESTART_ENDED | typeof RESTART_BY_SUPERVISOR;

const uncounted: ReadonlySet<string> = new Set(UNCOUNTED_RESTARTS);
/**
 * An early log has the cause in `reason`, and a positive count if a window counted it. An agent's message may equal a cause,
 * so the count is read first.
 */
export const restartCause = ({ cause, reason, restarts_in_window }: ScheduledRestart): RestartCause => {
  if (cause !== undefined) return cause;
  if (restarts_in_window > 0) return RESTART_ENDED;
  return uncounted.has(reason) ? (reason as UncountedRestart) : RESTART_BY_SUPERVISOR;
};
/** Neither the worker's own window nor its supervisor's counts it. */
export const isUncounted = (cause: RestartCause): cause is UncountedRestart => uncounted.has(cause);
