/** Answers of an MCP server as a model gets them: text and JSON; anything else by its type and size. Pure. */
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";
import { bytesOf } from "../../../base/json.ts";
import type { JsonValue } from "../../../protocol/records.ts";
import type { ToolResult } from "../../tools.ts";

export const resultOf = ({ content, structuredContent, isError }: CallToolResult): ToolResult => ({
  output: structuredContent === undefined ? textOf(content) : (structuredContent as JsonValue),
  is_error: isError === true,
  ...(isError === true && { code: "SKILL_FAILED" }),
});

const textOf = (content: readonly ContentBlock[] = []): string => content.map(partOf).join("\n");

const partOf = (part: ContentBlock): string => {
  switch (part.type) {
    case "text":
      return part.text;
    case "image":
    case "audio":
      return `[${part.type} ${part.mimeType}, ${bytesOf(part.data)} characters of base64: not shown]`;
    case "resource_link":
      return `[resource ${part.uri}]`;
    case "resource":
      return "text" in part.resource ? part.resource.text : `[resource ${part.resource.uri}: not text]`;
  }
};
