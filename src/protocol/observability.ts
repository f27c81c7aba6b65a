/** The names of spans, as OpenTelemetry writes them (docs/reference/observability.md is tested against this file). */
import type { RecordDraft } from "./records.ts";

/** One span for each decision of a supervisor. */
export const HOLDFAST_DECIDE = "holdfast.supervisor.decide";

/** One span for each phase of a worker's life. */
export const HOLDFAST_PHASES = {
  launch: "holdfast.worker.launch",
  settle: "holdfast.worker.settle",
  stop: "holdfast.worker.stop",
  take_over: "holdfast.worker.take_over",
} as const;
export type HoldfastPhase = keyof typeof HOLDFAST_PHASES;

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** The facts of a record that go into a span: its subject and the reason. Never an agent's text or an argument. */
export const spanAttributesOf = ({ worker_id, incarnation, payload }: RecordDraft): SpanAttributes => {
  const { supervisor, reason, delay_ms, restarts_in_window, to } = payload as Partial<
    Record<string, unknown>
  >;
  return {
    ...(worker_id === undefined ? {} : { "holdfast.worker.id": worker_id }),
    ...(incarnation === undefined ? {} : { "holdfast.incarnation": incarnation }),
    ...(typeof supervisor === "string" ? { "holdfast.supervisor": supervisor } : {}),
    ...(typeof to === "string" ? { "holdfast.state": to } : {}),
    ...(typeof reason === "string" ? { "holdfast.reason": reason } : {}),
    ...(typeof delay_ms === "number" ? { "holdfast.delay_ms": delay_ms } : {}),
    ...(typeof restarts_in_window === "number" ? { "holdfast.restarts_in_window": restarts_in_window } : {}),
  };
};
