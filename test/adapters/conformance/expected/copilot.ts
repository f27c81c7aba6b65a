/** Copilot CLI's JSON lines: deltas and wholes, tools by call id, one result at the end. */
import { gathered, NOTHING_USED, type Reader, textOf } from "./expected.ts";
import { distinct, get, getText, ofType, unlisted } from "./printed.ts";

const TYPES = new Set(
  `assistant.message_delta assistant.message assistant.reasoning_delta assistant.reasoning tool.execution_start
 tool.execution_complete tool.shell_output tool.execution_partial_result assistant.tool_call_delta session.error
 model.call_failure assistant.turn_retry session.info session.warning abort agent.interrupted subagent.started
 subagent.configured subagent.selected subagent.completed session.background_tasks_changed session.tools_updated
 session.skills_loaded session.mcp_servers_loaded session.mcp_server_status_changed session.mcp_server_tools_loaded
 model.call_start model.call_finished model.call_final_result assistant.turn_start assistant.turn_end assistant.idle
 assistant.message_start user.message result`.split(/\s+/),
);

const SAYS: Readonly<Record<string, readonly ["assistant" | "reasoning", "whole" | "piece", string]>> = {
  "assistant.message": ["assistant", "whole", "data.content"],
  "assistant.message_delta": ["assistant", "piece", "data.deltaContent"],
  "assistant.reasoning": ["reasoning", "whole", "data.content"],
  "assistant.reasoning_delta": ["reasoning", "piece", "data.deltaContent"],
};

/** The text of a sub-agent is no answer of the agent. */
const isMain = (line: unknown): boolean => getText(line, "agentId") === undefined;

export const copilot: Reader = (lines) => {
  const result = ofType(lines, "result").at(-1);
  const stopped = ofType(lines, "abort", "agent.interrupted").length > 0;
  const well = result !== undefined && get(result, "exitCode") === 0 && !stopped;
  const said = gathered(
    ofType(lines, ...Object.keys(SAYS)).flatMap((line) => {
      const [channel, how, path] = SAYS[String(line.type)]!;
      const text = getText(line, path);
      const message = getText(line, "data.messageId") ?? getText(line, "data.reasoningId") ?? "";
      return text === undefined ? [] : [{ channel, message, [how]: text }];
    }),
  );
  const main = new Set(
    ofType(lines, "assistant.message")
      .filter(isMain)
      .map((line) => getText(line, "data.messageId") ?? ""),
  );
  const answer = said.findLast((one) => main.has(one.message) && textOf([one], "assistant") !== "");
  return {
    sessions: distinct(ofType(lines, "result").map((line) => getText(line, "sessionId"))),
    said,
    calls: ofType(lines, "tool.execution_start").map(
      (line) => `${getText(line, "data.toolCallId")} ${getText(line, "data.toolName")}`,
    ),
    results: ofType(lines, "tool.execution_complete").map(
      (line) => `${getText(line, "data.toolCallId")} ${get(line, "data.success") === true ? "ok" : "failed"}`,
    ),
    asks: 0,
    turns: ofType(lines, "result").length,
    used: NOTHING_USED,
    ending: result === undefined ? "open" : well ? "well" : "badly",
    final: well && answer !== undefined ? textOf([answer], "assistant") : null,
    unknown: unlisted(lines, TYPES).length,
  };
};
