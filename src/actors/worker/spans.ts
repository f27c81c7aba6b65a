/**
 * Spans of a worker's phases for a tracer (docs/reference/observability.md). Without a tracer they cost next to
 * nothing.
 */
import { Effect } from "effect";
import { HOLDFAST_PHASES, type HoldfastPhase } from "../../protocol/observability.ts";

export const spanned =
  (phase: HoldfastPhase, worker_id: string) =>
  <A, E>(work: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.withSpan(work, HOLDFAST_PHASES[phase], {
      attributes: { "holdfast.worker.id": worker_id },
      captureStackTrace: false,
    });
