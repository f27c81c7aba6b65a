/** Spans as bytes, read back by the decoder that the OpenTelemetry project generates from its .proto files. */
import generated from "@opentelemetry/otlp-proto-exporter-base/build/src/generated/root.js";
import { expect, test } from "vitest";
import type { FinishedSpan } from "../../../src/control/telemetry/spans.ts";
import { spanBytes } from "../../../src/daemon/telemetry/span-bytes.ts";

// biome-ignore lint/suspicious/noExplicitAny: its types have no member for what it generates
const { ExportTraceServiceRequest } = (generated as any).opentelemetry.proto.collector.trace.v1;
const decoded = (bytes: Uint8Array) =>
  ExportTraceServiceRequest.toObject(ExportTraceServiceRequest.decode(bytes), {
    longs: String,
    bytes: String,
  });

const SPAN: FinishedSpan = {
  trace_id: "4bf92f3577b34da6a3ce929d0e0e4736",
  span_id: "00f067aa0ba902b7",
  parent_id: "a1f067aa0ba902b7",
  operation: "chat",
  name: "chat größe 🙂",
  start_ms: 1_800_000_000_000.25,
  end_ms: 1_800_000_000_001,
  shared: {},
  attributes: {},
  isFailed: true,
  seq: 7,
};
const RESOURCE = { "service.name": "holdfast", team: "night" };
const SCOPE = { name: "holdfast", version: "1.2.3" };
const read = (spans: readonly FinishedSpan[]) =>
  decoded(spanBytes(spans, RESOURCE, SCOPE)).resourceSpans[0].scopeSpans[0].spans;

const base64 = (hex: string): string => Buffer.from(hex, "hex").toString("base64");
const text = (value: string) => ({ stringValue: value });

test("a span has its ids, its name, its times to the microsecond, and its failure", () => {
  expect(decoded(spanBytes([SPAN], RESOURCE, SCOPE))).toEqual({
    resourceSpans: [
      {
        resource: {
          attributes: [
            { key: "service.name", value: text("holdfast") },
            { key: "team", value: text("night") },
          ],
        },
        scopeSpans: [
          {
            scope: { name: "holdfast", version: "1.2.3" },
            spans: [
              {
                traceId: base64(SPAN.trace_id),
                spanId: base64(SPAN.span_id),
                parentSpanId: base64(SPAN.parent_id!),
                name: "chat größe 🙂",
                kind: 3,
                startTimeUnixNano: "1800000000000250000",
                endTimeUnixNano: "1800000000001000000",
                status: { code: 2 },
              },
            ],
          },
        ],
      },
    ],
  });
});

test.each([
  ["a text", "ä\u0000\u{1f642}", { stringValue: "ä\u0000\u{1f642}" }],
  ["an empty text", "", { stringValue: "" }],
  ["a truth", true, { boolValue: true }],
  ["a falsehood", false, { boolValue: false }],
  ["nothing", 0, { intValue: "0" }],
  ["a byte more than seven bits hold", 128, { intValue: "128" }],
  ["the last safe integer", Number.MAX_SAFE_INTEGER, { intValue: String(Number.MAX_SAFE_INTEGER) }],
  ["the power of two above it", 2 ** 60, { intValue: String(2n ** 60n) }],
  ["a negative integer", -15, { intValue: "-15" }],
  ["dollars", 0.25, { doubleValue: 0.25 }],
  ["a number over 64 bits", 2 ** 70, { doubleValue: 2 ** 70 }],
])("%s is an attribute as it is", (_title, value, expected) => {
  const [span] = read([{ ...SPAN, attributes: { it: value } }]);
  expect(span.attributes).toEqual([{ key: "it", value: expected }]);
});

test("the facts of a worker come before those of the span, also when they were written before", () => {
  const shared = { "holdfast.worker.name": "größe" };
  const attributes = { "holdfast.turn": 1 };
  for (const span of read([
    { ...SPAN, shared, attributes },
    { ...SPAN, shared, attributes },
  ]))
    expect(span.attributes).toEqual([
      { key: "holdfast.worker.name", value: text("größe") },
      { key: "holdfast.turn", value: { intValue: "1" } },
    ]);
});

test("a span without a parent and a failure says nothing of them", () => {
  const [span] = read([{ ...SPAN, parent_id: undefined, isFailed: false }]);
  expect(span.parentSpanId).toBeUndefined();
  expect(span.status).toEqual({});
});

test("many spans, over the first room of the writer, stay in their order", () => {
  const many = Array.from({ length: 500 }, (_, seq) => ({
    ...SPAN,
    attributes: { seq, text: "x".repeat(seq * 3) },
  }));
  const spans = read(many) as { attributes: { value: Record<string, string> }[] }[];
  expect(spans.map(({ attributes }) => Number(attributes[0]!.value.intValue))).toEqual(
    many.map(({ attributes }) => attributes.seq),
  );
  expect(spans.map(({ attributes }) => attributes[1]!.value.stringValue!.length)).toEqual(
    many.map((_, seq) => seq * 3),
  );
});
