/** Spans and metrics of records, by the records alone. */
import { describe, expect, it } from "vitest";
import { type FoldOutput, SpanFold } from "../../../src/control/telemetry/spans.ts";
import type { TracedRecord } from "../../../src/control/telemetry/traced.ts";
import { STRUCTURED_TOOLS } from "../../../src/protocol/facets.ts";
import { rootSpanOf, spanBelow } from "../../../src/protocol/trace-context.ts";

const ID = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const BEGAN_MS = Date.parse("2026-01-01T00:00:00.000Z");

const providerOf = () => "anthropic";
let seq = 0;
const record = (type: TracedRecord["type"], payload: object, at_s = 0): TracedRecord =>
  ({
    seq: ++seq,
    type,
    worker_id: ID,
    incarnation: 1,
    recorded_ms: BEGAN_MS + at_s * 1_000,
    payload,
  }) as TracedRecord;
const spawned = (more: object = {}) =>
  record("worker_spawn_requested", {
    spec: { kind: "claude_code", name: "fixer", supervisor: "root", ...more },
  });
const tool = (kind: string, phase: string, id: string, at_s: number, parent?: string) =>
  record(
    "agent.event",
    {
      kind,
      data: {
        schema: STRUCTURED_TOOLS,
        tool: { phase, tool_name: "Bash", tool_use_id: id },
        ...(parent === undefined ? {} : { parent_tool_use_id: parent }),
      },
    },
    at_s,
  );
const completedTurn = (at_s: number) =>
  record(
    "turn_completed",
    {
      turn: 1,
      duration_ms: 4_000,
      models: [
        {
          model: "opus",
          input_tokens: 10,
          cached_tokens: 100,
          cache_write_tokens: 5,
          output_tokens: 7,
          reasoning_tokens: 2,
          cost_usd: 0.5,
        },
      ],
    },
    at_s,
  );

const foldOf = (records: readonly TracedRecord[], isGenAi = false): FoldOutput => {
  const fold = new SpanFold({ isGenAi, providerOf });
  const each = records.map((one) => fold.take(one));
  return { spans: each.flatMap(({ spans }) => spans), measured: each.flatMap(({ measured }) => measured) };
};

const LIFE = (more: object = {}) => [
  spawned(more),
  record("worker_state_changed", { to: "starting" }, 1),
  record("session_started", { session_id: "s1" }, 2),
  record("turn_started", { turn: 1 }, 2),
  tool("ToolCall", "start", "t1", 3),
  tool("ToolCall", "start", "t2", 4, "t1"),
  tool("ToolResult", "fail", "t2", 5, "t1"),
  tool("ToolResult", "complete", "t1", 6),
  completedTurn(7),
  record("worker_exited", { exit_code: 3, signal: null, duration_ms: 7_000 }, 8),
  record("worker_failed", { error: { code: "AGENT_FAILED", message: "a secret" } }, 8),
];

describe("a whole life", () => {
  const { spans, measured } = foldOf(LIFE());
  const [inner, outer, turn, run] = spans;

  it("is a run, with its turns and tools below it, and a sub-agent's tool below the call", () => {
    expect(spans.map(({ name }) => name)).toEqual([
      "execute_tool Bash",
      "execute_tool Bash",
      "chat opus",
      "invoke_agent fixer",
    ]);
    expect(inner!.parent_id).toBe(outer!.span_id);
    expect([outer!.parent_id, turn!.parent_id]).toEqual([run!.span_id, run!.span_id]);
    expect([run!.parent_id, run!.span_id]).toEqual([undefined, rootSpanOf(ID, 1)]);
    expect(outer!.span_id).toBe(spanBelow(rootSpanOf(ID, 1), "tool/t1"));
    expect(new Set(spans.map(({ trace_id }) => trace_id)).size).toBe(1);
  });

  it("has the times of its records and the code of its error, and no text of it", () => {
    expect(spans.map(({ start_ms, end_ms }) => (end_ms - start_ms) / 1_000)).toEqual([1, 3, 5, 7]);
    expect(spans.map(({ isFailed }) => isFailed)).toEqual([true, false, false, true]);
    expect(run!.attributes).toMatchObject({ "error.type": "AGENT_FAILED", "holdfast.exit_code": 3 });
    expect(JSON.stringify(spans)).not.toContain("secret");
  });

  it("counts each token in one type, and names no worker", () => {
    const tokens = measured.filter(({ name }) => name === "holdfast.tokens");
    expect(tokens.map(({ value, attributes }) => [attributes.type, value])).toEqual([
      ["input", 10],
      ["cache_read", 100],
      ["cache_write", 5],
      ["output", 7],
    ]);
    expect(JSON.stringify(measured)).not.toMatch(/gen_ai|01ARZ|fixer/);
  });
});

it("the conventions count cached tokens as input, and are there for those who opt in", () => {
  expect(JSON.stringify(foldOf(LIFE()))).not.toContain("gen_ai");
  const { spans, measured } = foldOf(LIFE(), true);
  expect(spans[2]!.attributes).toMatchObject({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "anthropic",
    "gen_ai.conversation.id": "s1",
    "gen_ai.agent.id": ID,
    "gen_ai.usage.input_tokens": 115,
    "gen_ai.usage.cache_read.input_tokens": 100,
  });
  const input = measured.find(({ name }) => name === "gen_ai.client.inference.usage.input_tokens");
  expect(input?.value).toBe(115);
});

it("a fold that begins in the middle names the same spans, with lengths by the records of their ends", () => {
  const whole = foldOf(LIFE()).spans;
  const fold = new SpanFold({ isGenAi: false, providerOf });
  const [turn, exited, failed] = LIFE().slice(-3) as [TracedRecord, TracedRecord, TracedRecord];
  expect(fold.knows(turn)).toBe(false);
  expect(fold.take(turn).spans).toEqual([]);
  fold.learn(ID, { name: "fixer", spec: { kind: "claude_code", supervisor: "root" } });
  const late = [turn, exited, failed].flatMap((one) => fold.take(one).spans);
  expect(late.map(({ span_id }) => span_id)).toEqual(whole.slice(-2).map(({ span_id }) => span_id));
  expect(late.map(({ start_ms, end_ms }) => end_ms - start_ms)).toEqual([4_000, 7_000]);
});

it("the facts of a worker are one object in all spans of an incarnation, and follow its session, its name and its incarnation", () => {
  const again = { ...tool("ToolResult", "complete", "t3", 11), incarnation: 2 } as TracedRecord;
  const { spans } = foldOf([
    ...LIFE().slice(0, -2),
    record("session_started", { session_id: "s2" }, 9),
    tool("ToolResult", "complete", "t4", 10),
    record("worker_renamed", { name: "mender" }, 10),
    again,
  ]);
  const [inner, outer, turn, ...later] = spans.map(({ shared }) => shared);
  expect(inner).toBe(outer);
  expect(inner).toBe(turn);
  expect(inner).toEqual({
    "holdfast.worker.id": ID,
    "holdfast.worker.name": "fixer",
    "holdfast.kind": "claude_code",
    "holdfast.incarnation": 1,
    "holdfast.session.id": "s1",
  });
  expect(later).toEqual([
    { ...inner, "holdfast.session.id": "s2" },
    { ...inner, "holdfast.session.id": "s2", "holdfast.worker.name": "mender", "holdfast.incarnation": 2 },
  ]);
});

it("a caller that does not sample gets no spans, and is counted", () => {
  const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";
  const { spans, measured } = foldOf(LIFE({ trace: { traceparent } }));
  expect(spans).toEqual([]);
  expect(measured.length).toBeGreaterThan(0);
});
