/**
 * The spans of a worker: their ids, and their place in a trace. Ids are made of the worker's id, so that a reader of the log
 * that begins again, and a child that got its variable earlier, name the same span.
 */
import { hash } from "node:crypto";
import { bitsOf } from "./ids.ts";
import { TRACEPARENT_FORM, type TraceVariables } from "./trace-variables.ts";

export interface TraceParent {
  readonly trace_id: string;
  readonly span_id: string;
  /** The caller records this trace. */
  readonly isSampled: boolean;
}

/** Undefined if it is none. */
export const parseTraceparent = (text: string): TraceParent | undefined => {
  if (!TRACEPARENT_FORM.test(text)) return undefined;
  const [, trace_id, span_id, flags] = text.split("-") as [string, string, string, string];
  return { trace_id, span_id, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
};

const SPAN_ID_CHARS = 16;
const TRACE_ID_CHARS = 32;

/** The trace of a worker that was asked for in none: the bits of its id. */
export const traceIdOf = (worker_id: string): string =>
  bitsOf(worker_id).toString(16).padStart(TRACE_ID_CHARS, "0");

/** The span of a whole incarnation; all its others are below it. */
export const rootSpanOf = (worker_id: string, incarnation: number): string =>
  hash("sha256", `${worker_id}/${incarnation}/incarnation`).slice(0, SPAN_ID_CHARS);

/** `what` names the span among those of the incarnation whose span is `root`. */
export const spanBelow = (root: string, what: string): string =>
  hash("sha256", `${root}/${what}`).slice(0, SPAN_ID_CHARS);

export interface TracedRun {
  readonly worker_id: string;
  readonly incarnation: number;
  /** The daemon makes spans: those of the agent are below its incarnation's. Else the agent is in the trace of its caller. */
  readonly isTraced: boolean;
}

/** The variables of an agent; none without a trace. */
export const traceVariables = (
  trace: TraceVariables | undefined,
  { worker_id, incarnation, isTraced }: TracedRun,
): Record<string, string> => {
  const above = trace === undefined ? undefined : parseTraceparent(trace.traceparent);
  const state = trace?.tracestate === undefined ? undefined : { TRACESTATE: trace.tracestate };
  if (!isTraced) return above === undefined ? {} : { TRACEPARENT: trace!.traceparent, ...state };
  const flags = above?.isSampled === false ? "00" : "01";
  const trace_id = above?.trace_id ?? traceIdOf(worker_id);
  return { TRACEPARENT: `00-${trace_id}-${rootSpanOf(worker_id, incarnation)}-${flags}`, ...state };
};
