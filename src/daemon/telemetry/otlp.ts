/** Spans and metrics as OTLP: the one file that knows the OTLP modules of Effect, which are unstable. */
import { Effect } from "effect";
import * as OtlpResource from "effect/observability/OtlpResource";
import * as OtlpSerialization from "effect/observability/OtlpSerialization";
import { DURATION_BOUNDS_S, INSTRUMENTS, type MetricSeries } from "../../control/telemetry/metrics.ts";
import type { FinishedSpan } from "../../control/telemetry/spans.ts";
import type { OtlpProtocol } from "./settings.ts";
import { SPAN_KINDS, spanBytes } from "./span-bytes.ts";

export interface OtlpBody {
  readonly bytes: Uint8Array;
  readonly type: string;
}

export interface OtlpSource {
  readonly service_name: string;
  readonly version: string;
  readonly attributes: Readonly<Record<string, string>>;
}

type MetricsBody = Parameters<
  OtlpSerialization.OtlpSerialization["Service"]["metrics"]
>[0]["resourceMetrics"][number]["scopeMetrics"][number]["metrics"];

/** Cumulative: each post has all since the start. */
const CUMULATIVE = 2;
const STATUS = { unset: 0, error: 2 } as const;

const nanos = (ms: number): string => `${Math.round(ms * 1_000)}000`;
const attributesOf = (all: Readonly<Record<string, unknown>>) =>
  OtlpResource.entriesToAttributes(Object.entries(all));

const spanOf = (span: FinishedSpan) => ({
  traceId: span.trace_id,
  spanId: span.span_id,
  parentSpanId: span.parent_id,
  name: span.name,
  kind: SPAN_KINDS[span.operation],
  startTimeUnixNano: nanos(span.start_ms),
  endTimeUnixNano: nanos(span.end_ms),
  attributes: attributesOf({ ...span.shared, ...span.attributes }),
  droppedAttributesCount: 0,
  events: [],
  droppedEventsCount: 0,
  status: { code: span.isFailed ? STATUS.error : STATUS.unset },
  links: [],
  droppedLinksCount: 0,
});

const metricOf = (name: string, all: readonly MetricSeries[], start: string, now: string) => {
  const { type, unit, help: description } = INSTRUMENTS[name]!;
  const common = { aggregationTemporality: CUMULATIVE };
  const times = { startTimeUnixNano: start, timeUnixNano: now };
  if (type === "counter") {
    const dataPoints = all.map(({ attributes, sum }) => ({
      attributes: attributesOf(attributes),
      ...times,
      asDouble: sum,
    }));
    return { name, description, unit, sum: { ...common, isMonotonic: true, dataPoints } };
  }
  const dataPoints = all.map(({ attributes, sum, count, min, max, buckets }) => ({
    attributes: attributesOf(attributes),
    ...times,
    count,
    sum,
    min,
    max,
    bucketCounts: buckets,
    explicitBounds: [...DURATION_BOUNDS_S],
  }));
  return { name, description, unit, histogram: { ...common, dataPoints } };
};

const LAYERS = {
  "http/protobuf": OtlpSerialization.layerProtobuf,
  "http/json": OtlpSerialization.layerJson,
} as const;

export class OtlpEncoder {
  private readonly resource: OtlpResource.Resource;
  private readonly scope: { readonly name: string; readonly version: string };

  constructor({ service_name, version, attributes }: OtlpSource) {
    this.resource = OtlpResource.make({ serviceName: service_name, serviceVersion: version, attributes });
    this.scope = { name: "holdfast", version };
  }

  spans(all: readonly FinishedSpan[], protocol: OtlpProtocol): OtlpBody {
    const { resource, scope } = this;
    if (protocol === "http/protobuf") {
      const attributes = resource.attributes.map(({ key, value }) => [key, value.stringValue ?? ""] as const);
      return { bytes: spanBytes(all, Object.fromEntries(attributes), scope), type: "application/x-protobuf" };
    }
    const spans = all.map(spanOf);
    return this.body(protocol, (to) =>
      to.traces({ resourceSpans: [{ resource, scopeSpans: [{ scope, spans }] }] }),
    );
  }

  metrics(
    all: readonly MetricSeries[],
    started_ms: number,
    now_ms: number,
    protocol: OtlpProtocol,
  ): OtlpBody {
    const { resource, scope } = this;
    const [start, now] = [nanos(started_ms), nanos(now_ms)];
    // Effect gives the enum of its temporalities no name outside.
    const metrics = [...Map.groupBy(all, ({ name }) => name)].map(([name, series]) =>
      metricOf(name, series, start, now),
    ) as unknown as MetricsBody;
    return this.body(protocol, (to) =>
      to.metrics({ resourceMetrics: [{ resource, scopeMetrics: [{ scope, metrics }] }] }),
    );
  }

  private body(
    protocol: OtlpProtocol,
    encode: (to: OtlpSerialization.OtlpSerialization["Service"]) => unknown,
  ): OtlpBody {
    const encoded = Effect.gen(function* () {
      return encode(yield* OtlpSerialization.OtlpSerialization);
    });
    const { body, contentType } = Effect.runSync(Effect.provide(encoded, LAYERS[protocol])) as {
      readonly body: Uint8Array;
      readonly contentType: string;
    };
    return { bytes: body, type: contentType };
  }
}
