/**
 * Accounts for a turn of any kind of agent: counts its tool calls, gives the usage of its models one meaning, and estimates
 * a cost that was not reported. Pure. Done once, when the turn goes into the log, so that a rebuild, a budget after a crash
 * and a later price list all use the same figures.
 */

import type { DecodedRecord, DecodedUsage } from "../../adapters/adapter.ts";
import { asName, asObject } from "../../base/json.ts";
import { addDenied, type DeniedCalls } from "../../protocol/denied.ts";
import type { ModelUsage, RecordPayloads, Usage } from "../../protocol/records.ts";
import { estimateOf, modelUsage } from "../../protocol/usage.ts";

type Turn = RecordPayloads["turn_completed"];

export interface AccountOptions {
  /** The CLI counts cached tokens inside `input_tokens`. */
  readonly counts_cached_inside: boolean;
  /** The requested model, used for a turn whose CLI names none. */
  readonly model: string | null;
  /** Adds an estimate to usage without a reported cost. */
  readonly estimate: (one: ModelUsage) => ModelUsage;
}

/** The number of tool calls in the turn after this record. */
export const toolCallsAfter = (tool_calls: number, { type, payload }: DecodedRecord): number => {
  if (type === "turn_completed") return 0;
  return type === "agent.event" && payload.kind === "ToolCall" ? tool_calls + 1 : tool_calls;
};

/** The refused calls after this record. */
export const deniedAfter = (denied: readonly DeniedCalls[], { type, payload }: DecodedRecord) => {
  if (type === "turn_completed") return NONE_DENIED;
  const data = type === "agent.event" && payload.kind === "Status" ? asObject(payload.data) : undefined;
  return data?.denied === true ? addDenied(denied, asName(data.tool_name)) : denied;
};

export const NONE_DENIED: readonly DeniedCalls[] = [];

export const completedTurn = (
  turn: Turn,
  options: AccountOptions,
  tool_calls: number,
  denied: readonly DeniedCalls[],
): Turn => ({
  ...turn,
  ...priced(turn, options),
  tool_calls,
  ...(denied.length === 0 ? {} : { denied }),
});

/** Usage of the open turn, which the turn's end will replace. */
export const usageSoFar = (told: DecodedUsage, options: AccountOptions): Usage => priced(told, options).usage;

const priced = (
  turn: Pick<Turn, "usage" | "models">,
  { counts_cached_inside, model, estimate }: AccountOptions,
): Required<Pick<Turn, "usage" | "models">> => {
  const told = turn.models ?? [modelUsage(counts_cached_inside, model, turn.usage)];
  // With several models, unnamed tokens may belong to any of them; with one, they belong to the requested model.
  const named = told.length === 1 ? told.map((one) => ({ ...one, model: one.model ?? model })) : told;
  const models = named.map(estimate);
  const estimated_usd = estimateOf(models);
  const usage = estimated_usd === undefined ? turn.usage : { ...turn.usage, estimated_usd };
  return { usage, models };
};
