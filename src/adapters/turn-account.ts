/**
 * What a turn comes to, whatever the kind: the calls of its tools are counted, its models are told in one meaning, and what has
 * no reported cost gets an estimate. Pure. It is done once, when the turn goes into the log, so that a rebuild, a budget after a
 * crash and a later price list all find the same figures.
 */
import type { ModelUsage, RecordPayloads } from "../protocol/records.ts";
import { estimateOf, modelUsage } from "../protocol/usage.ts";
import type { DecodedRecord } from "./adapter.ts";

type Turn = RecordPayloads["turn_completed"];

export interface AccountOptions {
  readonly kind: string;
  /** The model that was asked for: that of a turn whose CLI names none. */
  readonly model: string | null;
  /** The estimate of what has no reported cost. */
  readonly estimate: (one: ModelUsage) => ModelUsage;
}

/** Calls of tools after it, of those before it. */
export const toolCallsAfter = (tool_calls: number, { type, payload }: DecodedRecord): number => {
  if (type === "turn_completed") return 0;
  return type === "agent.event" && payload.kind === "ToolCall" ? tool_calls + 1 : tool_calls;
};

export const completedTurn = (
  turn: Turn,
  { kind, model, estimate }: AccountOptions,
  tool_calls: number,
): Turn => {
  const told = turn.models ?? [modelUsage(kind, model, turn.usage)];
  // What one of several models took under no name may be anybody's.
  const named = told.length === 1 ? told.map((one) => ({ ...one, model: one.model ?? model })) : told;
  const models = named.map(estimate);
  const estimated_usd = estimateOf(models);
  const usage = estimated_usd === undefined ? turn.usage : { ...turn.usage, estimated_usd };
  return { ...turn, usage, models, tool_calls };
};
