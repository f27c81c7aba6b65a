/**
 * Spans as the protocol buffers of OTLP, written into one buffer. Effect's encoder makes an array of bytes for each field, which is half
 * of the price of a span. https://github.com/open-telemetry/opentelemetry-proto
 */
import type { FinishedSpan } from "../../control/telemetry/spans.ts";
import { ProtobufWriter } from "./protobuf.ts";

/** The numbers of the fields, by their messages. */
const REQUEST = { resourceSpans: 1 } as const;
const RESOURCE_SPANS = { resource: 1, scopeSpans: 2 } as const;
const RESOURCE = { attributes: 1 } as const;
const SCOPE_SPANS = { scope: 1, spans: 2 } as const;
const SCOPE = { name: 1, version: 2 } as const;
const SPAN = {
  traceId: 1,
  spanId: 2,
  parentSpanId: 4,
  name: 5,
  kind: 6,
  start: 7,
  end: 8,
  attributes: 9,
  status: 15,
} as const;
const STATUS = { code: 3 } as const;
const KEY_VALUE = { key: 1, value: 2 } as const;
const ANY_VALUE = { text: 1, truth: 2, integer: 3, double: 4 } as const;

/** The code of a failure; without a code, nothing is said. */
const FAILED = 2;
/** A tool and an agent are of this machine; a model is asked by a request. */
export const SPAN_KINDS = { invoke_agent: 1, execute_tool: 1, chat: 3 } as const;
const INT64_END = 2 ** 63;
const MICROS_OF_MS = 1_000;
const NANOS_OF_MICRO = 1_000;
const HALF = 2 ** 32;
const SHARED_START_BYTES = 512;

type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanScope {
  readonly name: string;
  readonly version: string;
}

export const spanBytes = (
  spans: readonly FinishedSpan[],
  resource: Attributes,
  scope: SpanScope,
): Uint8Array => {
  const to = new ProtobufWriter();
  for (const span of spans.toReversed()) writeSpan(to, span);
  const scopeEnd = to.size;
  to.text(SCOPE.version, scope.version);
  to.text(SCOPE.name, scope.name);
  to.message(SCOPE_SPANS.scope, scopeEnd);
  to.message(RESOURCE_SPANS.scopeSpans, 0);
  const resourceEnd = to.size;
  writeAttributes(to, RESOURCE.attributes, resource);
  to.message(RESOURCE_SPANS.resource, resourceEnd);
  to.message(REQUEST.resourceSpans, 0);
  return to.finish();
};

/** Nanoseconds since 1970 are more than a number holds exactly, so they are worked out in two halves. */
const writeTime = (to: ProtobufWriter, field: number, ms: number): void => {
  const micros = Math.round(ms * MICROS_OF_MS);
  const low = (micros % HALF) * NANOS_OF_MICRO;
  const high = Math.floor(micros / HALF) * NANOS_OF_MICRO + Math.floor(low / HALF);
  to.fixed64(field, high, low % HALF);
};

/** The bytes of facts that many spans share. */
const written = new WeakMap<Attributes, Uint8Array>();
const sharedBytes = (shared: Attributes): Uint8Array => {
  const known = written.get(shared);
  if (known !== undefined) return known;
  const to = new ProtobufWriter(SHARED_START_BYTES);
  writeAttributes(to, SPAN.attributes, shared);
  const bytes = to.finish();
  written.set(shared, bytes);
  return bytes;
};

const writeSpan = (to: ProtobufWriter, span: FinishedSpan): void => {
  const end = to.size;
  if (span.isFailed) to.varint(STATUS.code, FAILED);
  to.message(SPAN.status, end);
  writeAttributes(to, SPAN.attributes, span.attributes);
  to.raw(sharedBytes(span.shared));
  writeTime(to, SPAN.end, span.end_ms);
  writeTime(to, SPAN.start, span.start_ms);
  to.varint(SPAN.kind, SPAN_KINDS[span.operation]);
  to.text(SPAN.name, span.name);
  if (span.parent_id !== undefined) to.hex(SPAN.parentSpanId, span.parent_id);
  to.hex(SPAN.spanId, span.span_id);
  to.hex(SPAN.traceId, span.trace_id);
  to.message(SCOPE_SPANS.spans, end);
};

const writeAttributes = (to: ProtobufWriter, field: number, attributes: Attributes): void => {
  for (const [key, value] of Object.entries(attributes).reverse()) {
    const end = to.size;
    writeValue(to, value);
    to.message(KEY_VALUE.value, end);
    to.text(KEY_VALUE.key, key);
    to.message(field, end);
  }
};

const writeValue = (to: ProtobufWriter, value: string | number | boolean): void => {
  if (typeof value === "string") to.text(ANY_VALUE.text, value);
  else if (typeof value === "boolean") to.varint(ANY_VALUE.truth, Number(value));
  else if (Number.isInteger(value) && Math.abs(value) < INT64_END) to.varint(ANY_VALUE.integer, value);
  else to.double(ANY_VALUE.double, value);
};
