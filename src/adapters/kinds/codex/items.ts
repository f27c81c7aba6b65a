/**
 * The items of a turn: answers, reasoning, tools, plans and warnings. Tool inputs and outputs stay in the
 * spool.
 */

import { appended } from "../../../base/bounded-list.ts";
import { asList, asName, asNumber, asObject, bytesOf, type JsonObject } from "../../../base/json.ts";
import type { DecodedItem } from "../../adapter.ts";
import { type ToolFacts, voiceOf } from "../../decoding/events.ts";
import { keptText } from "../../decoding/final-text.ts";
import { type ExecState, TOOLS_MAX } from "./state.ts";

const voice = voiceOf("codex");

export type ItemEvent = "item.started" | "item.updated" | "item.completed";

export const isItemEvent = (type: unknown): type is ItemEvent =>
  type === "item.started" || type === "item.updated" || type === "item.completed";

const TOOLS: ReadonlySet<unknown> = new Set([
  "command_execution",
  "file_change",
  "mcp_tool_call",
  "collab_tool_call",
  "web_search",
]);

export const onItem = (
  state: ExecState,
  event: ItemEvent,
  item: JsonObject,
  out: DecodedItem[],
): ExecState => {
  if (TOOLS.has(item.type)) return onTool(state, event, item, out);
  const ended = event === "item.completed";
  switch (item.type) {
    case "agent_message":
      // Only the whole text is used, so that it is recorded once.
      if (!ended || typeof item.text !== "string") return state;
      out.push(voice.text("assistant", item.text, { message_id: asName(item.id) }));
      return { ...state, text: keptText(item.text) };
    case "reasoning":
      if (ended && typeof item.text === "string" && item.text !== "") {
        out.push(voice.text("reasoning", item.text, { message_id: asName(item.id) }));
      }
      return state;
    case "error":
      if (ended) out.push(voice.status("The agent's CLI gave a warning.", { item_id: asName(item.id) }));
      return state;
    case "todo_list":
    case "plan":
      out.push(voice.status(...planStatus(item)));
      return state;
  }
  out.push(voice.unknown({ type: event, item: asName(item.type) }));
  return state;
};

/** Items of which only the beginning was read. Only the start or end of a tool matters. */
export const onLongItem = (
  state: ExecState,
  event: ItemEvent,
  item: JsonObject,
  out: DecodedItem[],
): ExecState => (TOOLS.has(item.type) ? onTool(state, event, item, out, true) : state);

const planStatus = (item: JsonObject): [string, { items: number; completed: number }] => {
  const steps = asList(item.items);
  const completed = steps.filter((step) => asObject(step)?.completed === true).length;
  const count = steps.length === 0 ? "" : ` (${completed} of ${steps.length} steps done)`;
  return [`The agent reported its plan${count}.`, { items: steps.length, completed }];
};

const onTool = (
  state: ExecState,
  event: ItemEvent,
  item: JsonObject,
  out: DecodedItem[],
  truncated = false,
): ExecState => {
  const id = asName(item.id);
  const tool: ToolFacts = {
    item_id: id,
    thread_id: asName(state.thread),
    kind: String(item.type),
    name: asName(item.tool),
    use_id: null,
  };
  const known = id !== null && state.tools.includes(id);
  if (event === "item.updated") {
    if (known) return state;
    out.push(voice.toolCall(tool));
    return remember(state, id);
  }
  if (event === "item.started") {
    if (!known) out.push(voice.toolCall(tool));
    return known ? state : remember(state, id);
  }
  if (!known) out.push(voice.toolCall(tool));
  const exit_code = asNumber(item.exit_code) ?? null;
  const refused = item.status === "failed" || item.status === "declined";
  out.push(
    voice.toolResult(tool, {
      truncated,
      failed: refused || (exit_code !== null && exit_code !== 0) || (item.error ?? null) !== null,
      exit_code: exit_code === null ? null : Math.trunc(exit_code),
      bytes: { stdout: bytesOf(item.aggregated_output), result: resultBytes(item.result) },
    }),
  );
  return known ? { ...state, tools: state.tools.filter((one) => one !== id) } : state;
};

const remember = (state: ExecState, id: string | null): ExecState =>
  id === null ? state : { ...state, tools: appended(state.tools, id, TOOLS_MAX) };

const resultBytes = (result: unknown): number =>
  asList(asObject(result)?.content).reduce<number>((sum, part) => sum + bytesOf(asObject(part)?.text), 0);
