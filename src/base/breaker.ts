/**
 * A circuit breaker, for one skill (protocol-v1.txt, ESKILLDOWN) or one bridge. Pure: the clock is passed in. Closed until
 * BREAKER_FAILURES_MAX failures in a row; then open for BREAKER_DOWN_MS; then half-open, which lets BREAKER_PROBES_MAX runs
 * through at a time and closes after BREAKER_RECOVERIES successes. A failure while half-open opens it again.
 */
import { BREAKER_DOWN_MS, BREAKER_FAILURES_MAX, BREAKER_PROBES_MAX, BREAKER_RECOVERIES } from "./limits.ts";

export type Breaker =
  | { readonly state: "closed"; readonly failures: number }
  | { readonly state: "open"; readonly until_ms: number }
  | { readonly state: "half_open"; readonly probes: number; readonly successes: number };

export const CLOSED: Breaker = { state: "closed", failures: 0 };

interface BreakerAdmission {
  readonly breaker: Breaker;
  /** Undefined: the run may begin. Else milliseconds until it is worth trying again. */
  readonly wait_ms?: number;
}

/** A run asks to begin. */
export const admit = (breaker: Breaker, now_ms: number): BreakerAdmission => {
  if (breaker.state === "closed") return { breaker };
  if (breaker.state === "open") {
    const wait_ms = breaker.until_ms - now_ms;
    if (wait_ms > 0) return { breaker, wait_ms };
    return { breaker: { state: "half_open", probes: 1, successes: 0 } };
  }
  if (breaker.probes >= BREAKER_PROBES_MAX) return { breaker, wait_ms: BREAKER_DOWN_MS };
  return { breaker: { ...breaker, probes: breaker.probes + 1 } };
};

/** A run that was admitted has ended. `unknown`: it says nothing about what the breaker guards, as a refused input does not. */
export const settled = (
  breaker: Breaker,
  end: "success" | "failure" | "unknown",
  now_ms: number,
): Breaker => {
  if (breaker.state === "open") return breaker;
  if (breaker.state === "closed") {
    if (end === "unknown") return breaker;
    if (end === "success") return CLOSED;
    const failures = breaker.failures + 1;
    return failures >= BREAKER_FAILURES_MAX ? opened(now_ms) : { state: "closed", failures };
  }
  if (end === "failure") return opened(now_ms);
  const probes = Math.max(0, breaker.probes - 1);
  const successes = breaker.successes + (end === "success" ? 1 : 0);
  return successes >= BREAKER_RECOVERIES ? CLOSED : { state: "half_open", probes, successes };
};

const opened = (now_ms: number): Breaker => ({ state: "open", until_ms: now_ms + BREAKER_DOWN_MS });
