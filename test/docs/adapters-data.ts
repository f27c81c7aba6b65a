/** The part of docs/reference/adapters.md that no run shows: types that its CLI documents and no run has printed. */

export interface Documented {
  /** Lines of types that are documented, with as much in them as the type needs. */
  readonly documented: readonly object[];
  /** The same of the way in which it is spoken with, where it has another. */
  readonly spoken?: readonly object[];
}

const each = (names: string, line: (name: string) => object): readonly object[] =>
  names.split(/\s+/).map(line);

export const DOCUMENTED: Readonly<Record<string, Documented>> = {
  claude_code: {
    documented: [
      ...each(
        `compact_boundary hook_started hook_progress hook_response notification session_state_changed commands_changed
         plugin_install files_persisted memory_recall local_command_output elicitation_complete mirror_error
         worker_shutting_down control_request_progress model_refusal_fallback thinking_tokens`,
        (subtype) => ({ type: "system", subtype }),
      ),
      ...each(
        `control_response control_cancel_request rate_limit_event tool_progress tool_use_summary auth_status
         prompt_suggestion conversation_reset active_goal keep_alive command_lifecycle`,
        (type) => ({ type }),
      ),
      ...each("redacted_thinking server_tool_use mcp_tool_use", (type) => ({
        type: "assistant",
        message: { content: [{ type }] },
      })),
      { type: "assistant", message: { content: [{ type: "web_search_tool_result" }] } },
    ],
  },
  codex: {
    documented: [
      { type: "thread.resumed", thread_id: "t" },
      { type: "item.plan.delta" },
      { type: "request_user_input" },
      ...each("web_search", (type) => ({ type: "item.started", item: { id: "i", type } })),
      ...each("todo_list plan", (type) => ({ type: "item.completed", item: { id: "i", type } })),
    ],
    spoken: [
      ...each(
        `mcpToolCall dynamicToolCall collabAgentToolCall webSearch imageView imageGeneration sleep plan contextCompaction
         enteredReviewMode exitedReviewMode subAgentActivity hookPrompt functionCallOutput`,
        (type) => ({ method: "item/completed", params: { item: { id: "i", type } } }),
      ),
      { method: "item/reasoning/summaryTextDelta", params: { itemId: "i", delta: "x" } },
      ...each(
        `turn/plan/updated thread/compacted thread/closed model/rerouted mcpServer/startupStatus/updated guardianWarning
         deprecationNotice`,
        (method) => ({ method, params: {} }),
      ),
      ...each("item/permissions/requestApproval mcpServer/elicitation/request", (method) => ({
        id: 0,
        method,
        params: { itemId: "i" },
      })),
    ],
  },
  gemini_cli: {
    documented: [{ type: "error", severity: "warning", message: "" }],
  },
  qwen_code: {
    documented: [
      ...each(
        "task_started task_notification model_fallback session_start session_end worktree_started continue_turn_failed",
        (subtype) => ({ type: "system", subtype }),
      ),
      ...each("message_start content_block_delta message_stop", (type) => ({
        type: "stream_event",
        event: { type },
      })),
    ],
  },
  acp: {
    documented: [
      ...each("agent_message_chunk agent_thought_chunk user_message_chunk", (sessionUpdate) => ({
        jsonrpc: "2.0",
        method: "session/update",
        params: { sessionId: "s", update: { sessionUpdate, content: { type: "text", text: "x" } } },
      })),
      ...each("pending completed", (status) => ({
        jsonrpc: "2.0",
        method: "session/update",
        params: {
          sessionId: "s",
          update: { sessionUpdate: "tool_call", toolCallId: "t", title: "x", kind: "execute", status },
        },
      })),
      ...each("completed failed", (status) => ({
        jsonrpc: "2.0",
        method: "session/update",
        params: { sessionId: "s", update: { sessionUpdate: "tool_call_update", toolCallId: "t", status } },
      })),
      ...each(
        "plan usage_update session_info_update available_commands_update current_mode_update config_option_update",
        (sessionUpdate) => ({
          jsonrpc: "2.0",
          method: "session/update",
          params: { sessionId: "s", update: { sessionUpdate } },
        }),
      ),
      {
        jsonrpc: "2.0",
        id: 1,
        method: "session/request_permission",
        params: {
          sessionId: "s",
          toolCall: { toolCallId: "t", title: "x" },
          options: [{ optionId: "o", kind: "allow_once", name: "x" }],
        },
      },
      ...each("fs/read_text_file terminal/create", (method) => ({
        jsonrpc: "2.0",
        id: 2,
        method,
        params: {},
      })),
    ],
  },
};
