/** The sentence for a case in which a daemon runs with a configuration of before. For the command line too, which does without zod. */
export const CONFIGURATION_CHANGED =
  "config.yaml was changed since the daemon read it: `agent daemon upgrade --force` reads it anew, and agents go on.";
