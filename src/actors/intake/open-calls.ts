/** Tool calls without a result. If the agent ends first, each is given a result, so that nobody waits for it. Pure. */

import type { DecodedRecord } from "../../adapters/adapter.ts";
import { type ToolFacts, voiceOf } from "../../adapters/decoding/events.ts";
import { asName, asObject } from "../../base/json.ts";
import { TOOLS_IN_FLIGHT_MAX } from "../../base/limits.ts";
import { toolKeyOf } from "../../protocol/tool-calls.ts";

export interface OpenCall extends ToolFacts {
  readonly key: string;
}

export const NO_CALLS: readonly OpenCall[] = [];

/** The open calls after this record, including those that their turn did not wait for. */
export const openCallsAfter = (
  open: readonly OpenCall[],
  { type, payload }: DecodedRecord,
): readonly OpenCall[] => {
  if (type !== "agent.event") return open;
  const { kind, data } = payload;
  if (kind !== "ToolCall" && kind !== "ToolResult") return open;
  const key = toolKeyOf(data);
  const known = open.some((call) => call.key === key);
  if (kind === "ToolResult") return known ? open.filter((call) => call.key !== key) : open;
  return known || open.length >= TOOLS_IN_FLIGHT_MAX ? open : [...open, callOf(key, data)];
};

const callOf = (key: string, data: unknown): OpenCall => {
  const facts = asObject(data);
  const tool = asObject(facts?.tool);
  return {
    key,
    item_id: asName(tool?.backend_item_id),
    thread_id: asName(tool?.thread_id),
    kind: asName(tool?.kind) ?? "tool",
    name: asName(tool?.tool_name),
    use_id: asName(tool?.tool_use_id),
    parent_tool_use_id: asName(facts?.parent_tool_use_id),
  };
};

export const unendedCall = (agent_kind: string, call: OpenCall): DecodedRecord =>
  voiceOf(agent_kind).toolResult(call, { failed: true, exit_code: null, unended: true });
