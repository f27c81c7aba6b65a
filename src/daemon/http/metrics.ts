/** `/metrics` in the text format of Prometheus, version 0.0.4, from the status of the daemon. Pure. */
import type { DaemonStatus } from "../replies.ts";

export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

interface Metric {
  readonly name: string;
  readonly type: "counter" | "gauge";
  readonly help: string;
  /** One sample, or one for each value of a label. */
  readonly value: number | Readonly<Record<string, number>>;
  readonly label?: string;
}

const MS_PER_S = 1_000;

/** None for a daemon without telemetry. */
const telemetryOf = ({ telemetry }: DaemonStatus): readonly Metric[] =>
  telemetry === null
    ? []
    : [
        {
          name: "telemetry_spans_sent_total",
          type: "counter",
          help: "Spans that the collector of OpenTelemetry took.",
          value: telemetry.spans_sent,
        },
        {
          name: "telemetry_spans_dropped_total",
          type: "counter",
          help: "Spans that found no room, or that the collector refused.",
          value: telemetry.spans_dropped,
        },
        {
          name: "telemetry_spans_waiting",
          type: "gauge",
          help: "Spans that wait to be sent.",
          value: telemetry.spans_waiting,
        },
        {
          name: "telemetry_failing",
          type: "gauge",
          help: "1 while the collector takes nothing.",
          value: telemetry.failing === null ? 0 : 1,
        },
      ];

/** Seconds and bytes are the units of Prometheus; counters end in `_total`. No label names a worker: their number is unbounded. */
const metricsOf = (status: DaemonStatus): readonly Metric[] => [
  {
    name: "info",
    type: "gauge",
    help: "The version of the daemon.",
    value: { [status.version]: 1 },
    label: "version",
  },
  {
    name: "start_time_seconds",
    type: "gauge",
    help: "When the daemon started, as Unix time.",
    value: Date.parse(status.started_at) / MS_PER_S,
  },
  {
    name: "healthy",
    type: "gauge",
    help: "1 while the tick of the supervisor runs.",
    value: status.health.ok ? 1 : 0,
  },
  {
    name: "tick_age_seconds",
    type: "gauge",
    help: "Time since the last tick of the supervisor.",
    value: status.health.tick_age_ms / MS_PER_S,
  },
  {
    name: "loop_stalls_total",
    type: "counter",
    help: "Blocks of the event loop since the start.",
    value: status.health.stalls.count,
  },
  {
    name: "loop_lag_seconds",
    type: "gauge",
    help: "Lag of the event loop in the last minute: p50, p99 and max.",
    value: {
      p50: status.loop_lag_ms.p50 / MS_PER_S,
      p99: status.loop_lag_ms.p99 / MS_PER_S,
      max: status.loop_lag_ms.max / MS_PER_S,
    },
    label: "statistic",
  },
  {
    name: "workers_live",
    type: "gauge",
    help: "Workers that are supervised now.",
    value: status.workers.live,
  },
  { name: "workers", type: "gauge", help: "Workers on record.", value: status.workers.total },
  {
    name: "heartbeats_late",
    type: "gauge",
    help: "Living workers that were not looked at in time.",
    value: status.workers.heartbeats.late,
  },
  {
    name: "log_head",
    type: "gauge",
    help: "The seq of the newest record of the event log.",
    value: status.head,
  },
  {
    name: "log_failing",
    type: "gauge",
    help: "1 while the event log cannot be written.",
    value: status.store_error === null ? 0 : 1,
  },
  {
    name: "disk_free_bytes",
    type: "gauge",
    help: "Free space of the state directory's disk.",
    value: status.disk.free_bytes ?? Number.NaN,
  },
  {
    name: "disk_floor_bytes",
    type: "gauge",
    help: "Free space below which no agent starts.",
    value: status.disk.floor_bytes,
  },
  {
    name: "resident_memory_bytes",
    type: "gauge",
    help: "Resident memory of the daemon.",
    value: status.rss_bytes,
  },
  { name: "heap_bytes", type: "gauge", help: "Used heap of the daemon.", value: status.heap_bytes },
  { name: "connections", type: "gauge", help: "Open connections of the socket.", value: status.connections },
  {
    name: "requests_in_flight",
    type: "gauge",
    help: "Requests without an answer yet.",
    value: status.requests_in_flight,
  },
  {
    name: "defects_total",
    type: "counter",
    help: "Contained defects since the start.",
    value: status.defects.count,
  },
  ...telemetryOf(status),
];

const quoted = (text: string): string =>
  text.replace(/[\\"\n]/g, (one) => (one === "\n" ? "\\n" : `\\${one}`));

const samplesOf = (name: string, { value, label = "" }: Metric): readonly string[] =>
  typeof value === "number"
    ? [`${name} ${value}`]
    : Object.entries(value).map(([key, one]) => `${name}{${label}="${quoted(key)}"} ${one}`);

export const metricsText = (status: DaemonStatus): string =>
  metricsOf(status)
    .flatMap((metric) => {
      const name = `holdfast_${metric.name}`;
      return [`# HELP ${name} ${metric.help}`, `# TYPE ${name} ${metric.type}`, ...samplesOf(name, metric)];
    })
    .map((line) => `${line}\n`)
    .join("");
