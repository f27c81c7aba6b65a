/**
 * Decodes `system` lines: the start of a turn, retries, refusals, background tasks. All of them become Status
 * events.
 */

import { asList, asName, asNumber, asWord, type JsonObject } from "../../../base/json.ts";
import type { DecodedItem } from "../../adapter.ts";
import { type EventFacts, voiceOf } from "../../decoding/events.ts";
import { turnBegan } from "../../decoding/steps.ts";
import type { ClaudeState } from "./state.ts";

const voice = voiceOf("claude_code");

export const onSystem = (state: ClaudeState, event: JsonObject, out: DecodedItem[]): ClaudeState => {
  switch (event.subtype) {
    case "init":
      return { ...turnBegan(state, out), model: asName(event.model) ?? state.model ?? null };
    case "api_retry":
      return onRetry(state, event, out);
    case "permission_denied":
      out.push(voice.denied({ tool_name: asName(event.tool_name), tool_use_id: asName(event.tool_use_id) }));
      return state;
    case "background_tasks_changed":
      out.push(voice.status(BACKGROUND_CHANGED, noticeFacts(event)));
      return { ...state, background: asList(event.tasks).length };
    // Sent several times a second while the model thinks. The thoughts themselves are recorded as reasoning.
    case "thinking_tokens":
      return state;
  }
  const notice = typeof event.subtype === "string" ? NOTICES.get(event.subtype) : undefined;
  if (notice === undefined) out.push(voice.unknown({ type: "system", subtype: asName(event.subtype) }));
  else out.push(voice.status(notice, noticeFacts(event)));
  return state;
};

const BACKGROUND_CHANGED = "The list of background tasks changed.";

/** A retry is not an error yet. The delay is the CLI's own, not a promise of the provider. */
const onRetry = (state: ClaudeState, event: JsonObject, out: DecodedItem[]): ClaudeState => {
  const status = asNumber(event.error_status) ?? 0;
  const tried = { retry: asNumber(event.attempt) ?? null, max_retries: asNumber(event.max_retries) ?? null };
  const delay = asNumber(event.retry_delay_ms);
  out.push(
    voice.retrying(tried, {
      delay_ms: delay === undefined ? null : Math.round(delay),
      http_status: status === 0 ? null : status,
      error: asWord(event.error),
    }),
  );
  return status === state.retry_status ? state : { ...state, retry_status: status };
};

const noticeFacts = (event: JsonObject): EventFacts => {
  const facts: { [key: string]: string | null } = { subtype: asName(event.subtype) };
  for (const key of [
    "status",
    "task_id",
    "task_type",
    "subagent_type",
    "tool_use_id",
    "hook_name",
    "hook_event",
  ]) {
    if (typeof event[key] === "string") facts[key] = asName(event[key]);
  }
  return facts;
};

const NOTICES: ReadonlyMap<string, string> = new Map([
  ["status", "The agent's CLI reported its state."],
  ["task_started", "A background task started."],
  ["task_progress", "A background task continued."],
  ["task_updated", "A background task changed."],
  ["task_notification", "A background task reported back."],
  ["hook_started", "A hook started."],
  ["hook_progress", "A hook continued."],
  ["hook_response", "A hook ended."],
  ["informational", "The agent's CLI gave a notice."],
  ["notification", "The agent's CLI gave a notice."],
  ["model_refusal_no_fallback", "The model refused to answer."],
  ["model_refusal_fallback", "The model refused to answer, and another model was asked."],
  ["ui_invalidate", "The agent's CLI redrew its screen."],
  ["compact_boundary", "The conversation was compacted."],
  ["session_state_changed", "The state of the session changed."],
  ["commands_changed", "The commands of the agent's CLI changed."],
  ["plugin_install", "A plugin was installed."],
  ["files_persisted", "Files were kept for later."],
  ["memory_recall", "The agent recalled a memory."],
  ["local_command_output", "A command of the agent's CLI printed something."],
  ["elicitation_complete", "A question of a tool was answered."],
  ["mirror_error", "A copy of the session could not be written."],
  ["worker_shutting_down", "The agent's CLI is shutting down."],
  ["control_request_progress", "A request to the host is under way."],
]);
