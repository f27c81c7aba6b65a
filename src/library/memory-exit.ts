/** The exits of runs that are no processes. */
import type { RunExit } from "../protocol/incarnation.ts";

/** The exit with a code, or by a signal. */
export const exitOf = (how: number | NodeJS.Signals): RunExit => ({
  exit_code: typeof how === "number" ? how : null,
  signal: typeof how === "number" ? null : how,
  signal_inferred: false,
  raw_status: typeof how === "number" ? how : null,
  reason: typeof how === "number" ? "exited" : "signalled",
});
