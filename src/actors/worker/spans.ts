/** Spans of a worker's phases for a tracer (docs/observability.md); without one they cost next to nothing. */
import { Effect } from "effect";

/** `phase`: launch, settle, stop or take_over. */
export const spanned =
  (phase: string, worker_id: string) =>
  <A, E>(work: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.withSpan(work, `holdfast.${phase}`, {
      attributes: { "holdfast.worker.id": worker_id },
      captureStackTrace: false,
    });
