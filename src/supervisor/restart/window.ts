/** The restart window: OTP's add_restart/3 (supervisor.erl), or suture's failure decay. Monotonic milliseconds in, a decision out. */

export interface WindowResult {
  /** The restarts inside the period, including this one. */
  readonly restarts: readonly number[];
  /** More than `max` restarts in the period: the supervisor gives up. */
  readonly exceeded: boolean;
}

/** As OTP counts: a restart exactly one period ago is still inside. */
const isInWindow = (at: number, now: number, periodMs: number): boolean => now - at <= periodMs;

export const inWindow = (restarts: readonly number[], now: number, periodMs: number): readonly number[] =>
  restarts.filter((at) => isInWindow(at, now, periodMs));

export const addRestart = (
  restarts: readonly number[],
  now: number,
  max: number,
  periodMs: number,
): WindowResult => {
  const kept = [...inWindow(restarts, now, periodMs), now];
  return { restarts: kept, exceeded: kept.length > max };
};

export interface WindowConfig {
  readonly max_restarts: number;
  readonly period_ms: number;
  /** 0: the window counts. */
  readonly decay_ms: number;
}

/** Failures as suture counts them (v4/supervisor.go): after each `decay_ms` a failure counts half. */
export const decayed = (failures: readonly number[], now: number, decayMs: number): number =>
  failures.reduce((sum, at) => sum + 0.5 ** ((now - at) / decayMs), 0);

/** After this many half-lives a failure counts less than a thousandth, and is forgotten. */
const HALF_LIVES_KEPT = 10;

/** How long a restart counts. */
const keptMs = ({ decay_ms, period_ms }: WindowConfig): number =>
  decay_ms > 0 ? decay_ms * HALF_LIVES_KEPT : period_ms;

/** The restarts that still count. */
export const decayedWindow = <Restart extends { readonly at_ms: number }>(
  restarts: readonly Restart[],
  now: number,
  config: WindowConfig,
): readonly Restart[] => restarts.filter(({ at_ms }) => isInWindow(at_ms, now, keptMs(config)));

/** Counts one more restart in the window of a supervisor of a file. */
export const countRestart = (
  restarts: readonly { readonly at_ms: number }[],
  now: number,
  config: WindowConfig,
): WindowResult => {
  const kept = [...decayedWindow(restarts, now, config).map(({ at_ms }) => at_ms), now];
  const count = config.decay_ms > 0 ? decayed(kept, now, config.decay_ms) : kept.length;
  return { restarts: kept, exceeded: count > config.max_restarts };
};
