/** Exponential backoff with jitter. `attempt` is 1 for the first restart in the window; `random` is in [0, 1). */

/** The random part of the delay, so that workers that failed together do not restart together. */
const JITTER = 0.25;

export const backoffDelay = (
  attempt: number,
  bounds: { readonly min_ms: number; readonly max_ms: number },
  random: number,
): number => {
  const max = Math.max(bounds.min_ms, bounds.max_ms);
  const plain = bounds.min_ms * 2 ** Math.min(attempt - 1, 52);
  // Jitter shortens the longest delay and lengthens others, so that no delay leaves its bounds and workers rarely share one.
  const jittered = plain >= max ? max * (1 - JITTER * random) : Math.min(max, plain * (1 + JITTER * random));
  return Math.round(Math.max(bounds.min_ms, jittered));
};
