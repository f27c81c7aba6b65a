/**
 * Stuck is not slow, and alive is not busy: three clocks for each running worker, kept in a table outside its machine.
 * `process` is its state in /proc (heartbeat), `progress_ms` the time of its newest record, `tools` its running tool calls.
 * Pure: the caller reads the monotonic clock, the process table and the records, and acts on the result.
 */

import { TOOLS_IN_FLIGHT_MAX } from "../../base/limits.ts";
import type { RecordDraft } from "../../protocol/records.ts";
import { toolKeyOf } from "../../protocol/tool-calls.ts";

export type ProcessState = "running" | "stopped" | "zombie" | "dead";

export interface WorkerClocks {
  /** The incarnation of these clocks; facts about another incarnation are ignored. */
  readonly incarnation: number;
  /** Monotonic milliseconds of its newest record. */
  readonly progress_ms: number;
  /** The start of the stall time: its last progress, or the end of a time in which it could make none. */
  readonly since_ms: number;
  readonly beat_ms: number;
  readonly process: ProcessState;
  /** It is between two turns of a dialogue, so no progress is expected. */
  readonly waits: boolean;
  /** Running tool calls by key, with the monotonic milliseconds of each start. */
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

/** The clocks of an incarnation that begins or is adopted. The stall time starts now; `progress_ms` is its last known progress. */
export const clocksAt = (incarnation: number, now: number, progress_ms = now): WorkerClocks => ({
  incarnation,
  progress_ms,
  since_ms: now,
  beat_ms: now,
  process: "running",
  waits: false,
  tools: NO_TOOLS,
});

/** A heartbeat; `changed` means a new process state. The time that a process was stopped does not count. */
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

/** New records of the worker: a sign of life, and perhaps the start or end of a tool call. */
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

/** The machine slept, or the daemon could not check: the clocks start again, so nothing is overdue because of it. */
export const rebased = (clocks: WorkerClocks, now: number): WorkerClocks => ({
  ...clocks,
  since_ms: now,
  tools: clocks.tools.size === 0 ? clocks.tools : new Map([...clocks.tools.keys()].map((key) => [key, now])),
});

/** The open tool calls after a record (AgentEvent notes A.3, tools facet). */
export const afterRecord = (
  tools: ReadonlyMap<string, number>,
  record: RecordDraft,
  now: number,
): ReadonlyMap<string, number> => {
  // A tool call that outlives its turn is no longer waited for.
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

/** The start of the oldest running tool call; undefined if there is none. */
export const oldestTool = ({ tools }: WorkerClocks): number | undefined =>
  tools.size === 0 ? undefined : Math.min(...tools.values());

export const isBeatDue = (clocks: WorkerClocks, bounds: ClockBounds, now: number): boolean =>
  now - clocks.beat_ms >= bounds.heartbeat_ms;
