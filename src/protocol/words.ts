/** Words of requests that a client checks before it asks. The client loads this file: it imports nothing. */

/** To a worker that may be stuck, to a budget that is spent, and to a worker whose turn was interrupted. */
export const ANSWERS = ["wait", "restart", "kill", "continue", "stop", "fresh"] as const;

/** The rows of `agent usage`; the key of a label is as long as any name. */
export const USAGE_BY = /^(?:day|kind|model|worker|label:.{1,64})$/su;
