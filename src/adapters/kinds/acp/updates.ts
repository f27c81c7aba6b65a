/** `session/update`: what the agent says and does, and notices about its session (agent-clis.md §9). */

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
import { asDollars } from "../../decoding/usage.ts";
import type { AcpState } from "./state.ts";
import { isRetryNotice, isWarning, troubleAfter } from "./told-errors.ts";
import { onTool } from "./tools.ts";
import { ended } from "./turns.ts";

const voice = voiceOf("acp");
const dialogue = dialogueOf(voice);

export const onUpdate = (state: AcpState, update: JsonObject, out: DecodedItem[]): AcpState => {
  const type = update.sessionUpdate;
  // A session that is loaded is told again from its beginning: all of that is on record. Its cost is not said again.
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
    // The prompt, back again.
    case "user_message_chunk":
      return state;
    case "plan": {
      out.push(voice.status("The agent told its plan.", { entries: asList(update.entries).length }));
      return state;
    }
  }
  const notice = typeof type === "string" ? NOTICES.get(type) : undefined;
  if (notice === undefined) out.push(voice.unknown({ type: "session/update", update: asName(type) }));
  else out.push(voice.status(notice, factsOf(type as string, update)));
  return state;
};

/** Lines of which only the beginning was read: one fact matters, namely that a tool has begun or ended. A session that is loaded is on record. */
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

/** Updates that say something to a reader and nothing to the outcome. */
const NOTICES: ReadonlyMap<string, string> = new Map([
  ["available_commands_update", "The agent told its commands."],
  ["current_mode_update", "The agent's mode changed."],
  ["config_option_update", "The agent's options changed."],
  ["notice", "The agent gave a notice."],
  ["plan_update", "The agent's plan changed."],
  ["plan_removed", "The agent gave its plan up."],
  ["compaction_update", "The agent compacted the conversation."],
  ["compaction_summary_chunk", "The agent told the summary of the conversation."],
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
    out.push(voice.status("The agent sent something that is no text.", { content: asWord(content?.type) }));
    return state;
  }
  const { text } = content;
  if (text === "") return state;
  if (isRetryNotice(state, text)) {
    out.push(voice.retrying());
    // Its next words are said anew.
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

/** The answer is the last message of the turn: what comes after a call of a tool, or under another id, is another one. */
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
    voice.status("The agent told what its session uses.", {
      context_used: used,
      context_size: asCount(update.size),
      session_cost_usd: total,
    }),
  );
  // Before the first turn, it was spent by others: a session that was loaded goes on counting.
  const counted = state.turns_started === 0 ? (total ?? 0) : state.cost.counted;
  return { ...state, context_used: used, cost: { total, counted } };
};

/** Titles; and, of codex-acp, what state its thread is in. */
const onSessionInfo = (state: AcpState, update: JsonObject, out: DecodedItem[]): AcpState => {
  const codex = asObject(asObject(update._meta)?.codex);
  const status = asString(asObject(codex?.threadStatus)?.type);
  const error = asObject(codex?.error);
  if (error?.willRetry === true) {
    const http_status = asNumber(
      asObject(Object.values(asObject(error.codexErrorInfo) ?? {})[0])?.httpStatusCode,
    );
    out.push(voice.status("The agent tries the provider again.", { http_status: http_status ?? null }));
  } else if (status === "systemError") out.push(voice.status("The agent is in trouble.", { status }));
  else if (status === undefined) out.push(voice.status("The agent told something of its session."));
  if (status === undefined) return state;
  return { ...state, trouble: status === "systemError" ? "" : null };
};
