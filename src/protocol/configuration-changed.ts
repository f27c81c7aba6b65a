/** The warning that a daemon runs with an outdated configuration. A file of its own, because the command line uses it without zod. */
export const CONFIGURATION_CHANGED =
  "config.yaml was changed since the daemon read it: `agent daemon upgrade --force` reads it again, and agents keep running.";
