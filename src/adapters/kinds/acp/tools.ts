/**
 * Tool calls of ACP: all `tool_call` and `tool_call_update` with the same id are one call. The call is
 * recorded when its id first appears, and its result once. Some agents first name a call when they ask for
 * permission, and some never report the result of a refused one.
 */

import { appended } from "../../../base/bounded-list.ts";
import { asList, asName, asNumber, asObject, asString, asWord, type JsonObject } from "../../../base/json.ts";
import type { DecodedItem } from "../../adapter.ts";
import { type ToolEnd, type ToolFacts, voiceOf } from "../../decoding/events.ts";
import { type AcpState, DONE_MAX, type OpenTool, TOOLS_MAX } from "./state.ts";

const voice = voiceOf("acp");

/**
 * `again`: the agent reports the start of a call, so an id of an earlier turn belongs to a new call. Within a turn it does not:
 * Cline starts a refused call once more, only to fail it again.
 */
export const onTool = (
  state: AcpState,
  update: JsonObject,
  again: boolean,
  out: DecodedItem[],
  truncated = false,
): AcpState => {
  const id = asName(update.toolCallId);
  if (id === null) {
    out.push(voice.unknown({ type: "tool_call", reason: "no id" }));
    return state;
  }
  if (state.done.includes(id) || (!again && state.done_before.includes(id))) return state;
  const known = state.tools.find((tool) => tool.id === id);
  const tool = merged(known ?? begun(id, update), update);
  const status = update.status;
  const isOver = status === "completed" || status === "failed";
  if (known === undefined) out.push(voice.toolCall(factsOf(state, tool)));
  const others = state.tools.filter((one) => one !== known);
  const done_before = state.done_before.filter((one) => one !== id);
  if (!isOver && tool === known) return state;
  if (!isOver)
    return {
      ...state,
      done_before,
      tools: known === undefined ? appended(others, tool, TOOLS_MAX) : [...others, tool],
    };
  const end = endOf(tool, update, status === "failed");
  out.push(voice.toolResult(factsOf(state, tool), { ...end, truncated }));
  return {
    ...state,
    tools: others,
    done: appended(state.done, id, DONE_MAX),
    done_before,
    asks: state.asks.filter((ask) => ask.tool !== id),
  };
};

/** The turn is over: calls without a result will not get one. */
export const endTools = (state: AcpState, out: DecodedItem[]): AcpState => {
  if (state.tools.length === 0 && state.done.length === 0) return state;
  for (const tool of state.tools)
    out.push(voice.toolResult(factsOf(state, tool), { ...NO_END, bytes: bytesOf(tool) }));
  const over = [...state.done, ...state.tools.map(({ id }) => id)];
  const done_before = over.reduce((ids, id) => appended(ids, id, DONE_MAX), state.done_before);
  return { ...state, tools: [], done: [], done_before };
};

const NO_END = { failed: true, exit_code: null } as const;

/** Two agents report the tool's name; of the others only the kind of the tool is known. */
const begun = (id: string, update: JsonObject): OpenTool => {
  const kind = asWord(update.kind) ?? "other";
  const claude = asObject(asObject(update._meta)?.claudeCode);
  return {
    id,
    kind,
    name: asName(update.name) ?? asName(claude?.toolName) ?? (kind === "other" ? null : kind),
    result: 0,
    stdout: 0,
  };
};

/** Content is cumulative, but codex's output comes in pieces. */
const merged = (tool: OpenTool, update: JsonObject): OpenTool => {
  const meta = asObject(update._meta);
  const piece = asString(asObject(meta?.terminal_output_delta)?.data);
  const whole = asString(asObject(asObject(meta?.claudeCode)?.toolResponse)?.stdout);
  const result = contentBytes(update.content);
  const stdout = whole === undefined ? tool.stdout + bytes(piece) : bytes(whole);
  if (result === undefined && stdout === tool.stdout) return tool;
  return { ...tool, result: result ?? tool.result, stdout };
};

const contentBytes = (content: unknown): number | undefined =>
  Array.isArray(content)
    ? content.reduce<number>((sum, part) => sum + bytes(asObject(asObject(part)?.content)?.text), 0)
    : undefined;

const bytes = (text: unknown): number => (typeof text === "string" ? Buffer.byteLength(text) : 0);

const factsOf = ({ session }: AcpState, { id, name, kind }: OpenTool): ToolFacts => ({
  item_id: null,
  thread_id: session,
  kind,
  name,
  use_id: id,
});

const bytesOf = ({ stdout, result }: OpenTool) => ({ stdout, result });

const endOf = (tool: OpenTool, update: JsonObject, failed: boolean): ToolEnd => ({
  failed,
  exit_code: exitCode(update),
  bytes: bytesOf(tool),
});

/**
 * The exit code: from codex in `_meta` or in the output, from copilot in a part of the output, from others as
 * text or not at all.
 */
const exitCode = (update: JsonObject): number | null => {
  const output = asObject(update.rawOutput);
  const shell = asList(output?.contents)
    .map(asObject)
    .find((part) => part?.type === "shell_exit");
  const code =
    asNumber(asObject(asObject(update._meta)?.terminal_exit)?.exit_code) ??
    asNumber(output?.exit_code) ??
    asNumber(shell?.exitCode);
  return code !== undefined && Number.isSafeInteger(code) ? code : null;
};
