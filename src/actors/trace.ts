/**
 * Traces decisions (docs/reference/observability.md): a span for each, with an event for each record that it wrote. Without
 * a tracer, nothing is made.
 */
import { Context, Effect, Exit, Option, Tracer } from "effect";
import { HOLDFAST_DECIDE, type SpanAttributes, spanAttributesOf } from "../protocol/observability.ts";
import type { RecordDraft } from "../protocol/records.ts";
import type { Defects } from "./defects.ts";

export interface TracedDecision {
  /** The tree that decided; null for the private supervisor of a worker. */
  readonly tree: string | null;
  readonly worker_id: string | null;
  readonly input: string;
  readonly events: readonly RecordDraft[];
  /** Monotonic nanoseconds. */
  readonly at: bigint;
}

export type Trace = (decided: TracedDecision) => void;

/** Contains errors of a tracer, which is foreign code: a throw has no part in a decision. */
export const containedTrace = (trace: Trace | undefined, defects: Defects): Trace | undefined =>
  trace && ((decided) => defects.contain("the tracer", () => trace(decided)));

/** The tracer in the caller's context; undefined if there is none. */
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
