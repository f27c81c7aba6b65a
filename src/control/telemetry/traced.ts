/** Facts of a worker that all of its spans share, and what the fold reads of a record. */
import { TELEMETRY_NAME_MAX_CHARS } from "../../base/limits.ts";
import type { SpanAttributes } from "../../protocol/observability.ts";
import type { RecordPayloads, RecordType } from "../../protocol/records.ts";
import { parseTraceparent, rootSpanOf, traceIdOf } from "../../protocol/trace-context.ts";
import type { WorkerSpec } from "../../protocol/worker.ts";

/** The part of a record that the fold reads. */
export type TracedRecord = {
  [T in RecordType]: { readonly type: T; readonly payload: RecordPayloads[T] };
}[RecordType] & {
  readonly seq: number;
  readonly worker_id?: string | undefined;
  readonly incarnation?: number | undefined;
  /** Epoch milliseconds. */
  readonly recorded_ms: number;
};

/** Facts of a worker in all of its spans. */
export interface TracedWorker {
  readonly name: string | null;
  readonly spec: Pick<WorkerSpec, "kind" | "supervisor" | "trace" | "model">;
}

/** A text of a span, within its bound. */
export const short = (text: string): string => text.slice(0, TELEMETRY_NAME_MAX_CHARS);
/** The facts that are there. */
export const known = (
  all: Readonly<Record<string, string | number | boolean | null | undefined>>,
): Record<string, string | number | boolean> => {
  const found: Record<string, string | number | boolean> = {};
  for (const name in all) {
    const value = all[name];
    if (value !== undefined && value !== null) found[name] = typeof value === "string" ? short(value) : value;
  }
  return found;
};

/** The part of an open worker that its spans share. */
export interface TracedLife {
  readonly worker: TracedWorker;
  readonly trace: WorkerTrace;
  readonly session?: string | undefined;
}

/** Facts that the spans of a worker share, worked out once: ids are digests. */
export interface WorkerTrace {
  readonly trace_id: string;
  /** The caller's span. */
  readonly above: string | undefined;
  readonly isSampled: boolean;
  /** The one that was asked for last. */
  newest?: TracedIncarnation;
}

/** Facts that the spans of an incarnation share. */
interface TracedIncarnation {
  readonly worker: TracedWorker;
  readonly session: string | undefined;
  readonly incarnation: number | undefined;
  readonly span_id: string;
  readonly shared: SpanAttributes;
}

export const traceOf = (worker_id: string, { spec }: TracedWorker): WorkerTrace => {
  const above = parseTraceparent(spec.trace?.traceparent ?? "");
  return {
    trace_id: above?.trace_id ?? traceIdOf(worker_id),
    above: above?.span_id,
    isSampled: above?.isSampled ?? true,
  };
};

export const incarnationOf = (
  { worker_id, incarnation }: TracedRecord,
  { worker, session, trace }: TracedLife,
): TracedIncarnation => {
  const { newest } = trace;
  if (newest && newest.incarnation === incarnation && newest.session === session && newest.worker === worker)
    return newest;
  const fresh = {
    worker,
    session,
    incarnation,
    span_id: rootSpanOf(worker_id!, incarnation ?? 1),
    shared: known({
      "holdfast.worker.id": worker_id,
      "holdfast.worker.name": worker.name,
      "holdfast.kind": worker.spec.kind,
      "holdfast.incarnation": incarnation,
      "holdfast.session.id": session,
    }),
  };
  trace.newest = fresh;
  return fresh;
};
