/**
 * Stuck is not slow, and alive is not busy: three clocks for each running worker, kept in a table outside its machine.
 * `process` is what /proc says of it (heartbeat), `progress_ms` when it last made a record, `tools` the calls that it waits
 * for. Pure: the caller reads the monotonic clock, the process table and the records, and acts on what comes back.
 */
import { TOOLS_IN_FLIGHT_MAX } from "../../base/limits.ts";
import type { RecordDraft } from "../../protocol/records.ts";

export type ProcessState = "running" | "stopped" | "zombie" | "dead";

export interface WorkerClocks {
  /** Whose clocks these are: what is read of another incarnation moves none of them. */
  readonly incarnation: number;
  /** Monotonic milliseconds of its newest record. */
  readonly progress_ms: number;
  /** Since when patience counts: its progress, or the end of a time in which it could make none. */
  readonly since_ms: number;
  readonly beat_ms: number;
  readonly process: ProcessState;
  /** It is between two turns of a conversation: it owes nobody any progress. */
  readonly waits: boolean;
  /** Calls without an answer: by key, the monotonic milliseconds of each one's start. */
  readonly tools: ReadonlyMap<string, number>;
}

export interface ClockBounds {
  /** 0 is never. */
  readonly stall_ms: number;
  readonly heartbeat_ms: number;
  /** 0 is none. */
  readonly tool_timeout_ms: number;
}

const NO_TOOLS: ReadonlyMap<string, number> = new Map();

/** The clocks of an incarnation that begins, or that is taken over: patience begins anew, progress is when it was last seen. */
export const clocksAt = (incarnation: number, now: number, progress_ms = now): WorkerClocks => ({
  incarnation,
  progress_ms,
  since_ms: now,
  beat_ms: now,
  process: "running",
  waits: false,
  tools: NO_TOOLS,
});

/** A beat: `changed` says that the process's state is news. After a stop, the time that it was stopped is forgiven. */
export const beat = (
  clocks: WorkerClocks,
  incarnation: number,
  process: ProcessState,
  now: number,
): { readonly clocks: WorkerClocks; readonly changed: boolean } => {
  if (incarnation !== clocks.incarnation) return { clocks, changed: false };
  const resumed = clocks.process === "stopped" && process === "running";
  return {
    clocks: { ...(resumed ? rebased(clocks, now) : clocks), process, beat_ms: now },
    changed: process !== clocks.process,
  };
};

/** It has made these records: a sign of life, and perhaps the start or the end of a tool. */
export const progressed = (
  clocks: WorkerClocks,
  records: readonly RecordDraft[],
  now: number,
): WorkerClocks => ({
  ...clocks,
  progress_ms: now,
  since_ms: now,
  tools: records.reduce((tools, record) => afterRecord(tools, record, now), clocks.tools),
});

/** The machine slept, or nobody looked: nothing that was due meanwhile is. */
export const rebased = (clocks: WorkerClocks, now: number): WorkerClocks => ({
  ...clocks,
  since_ms: now,
  tools: clocks.tools.size === 0 ? clocks.tools : new Map([...clocks.tools.keys()].map((key) => [key, now])),
});

/** Calls of tools that an incarnation's records leave open (AgentEvent notes A.3, tools facet). */
export const afterRecord = (
  tools: ReadonlyMap<string, number>,
  record: RecordDraft,
  now: number,
): ReadonlyMap<string, number> => {
  // A tool that a turn did not wait for is not waited for after it.
  if (record.type === "turn_completed") return NO_TOOLS;
  if (record.type !== "agent.event") return tools;
  const { kind, data } = record.payload;
  if (kind !== "ToolCall" && kind !== "ToolResult") return tools;
  const key = toolKeyOf(data);
  if (kind === "ToolCall")
    return tools.size >= TOOLS_IN_FLIGHT_MAX || tools.has(key) ? tools : new Map(tools).set(key, now);
  if (!tools.has(key)) return tools;
  const left = new Map(tools);
  left.delete(key);
  return left;
};

/** An agent that names none of its calls has one at a time, as far as can be told. */
export const toolKeyOf = (data: unknown): string => {
  const tool = (data as { tool?: { tool_use_id?: unknown; backend_item_id?: unknown } } | null)?.tool;
  return String(tool?.tool_use_id ?? tool?.backend_item_id ?? "");
};

/** When the oldest call in flight began; undefined without any. */
export const oldestTool = ({ tools }: WorkerClocks): number | undefined =>
  tools.size === 0 ? undefined : Math.min(...tools.values());

export const isBeatDue = (clocks: WorkerClocks, bounds: ClockBounds, now: number): boolean =>
  now - clocks.beat_ms >= bounds.heartbeat_ms;
