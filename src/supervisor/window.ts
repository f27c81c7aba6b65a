/** The restart window: OTP's add_restart/3 (supervisor.erl). Monotonic milliseconds in, a decision out. */

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
