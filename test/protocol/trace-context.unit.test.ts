/** The place of a worker in a trace. */
import { expect, it } from "vitest";
import { parseTraceparent, rootSpanOf, traceIdOf, traceVariables } from "../../src/protocol/trace-context.ts";
import { traceIn } from "../../src/protocol/trace-variables.ts";

const PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const ID = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

it.each([
  PARENT.toUpperCase(),
  "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
  "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
  PARENT.replace("00-", "ff-"),
  "yes",
])("%s is no trace", (traceparent) => {
  expect(parseTraceparent(traceparent)).toBeUndefined();
  expect(traceIn({ TRACEPARENT: traceparent })).toBeUndefined();
});

it("takes a later version, and no state that is too long", () => {
  expect(parseTraceparent(`${PARENT.replace("00-", "01-")}-more`)?.isSampled).toBe(true);
  expect(traceIn({ TRACEPARENT: PARENT, TRACESTATE: "a=1" })).toEqual({
    traceparent: PARENT,
    tracestate: "a=1",
  });
  expect(traceIn({ TRACEPARENT: PARENT, TRACESTATE: "a".repeat(513) })).toEqual({ traceparent: PARENT });
});

it("an agent is below its incarnation's span, in its caller's trace or in its worker's own", () => {
  const run = { worker_id: ID, incarnation: 2, isTraced: true };
  const span = rootSpanOf(ID, 2);
  expect(traceVariables({ traceparent: PARENT, tracestate: "a=1" }, run)).toEqual({
    TRACEPARENT: `00-4bf92f3577b34da6a3ce929d0e0e4736-${span}-01`,
    TRACESTATE: "a=1",
  });
  expect(traceVariables(undefined, run)).toEqual({ TRACEPARENT: `00-${traceIdOf(ID)}-${span}-01` });
  expect(traceVariables({ traceparent: PARENT.replace(/01$/, "00") }, run).TRACEPARENT).toMatch(/-00$/);
  expect(traceIdOf(ID)).toBe("01563e3ab5d3d6764c61efb99302bd5b");
});

it("without telemetry the caller's trace goes on unchanged", () => {
  const run = { worker_id: ID, incarnation: 1, isTraced: false };
  expect(traceVariables({ traceparent: PARENT }, run)).toEqual({ TRACEPARENT: PARENT });
  expect(traceVariables(undefined, run)).toEqual({});
});
