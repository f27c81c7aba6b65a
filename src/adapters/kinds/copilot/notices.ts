/** Types of Copilot CLI that inform a reader and do not affect the outcome, and types that are dropped. */

export const NOTICES: ReadonlyMap<unknown, string> = new Map([
  ["abort", "The agent was interrupted."],
  ["agent.interrupted", "The agent was interrupted in the middle of something."],
  ["assistant.turn_retry", "The agent's CLI retries its request to the provider."],
  ["session.compaction_complete", "The conversation was shortened."],
  ["session.compaction_start", "The conversation is being shortened."],
  ["session.error", "A sub-agent reported an error."],
  ["session.info", "The agent's CLI gave a notice."],
  ["session.model_change", "The agent changed its model."],
  ["session.truncation", "The conversation was cut."],
  ["session.warning", "The agent's CLI gave a warning."],
  ["subagent.completed", "A sub-agent is done."],
  ["subagent.configured", "A sub-agent was configured."],
  ["subagent.failed", "A sub-agent failed."],
  ["subagent.selected", "A sub-agent was chosen."],
  ["subagent.started", "A sub-agent started."],
]);

/**
 * Frames, housekeeping, and pieces that are repeated as a whole. Some are printed dozens of times for each
 * call.
 */
export const DROPPED: ReadonlySet<unknown> = new Set([
  "assistant.idle",
  "assistant.message_start",
  "assistant.tool_call_delta",
  "assistant.turn_end",
  "model.call_final_result",
  "model.call_finished",
  "model.call_start",
  "session.background_tasks_changed",
  "session.mcp_server_status_changed",
  "session.mcp_server_tools_loaded",
  "session.mcp_servers_loaded",
  "session.skills_loaded",
  "session.tools_updated",
  "tool.execution_partial_result",
  "tool.shell_output",
]);
