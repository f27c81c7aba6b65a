/**
 * The account of a turn, whatever the kind: the calls of its tools are counted, its models are told in one meaning, and what has
 * no reported cost gets an estimate. Pure. It is done once, when the turn goes into the log, so that a rebuild, a budget after a
 * crash and a later price list all find the same figures.
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

/** Refused calls after this record. */
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

/** The usage of the open turn: what its end will replace. */
export const usageSoFar = (told: DecodedUsage, options: AccountOptions): Usage => priced(told, options).usage;

const priced = (
  turn: Pick<Turn, "usage" | "models">,
  { counts_cached_inside, model, estimate }: AccountOptions,
): Required<Pick<Turn, "usage" | "models">> => {
  const told = turn.models ?? [modelUsage(counts_cached_inside, model, turn.usage)];
  // Tokens that one of several models took under no name may be anybody's.
  const named = told.length === 1 ? told.map((one) => ({ ...one, model: one.model ?? model })) : told;
  const models = named.map(estimate);
  const estimated_usd = estimateOf(models);
  const usage = estimated_usd === undefined ? turn.usage : { ...turn.usage, estimated_usd };
  return { usage, models };
};
