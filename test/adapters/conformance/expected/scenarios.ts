/**
 * The outcome of a run, from how its lines end, how the process ended, and what the fake provider or the harness did to it:
 * the name of its scenario.
 */
import type { Expected } from "./expected.ts";

/** The members that are read of a run.json. */
export interface RunFacts {
  readonly scenario: string;
  readonly exit: {
    readonly code: number | null;
    readonly signal: string | null;
    readonly timedOut: boolean;
    readonly killedByTest: number | null;
  };
}

/** A failure has a code where the scenario tells it; `undefined` says that it may be any. */
export type ExpectedOutcome =
  | { readonly status: "completed" }
  | { readonly status: "failed"; readonly code: string | undefined };

/** The first whose name fits. */
const FAILURES: readonly (readonly [RegExp, string])[] = [
  [/^e400/, "PROVIDER_BAD_REQUEST"],
  [/^e401/, "TOKEN_INVALID"],
  [/^e429/, "RATE_LIMITED"],
  [/^e500|^drop$|^empty$|^hang|^unreachable$/, "PROVIDER_ERROR"],
  [/^no-(?:key|provider)$/, "TOKEN_MISSING"],
  [/^bad-flag$|^missing-verbose$|^no-model$/, "INVALID_REQUEST"],
  [/^no-prompt$/, "INPUT_REQUIRED"],
  [/^resume-unknown$|^load-unknown$|^protocol-errors$/, "SESSION_NOT_FOUND"],
  [/^session-id-reused$/, "ALREADY_EXISTS"],
  [/^max-turns$/, "MAX_TURNS"],
  [/^cancel-|^interrupt$/, "AGENT_FAILED"],
  [/^not-git$|^no-trust$|^bypass-as-root$/, "PERMISSION_DENIED"],
];

const failed = (code: string | undefined): ExpectedOutcome => ({ status: "failed", code });

/** The harness ended the run: it never answered, it did not end with its input, or a signal was the scenario. */
const wasStopped = ({ exit }: RunFacts): boolean => exit.timedOut || exit.killedByTest !== null;

export const outcomeOf = ({ ending, code }: Expected, run: RunFacts): ExpectedOutcome => {
  if (ending === "well") return { status: "completed" };
  const known = code ?? FAILURES.find(([name]) => name.test(run.scenario))?.[1];
  if (ending === "badly")
    return failed(known ?? (run.exit.killedByTest === null ? undefined : "AGENT_FAILED"));
  if (wasStopped(run)) return failed("AGENT_FAILED");
  return failed(run.exit.code === 0 ? "NO_TERMINAL_EVENT" : (known ?? "AGENT_FAILED"));
};
