/**
 * Defects: what was thrown where nothing may be thrown. Each is contained where it came up, told to the operator, counted,
 * and recorded as `daemon_defect`; the other workers, watchers and timers go on (promise R36).
 */
import { Cause, Effect, Exit } from "effect";
import { DEFECTS_RECORDED_MAX, DEFECTS_TOLD_MAX, DEFECTS_TOLD_PERIOD_MS } from "../base/limits.ts";
import { HoldfastError } from "../protocol/errors.ts";

export interface Defect {
  /** RFC 3339, UTC. */
  readonly at: string;
  /** The part that was at work, without any agent's text. */
  readonly where: string;
  /** The name of what was thrown; its words may quote an agent, and stand in daemon.log alone. */
  readonly error: string;
}

export interface DefectCount {
  readonly count: number;
  readonly newest: Defect | null;
}

export interface Defects {
  tell(where: string, cause: unknown): void;
  /** Does it; a throw is told, and nothing else. */
  contain(where: string, body: () => void): void;
  counted(): DefectCount;
  /** The log takes the first of them. */
  recordTo(record: (defect: Defect) => void): void;
}

export const makeDefects = (report: (message: string, cause: unknown) => void, now = Date.now): Defects => {
  let count = 0;
  let newest: Defect | null = null;
  let record: ((defect: Defect) => void) | undefined;
  let period = { began: now(), told: 0 };

  /** A timer that throws a thousand times a second must not fill the disk with it. */
  const mayTell = (): boolean => {
    const at = now();
    if (at - period.began >= DEFECTS_TOLD_PERIOD_MS) period = { began: at, told: 0 };
    period.told += 1;
    return period.told <= DEFECTS_TOLD_MAX;
  };

  const tell = (where: string, cause: unknown): void => {
    count += 1;
    newest = { at: new Date(now()).toISOString(), where, error: nameOf(cause) };
    if (mayTell()) report(`defect: ${where}`, cause);
    if (count <= DEFECTS_RECORDED_MAX) record?.(newest);
  };
  return {
    tell,
    contain: (where, body) => {
      try {
        body();
      } catch (cause) {
        tell(where, cause);
      }
    },
    counted: () => ({ count, newest }),
    recordTo: (given) => {
      record = given;
    },
  };
};

const nameOf = (thrown: unknown): string => {
  const cause = thrown instanceof HoldfastError ? (thrown.cause ?? thrown) : thrown;
  return cause instanceof Error ? cause.name : typeof cause;
};

/** The same effect; what it dies with is told, and ends it alone. */
export const containing = <A, E, R>(
  defects: Defects,
  where: string,
  effect: Effect.Effect<A, E, R>,
): Effect.Effect<void, E, R> =>
  Effect.flatMap(Effect.exit(effect), (exit) => {
    if (Exit.isSuccess(exit)) return Effect.void;
    if (!Cause.hasDies(exit.cause)) return Effect.failCause(exit.cause);
    return Effect.sync(() => defects.tell(where, Cause.squash(exit.cause)));
  });
