/**
 * The names of spans and metrics (docs/reference/observability.md is tested against this file). They follow OpenTelemetry: a
 * namespace, dots, and the unit of a metric apart from its name.
 */
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

export interface Metric {
  readonly name: string;
  readonly kind: "counter" | "gauge" | "histogram";
  /** UCUM, as OpenTelemetry writes it. */
  readonly unit: string;
  readonly means: string;
  readonly attributes: readonly string[];
}

export const METRICS: readonly Metric[] = [
  {
    name: "holdfast.workers",
    kind: "gauge",
    unit: "{worker}",
    means: "living workers by state",
    attributes: ["state", "kind"],
  },
  {
    name: "holdfast.incarnations",
    kind: "counter",
    unit: "{incarnation}",
    means: "processes begun",
    attributes: ["kind"],
  },
  {
    name: "holdfast.exits",
    kind: "counter",
    unit: "{exit}",
    means: "ends of incarnations",
    attributes: ["kind", "reason"],
  },
  {
    name: "holdfast.restarts",
    kind: "counter",
    unit: "{restart}",
    means: "restarts that a window counts",
    attributes: ["supervisor"],
  },
  {
    name: "holdfast.escalations",
    kind: "counter",
    unit: "{escalation}",
    means: "supervisors that gave up",
    attributes: ["supervisor", "action"],
  },
  {
    name: "holdfast.incarnation.duration",
    kind: "histogram",
    unit: "s",
    means: "from the start of a process to its end",
    attributes: ["kind"],
  },
  {
    name: "holdfast.start.duration",
    kind: "histogram",
    unit: "s",
    means: "from the decision to the agent's first sign of life",
    attributes: ["kind"],
  },
  {
    name: "holdfast.stop.duration",
    kind: "histogram",
    unit: "s",
    means: "from the first signal to the end of the sweep",
    attributes: ["kind"],
  },
  {
    name: "holdfast.admission.queue",
    kind: "gauge",
    unit: "{worker}",
    means: "spawns that wait for a slot or for memory",
    attributes: ["priority"],
  },
  {
    name: "holdfast.admission.denials",
    kind: "counter",
    unit: "{denial}",
    means: "spawns denied",
    attributes: ["reason_code"],
  },
  {
    name: "holdfast.tokens",
    kind: "counter",
    unit: "{token}",
    means: "tokens that agents reported",
    attributes: ["kind", "direction"],
  },
  {
    name: "holdfast.cost",
    kind: "counter",
    unit: "{USD}",
    means: "dollars that agents reported",
    attributes: ["kind"],
  },
  {
    name: "holdfast.log.records",
    kind: "counter",
    unit: "{record}",
    means: "records appended",
    attributes: ["type"],
  },
  {
    name: "holdfast.log.commit.duration",
    kind: "histogram",
    unit: "s",
    means: "one transaction of the log",
    attributes: [],
  },
  {
    name: "holdfast.loop.lag",
    kind: "histogram",
    unit: "s",
    means: "how late the daemon's own loop is",
    attributes: [],
  },
];
