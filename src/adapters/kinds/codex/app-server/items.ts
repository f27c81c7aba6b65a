/**
 * The items of a turn: answers, reasoning and tools. Text is recorded as its deltas arrive, or whole if there
 * were none. The inputs and outputs of tools stay in the spool.
 */

import { appended } from "../../../../base/bounded-list.ts";
import {
  asList,
  asName,
  asNumber,
  asObject,
  asString,
  bytesOf,
  type JsonObject,
} from "../../../../base/json.ts";
import type { DecodedItem } from "../../../adapter.ts";
import { type ToolFacts, voiceOf } from "../../../decoding/events.ts";
import { keptText } from "../../../decoding/final-text.ts";
import {
  type AppServerState,
  DONE_MAX,
  IN_PIECES_MAX,
  ITEMS_MAX,
  type OpenItem,
  PATHS_MAX_BYTES,
} from "./state.ts";

const voice = voiceOf("codex");

/** Types of tools, and their names in `codex exec`. */
const TOOLS: ReadonlyMap<unknown, string> = new Map([
  ["commandExecution", "command_execution"],
  ["fileChange", "file_change"],
  ["mcpToolCall", "mcp_tool_call"],
  ["dynamicToolCall", "dynamic_tool_call"],
  ["collabAgentToolCall", "collab_tool_call"],
  ["webSearch", "web_search"],
  ["imageView", "image_view"],
  ["imageGeneration", "image_generation"],
  ["sleep", "sleep"],
]);

/** Items that inform a reader and do not affect the outcome. */
const NOTICES: ReadonlyMap<unknown, string> = new Map([
  ["plan", "The agent reported its plan."],
  ["contextCompaction", "The agent compacted the conversation."],
  ["enteredReviewMode", "The agent began a review."],
  ["exitedReviewMode", "The agent ended its review."],
  ["subAgentActivity", "A sub-agent of codex did something."],
  ["hookPrompt", "A hook spoke to the agent."],
  ["functionCallOutput", "The agent was given the output of a function."],
]);

type ItemPhase = "started" | "completed";

export const onItem = (
  before: AppServerState,
  phase: ItemPhase,
  item: JsonObject | undefined,
  out: DecodedItem[],
): AppServerState => {
  const id = asName(item?.id);
  if (id !== null && before.done?.includes(id) === true) return before;
  const state = toldItem(before, phase, item, out);
  return phase === "started" || id === null
    ? state
    : { ...state, done: appended(state.done ?? [], id, DONE_MAX) };
};

const toldItem = (
  state: AppServerState,
  phase: ItemPhase,
  item: JsonObject | undefined,
  out: DecodedItem[],
): AppServerState => {
  const kind = TOOLS.get(item?.type);
  if (item !== undefined && kind !== undefined) {
    // A turn continues after a tool, but an answer may be its end.
    if (state.turn_usage.input_tokens > 0) out.push({ type: "turn_usage", usage: state.turn_usage });
    return onTool(state, phase, kind, item, out);
  }
  switch (item?.type) {
    // An echo of the message.
    case "userMessage":
      return state;
    case "agentMessage":
    case "reasoning":
      return phase === "completed" ? onText(state, item, out) : state;
  }
  const notice = NOTICES.get(item?.type);
  if (notice === undefined) out.push(voice.unknown({ type: `item/${phase}`, item: asName(item?.type) }));
  else if (phase === "completed") out.push(voice.status(notice, { item_id: asName(item?.id) }));
  return state;
};

/** Items of which only the beginning was read. Only the start or end of a tool matters. */
export const onLongItem = (
  before: AppServerState,
  phase: ItemPhase,
  item: JsonObject | undefined,
  out: DecodedItem[],
): AppServerState => {
  const kind = TOOLS.get(item?.type);
  const id = asName(item?.id);
  if (item === undefined || kind === undefined || id === null || before.done?.includes(id) === true)
    return before;
  const state = onTool(before, phase, kind, item, out, true);
  return phase === "started" ? state : { ...state, done: appended(state.done ?? [], id, DONE_MAX) };
};

const onText = (state: AppServerState, item: JsonObject, out: DecodedItem[]): AppServerState => {
  const id = asName(item.id);
  const isAnswer = item.type === "agentMessage";
  const text = isAnswer ? asString(item.text) : thoughtOf(item);
  if (text === undefined) return state;
  const wasTold = id !== null && state.in_pieces.includes(id);
  if (!wasTold && text !== "")
    out.push(voice.text(isAnswer ? "assistant" : "reasoning", text, { message_id: id }));
  return {
    ...state,
    in_pieces: wasTold ? state.in_pieces.filter((one) => one !== id) : state.in_pieces,
    text: isAnswer ? keptText(text) : state.text,
  };
};

/** The summary of the reasoning, else the reasoning itself. */
const thoughtOf = ({ summary, content }: JsonObject): string => {
  const texts = [summary, content].map((list) => asList(list).filter((part) => typeof part === "string"));
  return (texts.find((list) => list.length > 0) ?? []).join(BETWEEN_PARTS);
};

/**
 * Handles `item/agentMessage/delta`, and the deltas of reasoning summaries. The raw reasoning is a longer
 * form of the summary.
 */
export const onDelta = (
  state: AppServerState,
  channel: "assistant" | "reasoning",
  params: JsonObject | undefined,
  out: DecodedItem[],
): AppServerState => {
  const text = asString(params?.delta) ?? "";
  const id = asName(params?.itemId);
  // Without an id, the whole text could not be recognised as a repetition.
  if (text === "" || id === null) return state;
  out.push(voice.text(channel, text, { message_id: id }));
  return state.in_pieces.includes(id)
    ? state
    : { ...state, in_pieces: appended(state.in_pieces, id, IN_PIECES_MAX) };
};

/** Separates the parts of a summary, in pieces as in the whole text. */
export const onThoughtPart = (
  state: AppServerState,
  params: JsonObject | undefined,
  out: DecodedItem[],
): AppServerState => {
  const id = asName(params?.itemId);
  if (id !== null && state.in_pieces.includes(id))
    out.push(voice.text("reasoning", BETWEEN_PARTS, { message_id: id }));
  return state;
};

const BETWEEN_PARTS = "\n\n";

const onTool = (
  state: AppServerState,
  phase: ItemPhase,
  kind: string,
  item: JsonObject,
  out: DecodedItem[],
  truncated = false,
): AppServerState => {
  const id = asName(item.id);
  const known = state.items.find((one) => one.id === id);
  const tool = known ?? { id: id ?? "", kind, name: asName(item.tool), paths: pathsOf(item) };
  if (known === undefined) out.push(voice.toolCall(factsOf(state, tool)));
  if (phase === "started")
    return known !== undefined || id === null
      ? state
      : { ...state, items: appended(state.items, tool, ITEMS_MAX) };
  const exit_code = asNumber(item.exitCode);
  out.push(
    voice.toolResult(factsOf(state, tool), {
      truncated,
      failed: hasFailed(item, exit_code),
      exit_code: exit_code === undefined ? null : Math.trunc(exit_code),
      bytes: { stdout: bytesOf(item.aggregatedOutput), result: resultBytes(item) },
    }),
  );
  return {
    ...state,
    items: state.items.filter((one) => one !== known),
    asks: state.asks.filter((ask) => ask.item !== id),
  };
};

const hasFailed = (item: JsonObject, exit_code: number | undefined): boolean =>
  item.status === "failed" ||
  item.status === "declined" ||
  (exit_code ?? 0) !== 0 ||
  (item.error ?? null) !== null ||
  item.success === false;

const resultBytes = (item: JsonObject): number =>
  [...asList(asObject(item.result)?.content), ...asList(item.contentItems)].reduce<number>(
    (sum, part) => sum + bytesOf(asObject(part)?.text),
    0,
  );

/** The paths of a change, including the new path of a moved file; null if they are not kept. */
const pathsOf = ({ changes }: JsonObject): readonly string[] | null => {
  if (!Array.isArray(changes)) return null;
  const paths = changes.map(asObject).flatMap((change) => {
    const moved = asObject(change?.kind)?.move_path ?? null;
    return moved === null ? [change?.path] : [change?.path, moved];
  });
  const isText = (path: unknown): path is string => typeof path === "string";
  return paths.every(isText) && bytesOf(JSON.stringify(paths)) <= PATHS_MAX_BYTES ? paths : null;
};

/**
 * The turn is over: items without a result will not get one, because codex does not report the end of an
 * interrupted command.
 */
export const endItems = (state: AppServerState, out: DecodedItem[]): AppServerState => {
  if (state.items.length === 0) return state;
  for (const item of state.items)
    out.push(voice.toolResult(factsOf(state, item), { failed: true, exit_code: null }));
  return { ...state, items: [] };
};

const factsOf = ({ thread }: AppServerState, { id, kind, name }: OpenItem): ToolFacts => ({
  item_id: id === "" ? null : id,
  thread_id: asName(thread),
  kind,
  name,
  use_id: null,
});
