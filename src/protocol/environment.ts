/** Variables by which processes of ours are known from outside: /proc shows them as they were at exec. */

/** A daemon that a client started in the background. It serves many, so it is no part of the run whose agent asked for it. */
export const DAEMON_VARIABLE = "HOLDFAST_DAEMON";
