/** Records of a session as updates of the Agent Client Protocol, for an editor. Pure. */
import type { SessionUpdate, ToolKind } from "@agentclientprotocol/sdk";
import { asName, asObject, type JsonObject } from "../../base/json.ts";
import type { LogRecord } from "../../protocol/records.ts";

type AgentEventRecord = Extract<LogRecord, { type: "agent.event" }>;

export const updatesOf = (record: LogRecord): readonly SessionUpdate[] => {
  switch (record.type) {
    case "worker_spawn_requested": {
      const { prompt } = record.payload.spec;
      return prompt === undefined ? [] : [userText(prompt)];
    }
    case "worker_message": {
      const text = messageText(record);
      return text === undefined ? [] : [userText(text)];
    }
    case "agent.event":
      return ofEvent(record);
    default:
      return [];
  }
};

/** The text of a message that a person or another client sent; undefined for any other step, and for lines of the runtime. */
export const messageText = (record: LogRecord): string | undefined =>
  record.type === "worker_message" && record.payload.state === "accepted" && !record.payload.line
    ? record.payload.text
    : undefined;

const textOf = (text: string) => ({ content: { type: "text", text } }) as const;
const userText = (text: string): SessionUpdate => ({ sessionUpdate: "user_message_chunk", ...textOf(text) });

const ofEvent = ({ id, payload }: AgentEventRecord): readonly SessionUpdate[] => {
  const { kind, channel, text = "" } = payload;
  const tool = asObject(asObject(payload.data)?.tool);
  switch (kind) {
    case "TextOutput":
      if (channel === "reasoning") return [{ sessionUpdate: "agent_thought_chunk", ...textOf(text) }];
      return channel === "assistant" || channel === "stdout"
        ? [{ sessionUpdate: "agent_message_chunk", ...textOf(text) }]
        : [];
    case "ToolCall": {
      const title = asName(tool?.tool_name) ?? "tool";
      const call = {
        toolCallId: callId(tool, id),
        title,
        kind: kindOf(tool),
        status: "in_progress",
      } as const;
      return [{ sessionUpdate: "tool_call", ...call }];
    }
    case "ToolResult": {
      const status = tool?.phase === "fail" ? "failed" : "completed";
      return [{ sessionUpdate: "tool_call_update", toolCallId: callId(tool, id), status }];
    }
    default:
      return [];
  }
};

const callId = (tool: JsonObject | undefined, record: string): string => asName(tool?.tool_use_id) ?? record;

const TOOL_KINDS: readonly string[] = [
  "read",
  "edit",
  "delete",
  "move",
  "search",
  "execute",
  "think",
  "fetch",
  "switch_mode",
] satisfies ToolKind[];

const kindOf = (tool: JsonObject | undefined): ToolKind =>
  TOOL_KINDS.includes(String(tool?.kind)) ? (tool?.kind as ToolKind) : "other";
