/** The bounds of what waits while no collector answers. */
import { expect, it } from "vitest";
import {
  TELEMETRY_QUEUE_MAX_BYTES,
  TELEMETRY_QUEUE_MAX_SPANS,
  TELEMETRY_SERIES_MAX,
} from "../../../src/base/limits.ts";
import { MetricStore } from "../../../src/control/telemetry/metrics.ts";
import { SpanQueue } from "../../../src/control/telemetry/queue.ts";
import type { FinishedSpan } from "../../../src/control/telemetry/spans.ts";

const span = (seq: number, text = ""): FinishedSpan => ({
  trace_id: "",
  span_id: String(seq),
  parent_id: undefined,
  operation: "chat",
  name: "chat",
  start_ms: 0,
  end_ms: 0,
  shared: {},
  attributes: { text },
  isFailed: false,
  seq,
});

it("the oldest spans make room, and are counted", () => {
  const queue = new SpanQueue();
  for (let seq = 1; seq <= TELEMETRY_QUEUE_MAX_SPANS + 3; seq += 1) queue.push(span(seq));
  expect([queue.size, queue.dropped, queue.oldest]).toEqual([TELEMETRY_QUEUE_MAX_SPANS, 3, 4]);
});

it("bytes count too", () => {
  const queue = new SpanQueue();
  const text = "x".repeat(TELEMETRY_QUEUE_MAX_BYTES / 4);
  for (let seq = 1; seq <= 10; seq += 1) queue.push(span(seq, text));
  expect([queue.size, queue.dropped]).toEqual([3, 7]);
});

it("a batch that was sent leaves, except spans that were dropped meanwhile", () => {
  const queue = new SpanQueue();
  for (let seq = 1; seq <= TELEMETRY_QUEUE_MAX_SPANS; seq += 1) queue.push(span(seq));
  const batch = queue.first(4);
  queue.push(span(9_001));
  queue.remove(batch);
  expect([queue.oldest, queue.size, queue.dropped]).toEqual([5, TELEMETRY_QUEUE_MAX_SPANS - 3, 1]);
});

it("series beyond the bound are one", () => {
  const store = new MetricStore();
  for (let n = 0; n < TELEMETRY_SERIES_MAX + 50; n += 1)
    store.take({ name: "holdfast.tokens", value: 1, attributes: { model: `m${n}` } });
  const all = store.all();
  expect(all).toHaveLength(TELEMETRY_SERIES_MAX + 1);
  expect(all.at(-1)).toMatchObject({ sum: 50, attributes: { "otel.metric.overflow": true } });
});
