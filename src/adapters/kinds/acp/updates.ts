/**
 * Decodes `session/update`: the agent's messages and actions, and notices about its session
 * (docs/reference/adapters.md).
 */

import {
  asCount,
  asList,
  asName,
  asNumber,
  asObject,
  asString,
  asWord,
  type JsonObject,
} from "../../../base/json.ts";
import type { DecodedItem } from "../../adapter.ts";
import { dialogueOf } from "../../decoding/dialogue.ts";
import { voiceOf } from "../../decoding/events.ts";
import { keptText } from "../../decoding/final-text.ts";
import { addUsage, asDollars, NO_USAGE } from "../../decoding/usage.ts";
import type { AcpState } from "./state.ts";
import { isRetryNotice, isWarning, troubleAfter } from "./told-errors.ts";
import { onTool } from "./tools.ts";
import { ended } from "./turns.ts";
import { chunkUsage } from "./usage.ts";

const voice = voiceOf("acp");
const dialogue = dialogueOf(voice);

export const onUpdate = (state: AcpState, update: JsonObject, out: DecodedItem[]): AcpState => {
  const type = update.sessionUpdate;
  // A loaded session is replayed from its beginning, and all of that is on record. Only its cost is needed,
  // because it is not sent again.
  if (state.handshake?.step === "load") return type === "usage_update" ? onUsage(state, update, []) : state;
  switch (type) {
    case "agent_message_chunk":
      return onChunk(dialogue.working(state, out), update, "assistant", out);
    case "agent_thought_chunk":
      return onChunk(dialogue.working(state, out), update, "reasoning", out);
    case "tool_call":
      return onTool(ended(dialogue.working(state, out)), update, true, out);
    case "tool_call_update":
      return onTool(ended(dialogue.working(state, out)), update, false, out);
    case "usage_update":
      return onUsage(state, update, out);
    case "session_info_update":
      return onSessionInfo(state, update, out);
    // An echo of the prompt.
    case "user_message_chunk":
      return state;
    case "plan": {
      out.push(voice.status("The agent reported its plan.", { entries: asList(update.entries).length }));
      return state;
    }
  }
  const notice = typeof type === "string" ? NOTICES.get(type) : undefined;
  if (notice === undefined) out.push(voice.unknown({ type: "session/update", update: asName(type) }));
  else out.push(voice.status(notice, factsOf(type as string, update)));
  return state;
};

/**
 * Updates of which only the beginning was read. Only the start or end of a tool matters. The replay of a
 * loaded session is on record.
 */
export const onLongUpdate = (
  state: AcpState,
  update: JsonObject,
  out: DecodedItem[],
): AcpState | undefined => {
  if (state.handshake?.step === "load") return state;
  switch (update.sessionUpdate) {
    case "tool_call":
    case "tool_call_update":
      return onTool(ended(state), update, update.sessionUpdate === "tool_call", out, true);
    case "agent_message_chunk":
    case undefined:
      return undefined;
    default:
      return state;
  }
};

/** Updates that inform a reader and do not affect the outcome. */
const NOTICES: ReadonlyMap<string, string> = new Map([
  ["available_commands_update", "The agent reported its commands."],
  ["current_mode_update", "The agent's mode changed."],
  ["config_option_update", "The agent's options changed."],
  ["notice", "The agent gave a notice."],
  ["plan_update", "The agent's plan changed."],
  ["plan_removed", "The agent gave up its plan."],
  ["compaction_update", "The agent compacted the conversation."],
  ["compaction_summary_chunk", "The agent reported the summary of the conversation."],
]);

const factsOf = (type: string, update: JsonObject) => ({
  type,
  ...(typeof update.currentModeId === "string" ? { mode: asName(update.currentModeId) } : {}),
  ...(typeof update.severity === "string" ? { severity: asWord(update.severity) } : {}),
  ...(typeof update.status === "string" ? { status: asWord(update.status) } : {}),
  ...(Array.isArray(update.availableCommands) ? { commands: update.availableCommands.length } : {}),
});

const onChunk = (
  state: AcpState,
  update: JsonObject,
  channel: "assistant" | "reasoning",
  out: DecodedItem[],
): AcpState => {
  const content = asObject(update.content);
  if (content?.type !== "text" || typeof content.text !== "string") {
    out.push(voice.status("The agent sent something other than text.", { content: asWord(content?.type) }));
    return state;
  }
  const { text } = content;
  if (text === "") return onChunkUsage(state, update, out);
  if (isRetryNotice(state, text)) {
    out.push(voice.retrying());
    // The next text begins a new message.
    return ended(state);
  }
  const message_id = asName(update.messageId);
  if (isWarning(state, text, message_id)) {
    out.push(voice.status("The agent gave a warning."));
    return ended(state);
  }
  out.push(voice.text(channel, text, { message_id }));
  return channel === "assistant" ? said(state, message_id, text) : ended(state);
};

const onChunkUsage = (state: AcpState, update: JsonObject, out: DecodedItem[]): AcpState => {
  const told = chunkUsage(update);
  if (told === undefined) return state;
  const turn_usage = addUsage(state.turn_usage ?? NO_USAGE, told);
  out.push({ type: "turn_usage", usage: turn_usage });
  return { ...state, turn_usage };
};

/**
 * The answer is the last message of the turn. Text after a tool call, or with another id, begins a new
 * message.
 */
const said = (state: AcpState, id: string | null, text: string): AcpState => {
  const trouble = troubleAfter(state, text, id);
  const goesOn = state.said.state !== "ended" && state.said.id === id;
  if (goesOn && state.said.state === "full") return trouble === state.trouble ? state : { ...state, trouble };
  const whole = goesOn ? state.said.text + text : text;
  const kept = keptText(whole);
  return {
    ...state,
    trouble,
    said: { id, text: kept, state: kept === whole ? "open" : "full" },
  };
};

/** The cost of the session so far, and how full its context is. Some agents repeat it with every step. */
const onUsage = (state: AcpState, update: JsonObject, out: DecodedItem[]): AcpState => {
  const told = asObject(update.cost);
  const total = (told?.currency === "USD" ? asDollars(told.amount) : undefined) ?? state.cost.total;
  const used = asCount(update.used);
  if (used === state.context_used && total === state.cost.total) return state;
  out.push(
    voice.status("The agent reported the usage of its session.", {
      context_used: used,
      context_size: asCount(update.size),
      session_cost_usd: total,
    }),
  );
  // Cost before the first turn belongs to earlier runs: a loaded session continues its count.
  const counted = state.turns_started === 0 ? (total ?? 0) : state.cost.counted;
  return { ...state, context_used: used, cost: { total, counted } };
};

/** Titles, and the state of codex-acp's thread. */
const onSessionInfo = (state: AcpState, update: JsonObject, out: DecodedItem[]): AcpState => {
  const codex = asObject(asObject(update._meta)?.codex);
  const status = asString(asObject(codex?.threadStatus)?.type);
  const error = asObject(codex?.error);
  if (error?.willRetry === true) {
    const http_status = asNumber(
      asObject(Object.values(asObject(error.codexErrorInfo) ?? {})[0])?.httpStatusCode,
    );
    out.push(
      voice.status("The agent retries its request to the provider.", { http_status: http_status ?? null }),
    );
  } else if (status === "systemError") out.push(voice.status("The agent is in trouble.", { status }));
  else if (status === undefined) out.push(voice.status("The agent reported something about its session."));
  if (status === undefined) return state;
  return { ...state, trouble: status === "systemError" ? "" : null };
};
