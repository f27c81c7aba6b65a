/** The restart window: OTP's add_restart/3 (supervisor.erl), or suture's failure decay. Monotonic milliseconds in, a decision out. */

export interface WindowResult {
  /** Restarts inside the period, this one among them. */
  readonly restarts: readonly number[];
  /** More than `max` restarts in the period: the supervisor gives up. */
  readonly exceeded: boolean;
}

/** Restarts not older than the period, as OTP counts them: one exactly a period ago is still inside. */
export const inWindow = (restarts: readonly number[], now: number, periodMs: number): readonly number[] =>
  restarts.filter((at) => now - at <= periodMs);

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

/** Failures as suture counts them (v4/supervisor.go): each counts for half after every `decay_ms`. */
export const decayed = (failures: readonly number[], now: number, decayMs: number): number =>
  failures.reduce((sum, at) => sum + 0.5 ** ((now - at) / decayMs), 0);

/** After so many half-lives a failure counts for less than a thousandth, and is forgotten. */
const HALF_LIVES_KEPT = 10;

/** The restarts that still count. */
export const decayedWindow = (
  restarts: readonly number[],
  now: number,
  config: WindowConfig,
): readonly number[] =>
  inWindow(restarts, now, config.decay_ms > 0 ? config.decay_ms * HALF_LIVES_KEPT : config.period_ms);

/** One more restart of a supervisor of a file. */
export const countRestart = (
  restarts: readonly number[],
  now: number,
  config: WindowConfig,
): WindowResult => {
  const kept = [...decayedWindow(restarts, now, config), now];
  const count = config.decay_ms > 0 ? decayed(kept, now, config.decay_ms) : kept.length;
  return { restarts: kept, exceeded: count > config.max_restarts };
};
