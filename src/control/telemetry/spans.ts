/**
 * Spans and metrics, folded from the records of the log: an `invoke_agent` for each incarnation, and below it a `chat` for each
 * turn and model, and an `execute_tool` for each tool call. A fold that begins in the middle names the same spans.
 */
import { TELEMETRY_TOOLS_MAX, TELEMETRY_WORKERS_MAX } from "../../base/limits.ts";
import { STRUCTURED_TOOLS } from "../../protocol/facets.ts";
import type { SpanAttributes } from "../../protocol/observability.ts";
import type { ModelUsage, RecordPayloads, RecordType } from "../../protocol/records.ts";
import { spanBelow } from "../../protocol/trace-context.ts";
import { GEN_AI_TOKEN_COUNTERS, genAiAttributes, type SpanOperation } from "./gen-ai.ts";
import type { Measurement } from "./metrics.ts";
import {
  incarnationOf,
  known,
  short,
  type TracedLife,
  type TracedRecord,
  type TracedWorker,
  traceOf,
} from "./traced.ts";

export interface FinishedSpan {
  readonly trace_id: string;
  readonly span_id: string;
  readonly parent_id: string | undefined;
  readonly operation: SpanOperation;
  readonly name: string;
  readonly start_ms: number;
  readonly end_ms: number;
  /** The facts of its worker: one object for all spans of an incarnation. */
  readonly shared: SpanAttributes;
  readonly attributes: SpanAttributes;
  readonly isFailed: boolean;
  /** The seq of the record that ended it. */
  readonly seq: number;
}

export interface FoldOutput {
  readonly spans: readonly FinishedSpan[];
  readonly measured: readonly Measurement[];
}

const NOTHING: FoldOutput = { spans: [], measured: [] };

const TRACED_TYPES: readonly RecordType[] = [
  "worker_spawn_requested",
  "worker_spec_changed",
  "worker_renamed",
  "worker_state_changed",
  "session_started",
  "turn_started",
  "turn_completed",
  "worker_exited",
  "worker_completed",
  "worker_failed",
  "worker_cancelled",
  "worker_restart_scheduled",
];
/** The filter of the records that the fold reads; of AgentEvents only these kinds. */
export const TRACED = { types: TRACED_TYPES, kinds: ["ToolCall", "ToolResult"] } as const;

interface OpenWorker extends TracedLife {
  /** Epoch milliseconds. */
  readonly began_ms?: number | undefined;
  readonly turn_ms?: number | undefined;
  readonly exit?: RecordPayloads["worker_exited"] | undefined;
  /** The beginnings of open tool calls, by id. */
  readonly tools: Map<string, number>;
}

const MS_PER_S = 1_000;
interface SpanDraft {
  readonly operation: SpanOperation;
  /** The operation's object, for people. */
  readonly of: string;
  readonly id: string;
  readonly parent: string | undefined;
  readonly start_ms: number;
  readonly isFailed?: boolean | undefined;
  readonly facts: Parameters<typeof known>[0];
}

export interface SpanFoldOptions {
  /** Also the conventions for generative AI. */
  readonly isGenAi: boolean;
  /** The provider behind a kind, as the conventions name it. */
  readonly providerOf: (agent_kind: string) => string;
}

/** Deterministic: the same records give the same spans. */
export class SpanFold {
  private readonly isGenAi: boolean;
  private readonly providerOf: (agent_kind: string) => string;
  private readonly workers = new Map<string, OpenWorker>();

  constructor({ isGenAi, providerOf }: SpanFoldOptions) {
    this.isGenAi = isGenAi;
    this.providerOf = providerOf;
  }

  /** False: `learn` has to tell of the worker before its record is taken. */
  knows({ type, worker_id }: Pick<TracedRecord, "type" | "worker_id">): boolean {
    return type === "worker_spawn_requested" || worker_id === undefined || this.workers.has(worker_id);
  }

  learn(worker_id: string, worker: TracedWorker): void {
    const before = this.workers.get(worker_id) ?? { tools: new Map<string, number>() };
    this.workers.delete(worker_id);
    this.workers.set(worker_id, { ...before, worker, trace: traceOf(worker_id, worker) });
    if (this.workers.size <= TELEMETRY_WORKERS_MAX) return;
    const [oldest] = this.workers.keys();
    if (oldest !== undefined) this.workers.delete(oldest);
  }

  /** A record of a worker that nobody knows makes nothing. */
  take(record: TracedRecord): FoldOutput {
    const { worker_id } = record;
    if (worker_id === undefined) return NOTHING;
    if (record.type === "worker_spawn_requested") {
      const { spec } = record.payload;
      this.learn(worker_id, { name: spec.name ?? null, spec });
      return NOTHING;
    }
    const open = this.workers.get(worker_id);
    return open === undefined ? NOTHING : this.ofWorker(record, worker_id, open);
  }

  private ofWorker(record: TracedRecord, id: string, open: OpenWorker): FoldOutput {
    const become = (change: Partial<OpenWorker>): FoldOutput => {
      this.workers.set(id, { ...open, ...change });
      return NOTHING;
    };
    const at_ms = record.recorded_ms;
    const { worker } = open;
    const { kind } = worker.spec;
    switch (record.type) {
      case "worker_spec_changed": {
        const changed = { ...worker, spec: record.payload.spec };
        return become({ worker: changed, trace: traceOf(id, changed) });
      }
      case "worker_renamed":
        return become({ worker: { ...worker, name: record.payload.name } });
      case "worker_state_changed":
        if (record.payload.to !== "starting") return NOTHING;
        return become({ began_ms: at_ms, turn_ms: undefined, exit: undefined, tools: new Map() });
      case "session_started":
        return become({ session: record.payload.session_id });
      case "turn_started":
        return become({ turn_ms: at_ms });
      case "worker_exited":
        return become({ exit: record.payload });
      case "worker_restart_scheduled": {
        const cause = record.payload.cause ?? "end";
        return {
          spans: [],
          measured: [{ name: "holdfast.restarts", value: 1, attributes: { kind, cause } }],
        };
      }
      case "turn_completed":
        become({ turn_ms: undefined });
        return this.ofTurn(record, open, record.payload, at_ms);
      case "agent.event":
        return this.ofTool(record, open, record.payload, at_ms);
      case "worker_completed":
      case "worker_failed":
      case "worker_cancelled":
        become({ began_ms: undefined, exit: undefined, tools: new Map() });
        return this.ofIncarnation(record, open, at_ms);
      default:
        return NOTHING;
    }
  }

  private ofIncarnation(record: TracedRecord, open: OpenWorker, at_ms: number): FoldOutput {
    const { worker, trace, began_ms, exit } = open;
    const outcome = record.type.replace("worker_", "");
    const start_ms = began_ms ?? at_ms - (exit?.duration_ms ?? 0);
    const failure = record.type === "worker_completed" ? undefined : this.failureOf(record);
    const span = this.spanOf(record, open, at_ms, {
      operation: "invoke_agent",
      of: worker.name ?? worker.spec.kind,
      id: incarnationOf(record, open).span_id,
      parent: trace.above,
      start_ms,
      isFailed: record.type === "worker_failed",
      facts: {
        "holdfast.supervisor": worker.spec.supervisor,
        "holdfast.outcome": outcome,
        "holdfast.exit_code": exit?.exit_code,
        "holdfast.signal": exit?.signal,
        "error.type": failure,
      },
    });
    const attributes = { kind: worker.spec.kind, outcome };
    const value = (at_ms - start_ms) / MS_PER_S;
    return { spans: span, measured: [{ name: "holdfast.incarnation.duration", value, attributes }] };
  }

  private failureOf({ payload }: TracedRecord): string | undefined {
    return (payload as { readonly error?: { readonly code: string } }).error?.code;
  }

  private ofTurn(
    record: TracedRecord,
    open: OpenWorker,
    { turn, models = [], duration_ms, error }: RecordPayloads["turn_completed"],
    at_ms: number,
  ): FoldOutput {
    const { worker, turn_ms } = open;
    const { kind } = worker.spec;
    const above = incarnationOf(record, open).span_id;
    const start_ms = turn_ms ?? at_ms - (duration_ms ?? 0);
    const each: readonly (ModelUsage | undefined)[] = models.length === 0 ? [undefined] : models;
    const spans = each.flatMap((used, at) => {
      const model = used?.model ?? worker.spec.model;
      return this.spanOf(record, open, at_ms, {
        operation: "chat",
        of: model ?? "",
        id: spanBelow(above, `turn/${turn}/${at}`),
        parent: above,
        start_ms,
        isFailed: error !== undefined,
        facts: {
          "holdfast.turn": turn,
          "holdfast.model": model,
          "error.type": error?.code,
          ...(used === undefined ? {} : tokenFacts(used)),
        },
      });
    });
    const took = {
      name: "holdfast.turn.duration",
      value: (at_ms - start_ms) / MS_PER_S,
      attributes: { kind },
    };
    return { spans, measured: [took, ...models.flatMap((used) => this.measuredOf(worker, used))] };
  }

  private measuredOf(
    { spec: { kind, model: asked } }: TracedWorker,
    used: ModelUsage,
  ): readonly Measurement[] {
    const model = short(used.model ?? asked ?? "");
    const counts = tokensOf(used);
    const all: Measurement[] = [];
    const add = (name: string, value: number, attributes: SpanAttributes): void => {
      if (value > 0) all.push({ name, value, attributes });
    };
    for (const type in counts)
      if (type !== "reasoning") add("holdfast.tokens", counts[type]!, { kind, model, type });
    const [source, cost] =
      used.cost_usd === null ? ["estimated", used.estimated_usd ?? 0] : ["reported", used.cost_usd];
    add("holdfast.cost", cost, { kind, model, source });
    if (this.isGenAi)
      for (const [name, types] of Object.entries(GEN_AI_TOKEN_COUNTERS))
        add(
          name,
          types.reduce((sum, type) => sum + (counts[type] ?? 0), 0),
          {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": this.providerOf(kind),
            "gen_ai.token.modality": "unknown",
            "gen_ai.response.model": model,
          },
        );
    return all;
  }

  private ofTool(
    record: TracedRecord,
    open: OpenWorker,
    event: RecordPayloads["agent.event"],
    at_ms: number,
  ): FoldOutput {
    const tool = toolOf(event.data);
    if (tool === undefined) return NOTHING;
    const { id, name, phase, parent } = tool;
    const { tools, worker } = open;
    if (phase === "start") {
      tools.set(id, at_ms);
      const [oldest] = tools.keys();
      if (tools.size > TELEMETRY_TOOLS_MAX && oldest !== undefined) tools.delete(oldest);
      return NOTHING;
    }
    const start_ms = tools.get(id) ?? at_ms;
    tools.delete(id);
    const above = incarnationOf(record, open).span_id;
    const spanOfTool = (call: string) => spanBelow(above, `tool/${call}`);
    const spans = this.spanOf(record, open, at_ms, {
      operation: "execute_tool",
      of: name,
      id: spanOfTool(id),
      parent: parent === undefined ? above : spanOfTool(parent),
      start_ms,
      isFailed: phase === "fail",
      facts: {
        "holdfast.tool.name": name,
        "holdfast.tool.call.id": id,
        "error.type": phase === "fail" ? "tool_failed" : undefined,
      },
    });
    const attributes = {
      kind: worker.spec.kind,
      tool: short(name),
      outcome: phase === "fail" ? "failed" : "completed",
    };
    const value = (at_ms - start_ms) / MS_PER_S;
    return { spans, measured: [{ name: "holdfast.tool.duration", value, attributes }] };
  }

  /** None if the caller's trace is not recorded. */
  private spanOf(
    record: TracedRecord,
    open: OpenWorker,
    end_ms: number,
    { operation, of, id, parent, start_ms, isFailed = false, facts }: SpanDraft,
  ): readonly FinishedSpan[] {
    const { trace_id, isSampled } = open.trace;
    if (!isSampled) return [];
    const { shared } = incarnationOf(record, open);
    const own = known(facts);
    return [
      {
        trace_id,
        span_id: id,
        parent_id: parent,
        operation,
        name: short(of === "" ? operation : `${operation} ${of}`),
        // A clock that was put back makes no span of negative length.
        start_ms: Math.min(start_ms, end_ms),
        end_ms,
        shared,
        attributes: this.isGenAi
          ? {
              ...own,
              ...genAiAttributes(operation, this.providerOf(open.worker.spec.kind), { ...shared, ...own }),
            }
          : own,
        isFailed,
        seq: record.seq,
      },
    ];
  }
}

const tokensOf = (used: ModelUsage): Readonly<Record<string, number>> => ({
  input: used.input_tokens,
  cache_read: used.cached_tokens,
  cache_write: used.cache_write_tokens,
  output: used.output_tokens,
  reasoning: used.reasoning_tokens,
});

const tokenFacts = (used: ModelUsage): SpanDraft["facts"] => ({
  "holdfast.tokens.input": used.input_tokens,
  "holdfast.tokens.cache_read": used.cached_tokens,
  "holdfast.tokens.cache_write": used.cache_write_tokens,
  "holdfast.tokens.output": used.output_tokens,
  "holdfast.tokens.reasoning": used.reasoning_tokens,
  "holdfast.cost_usd": used.cost_usd ?? used.estimated_usd,
});

interface TracedTool {
  readonly id: string;
  readonly name: string;
  readonly phase: string;
  /** The call to which a sub-agent belongs. */
  readonly parent: string | undefined;
}

/** Undefined for a call without an id, which has no span. */
const toolOf = (data: unknown): TracedTool | undefined => {
  const { schema, tool, parent_tool_use_id } = (data ?? {}) as {
    readonly schema?: string;
    readonly tool?: {
      readonly phase: string;
      readonly tool_name: string | null;
      readonly tool_use_id: string | null;
    };
    readonly parent_tool_use_id?: string;
  };
  const { phase = "", tool_name, tool_use_id } = tool ?? {};
  if (schema !== STRUCTURED_TOOLS || typeof tool_use_id !== "string") return undefined;
  return { id: tool_use_id, name: tool_name ?? "", phase, parent: parent_tool_use_id };
};
