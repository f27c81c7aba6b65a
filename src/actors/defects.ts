/**
 * Defects: errors thrown in places that must not throw. Each is contained in its place, reported to the operator, counted,
 * and recorded as `daemon_defect`; the other workers, watchers and timers go on (promise R36).
 */
import { Cause, Effect, Exit } from "effect";
import { DEFECTS_RECORDED_MAX, DEFECTS_TOLD_MAX, DEFECTS_TOLD_PERIOD_MS } from "../base/limits.ts";
import { HoldfastError } from "../protocol/errors.ts";

export interface Defect {
  /** RFC 3339, UTC. */
  readonly at: string;
  /** The part of the daemon, without any text of an agent. */
  readonly where: string;
  /** The name of the error. Its message may quote an agent, so only daemon.log has it. */
  readonly error: string;
}

export interface DefectCount {
  readonly count: number;
  readonly newest: Defect | null;
}

export interface Defects {
  tell(where: string, cause: unknown): void;
  /** Calls `body`; a throw is reported and goes no further. */
  contain(where: string, body: () => void): void;
  counted(): DefectCount;
  /** Sets the function that records the first defects in the log. */
  recordTo(record: (defect: Defect) => void): void;
}

export const makeDefects = (report: (message: string, cause: unknown) => void, now = Date.now): Defects => {
  let count = 0;
  let newest: Defect | null = null;
  let record: ((defect: Defect) => void) | undefined;
  let period = { began: now(), told: 0 };

  /** Bounds the reports: a timer that throws a thousand times a second must not fill the disk. */
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

/** Runs the effect; a defect in it is reported and ends only this effect. */
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
