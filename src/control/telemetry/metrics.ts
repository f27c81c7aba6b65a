/** The metrics that are made of the log, and their series: what has been counted and measured since the daemon started. */
import { TELEMETRY_SERIES_MAX } from "../../base/limits.ts";
import type { SpanAttributes } from "../../protocol/observability.ts";
import { GEN_AI_TOKEN_COUNTERS } from "./gen-ai.ts";

interface Instrument {
  readonly type: "counter" | "histogram";
  /** As UCUM writes it. */
  readonly unit: string;
  readonly help: string;
}

const SECONDS = { type: "histogram", unit: "s" } as const;
const TOKENS = { type: "counter", unit: "{token}" } as const;

/** No attribute names a worker: their number is unbounded. */
export const INSTRUMENTS: Readonly<Record<string, Instrument>> = {
  "holdfast.incarnation.duration": { ...SECONDS, help: "Incarnations by kind and outcome." },
  "holdfast.turn.duration": { ...SECONDS, help: "Turns by kind." },
  "holdfast.tool.duration": { ...SECONDS, help: "Tool calls by kind and tool." },
  "holdfast.restarts": { type: "counter", unit: "{restart}", help: "Restarts by kind and cause." },
  "holdfast.tokens": { ...TOKENS, help: "Tokens by kind, model and type; each is in one type." },
  "holdfast.cost": { type: "counter", unit: "{USD}", help: "Dollars by kind, model and source." },
  ...Object.fromEntries(
    Object.keys(GEN_AI_TOKEN_COUNTERS).map((name) => [
      name,
      { ...TOKENS, help: "Tokens by provider and model." },
    ]),
  ),
};

/** One count, or one value that was measured. */
export interface Measurement {
  readonly name: string;
  readonly value: number;
  readonly attributes: SpanAttributes;
}

/** Upper bounds of the buckets, in seconds: a tool takes a moment, an agent a night. */
export const DURATION_BOUNDS_S: readonly number[] = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600, 14_400];

export interface MetricSeries {
  readonly name: string;
  readonly attributes: SpanAttributes;
  /** The value of a counter, or the sum of a histogram. */
  sum: number;
  count: number;
  min: number;
  max: number;
  /** How many values are in each bucket, and in the one above them all. Empty for a counter. */
  readonly buckets: number[];
}

/** The attribute by which OpenTelemetry marks what found no series of its own. */
const OVERFLOW: SpanAttributes = { "otel.metric.overflow": true };

/** Series of one name have the same attributes, in one order. */
const keyOf = (name: string, attributes: SpanAttributes): string => {
  let key = name;
  for (const attribute in attributes) key += `\0${attributes[attribute]}`;
  return key;
};

export class MetricStore {
  private readonly series = new Map<string, MetricSeries>();

  take({ name, value, attributes }: Measurement): void {
    const one = this.seriesOf(name, attributes);
    one.sum += value;
    one.count += 1;
    one.min = Math.min(one.min, value);
    one.max = Math.max(one.max, value);
    if (one.buckets.length === 0) return;
    const at = DURATION_BOUNDS_S.findIndex((bound) => value <= bound);
    one.buckets[at < 0 ? DURATION_BOUNDS_S.length : at]! += 1;
  }

  all(): readonly MetricSeries[] {
    return [...this.series.values()];
  }

  private seriesOf(name: string, attributes: SpanAttributes): MetricSeries {
    const key = keyOf(name, attributes);
    const known = this.series.get(key);
    if (known !== undefined) return known;
    if (attributes !== OVERFLOW && this.series.size >= TELEMETRY_SERIES_MAX)
      return this.seriesOf(name, OVERFLOW);
    const isHistogram = INSTRUMENTS[name]?.type === "histogram";
    const fresh: MetricSeries = {
      name,
      attributes,
      sum: 0,
      count: 0,
      min: Number.POSITIVE_INFINITY,
      max: Number.NEGATIVE_INFINITY,
      buckets: isHistogram ? new Array<number>(DURATION_BOUNDS_S.length + 1).fill(0) : [],
    };
    this.series.set(key, fresh);
    return fresh;
  }
}
