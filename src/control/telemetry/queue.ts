/** Spans that wait to be sent: bounded in number and bytes, and the oldest go first. */
import { TELEMETRY_QUEUE_MAX_BYTES, TELEMETRY_QUEUE_MAX_SPANS } from "../../base/limits.ts";
import type { FinishedSpan } from "./spans.ts";

/** About what a span takes in memory, beside the texts of its attributes. */
const SPAN_BYTES = 600;
const ATTRIBUTE_BYTES = 48;

const bytesOf = ({ name, attributes }: FinishedSpan): number =>
  Object.values(attributes).reduce<number>(
    (sum, value) => sum + ATTRIBUTE_BYTES + (typeof value === "string" ? value.length : 0),
    SPAN_BYTES + name.length,
  );

export class SpanQueue {
  private spans: FinishedSpan[] = [];
  private bytes = 0;
  private lost = 0;

  get size(): number {
    return this.spans.length;
  }

  /** Spans that found no room, since the start. */
  get dropped(): number {
    return this.lost;
  }

  /** The seq of the record that made the oldest span; undefined if nothing waits. */
  get oldest(): number | undefined {
    return this.spans[0]?.seq;
  }

  push(span: FinishedSpan): void {
    this.spans.push(span);
    this.bytes += bytesOf(span);
    while (this.spans.length > TELEMETRY_QUEUE_MAX_SPANS || this.bytes > TELEMETRY_QUEUE_MAX_BYTES) {
      this.forget(1);
      this.lost += 1;
    }
  }

  /** The oldest, which stay until they are removed. */
  first(count: number): readonly FinishedSpan[] {
    return this.spans.slice(0, count);
  }

  /** Removes the spans that are still here of those that `first` gave: the others were dropped meanwhile. */
  remove(sent: readonly FinishedSpan[]): void {
    const given = new Set(sent);
    let count = 0;
    while (count < this.spans.length && given.has(this.spans[count]!)) count += 1;
    this.forget(count);
  }

  private forget(count: number): void {
    for (const span of this.spans.splice(0, count)) this.bytes -= bytesOf(span);
  }
}
