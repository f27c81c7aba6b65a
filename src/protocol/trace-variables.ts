/** The variables of W3C Trace Context (https://www.w3.org/TR/trace-context/), by which a program learns in which trace it runs. */
import { TRACESTATE_MAX_CHARS } from "../base/limits.ts";

export interface TraceVariables {
  readonly traceparent: string;
  readonly tracestate?: string | undefined;
}

/** Version, trace, span and flags; a later version may have more behind them. */
export const TRACEPARENT_FORM =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.{0,200})?$/;
export const TRACESTATE_FORM = /^[\x20-\x7e]+$/;

/** The trace in which a program runs, by its environment. A variable that is no trace counts as none. */
export const traceIn = (env: Readonly<Record<string, string | undefined>>): TraceVariables | undefined => {
  const { TRACEPARENT: traceparent = "", TRACESTATE: tracestate = "" } = env;
  if (!TRACEPARENT_FORM.test(traceparent)) return undefined;
  const isState = tracestate.length <= TRACESTATE_MAX_CHARS && TRACESTATE_FORM.test(tracestate);
  return { traceparent, ...(isState ? { tracestate } : {}) };
};
