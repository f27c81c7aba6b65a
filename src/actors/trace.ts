/**
 * Decisions for a tracer (docs/reference/observability.md): a span for each, and in it an event for each record that it wrote. Nothing is made while nobody traces.
 */
import { Context, Effect, Exit, Option, Tracer } from "effect";
import { HOLDFAST_DECIDE, type SpanAttributes, spanAttributesOf } from "../protocol/observability.ts";
import type { RecordDraft } from "../protocol/records.ts";
import type { Defects } from "./defects.ts";

export interface TracedDecision {
  /** The tree that decided; null: the private supervisor of the worker. */
  readonly tree: string | null;
  readonly worker_id: string | null;
  readonly input: string;
  readonly events: readonly RecordDraft[];
  /** Nanoseconds of the monotonic clock. */
  readonly at: bigint;
}

export type Trace = (decided: TracedDecision) => void;

/** A tracer is somebody else's: what it throws has no part in a decision. */
export const containedTrace = (trace: Trace | undefined, defects: Defects): Trace | undefined =>
  trace && ((decided) => defects.contain("the tracer", () => trace(decided)));

/** The tracer that surrounds the caller, if somebody has put one there. */
export const tracing: Effect.Effect<Trace | undefined> = Effect.map(Effect.context<never>(), (context) =>
  context.mapUnsafe.has(Tracer.Tracer.key) ? traceTo(Context.get(context, Tracer.Tracer)) : undefined,
);

const traceTo =
  (tracer: Tracer.Tracer): Trace =>
  ({ tree, worker_id, input, events, at }) => {
    const span = tracer.span({
      name: HOLDFAST_DECIDE,
      parent: Option.none(),
      annotations: Context.empty(),
      links: [],
      startTime: at,
      kind: "internal",
      root: true,
      sampled: true,
    });
    const about: SpanAttributes = {
      "holdfast.input": input,
      ...(tree === null ? {} : { "holdfast.tree": tree }),
      ...(worker_id === null ? {} : { "holdfast.worker.id": worker_id }),
    };
    for (const [name, value] of Object.entries(about)) span.attribute(name, value);
    for (const event of events) span.event(event.type, at, spanAttributesOf(event));
    span.end(at, Exit.void);
  };
