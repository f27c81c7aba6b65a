/**
 * Parts that all answers of a connection share: their times, and the error of a request that its client has
 * cancelled.
 */
import type { EnvelopeTime } from "../protocol/envelope-v1.ts";
import { HoldfastError } from "../protocol/errors.ts";

export const cancelledByClient = (): HoldfastError =>
  new HoldfastError("CANCELLED", "The client cancelled the request.");

export const timeSince = (startedAt: number): EnvelopeTime => ({
  now_ms: Date.now(),
  duration_ms: performance.now() - startedAt,
});
