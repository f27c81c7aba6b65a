/** The tools of an MCP server as an agent may have them. A server may lie about everything here, so nothing is believed unless the configuration says so. Pure. */
import type { Tool } from "@modelcontextprotocol/client";
import { MCP_DESCRIPTION_MAX_BYTES, MCP_SCHEMA_MAX_BYTES } from "../../../base/limits.ts";
import { cutUtf8 } from "../../../protocol/bounds.ts";
import type { McpServer } from "../../../protocol/mcp-servers.ts";
import { globFits } from "../../../protocol/permission-rules.ts";
import type { JsonValue } from "../../../protocol/records.ts";
import { type OfferedTool, toolName } from "../offered.ts";

export interface ListedTool extends OfferedTool {
  /** Its name at the server. */
  readonly own_name: string;
}

/** Undefined for a tool that is not offered. */
export const listedTool = (
  server: string,
  tool: Tool,
  { trusted, tools }: Pick<McpServer, "trusted" | "tools">,
): ListedTool | undefined => {
  const { name: own_name, description = "", inputSchema, annotations } = tool;
  if (tools !== undefined && !tools.some((pattern) => globFits(pattern, own_name))) return undefined;
  const schema = JSON.stringify(inputSchema);
  if (Buffer.byteLength(schema) > MCP_SCHEMA_MAX_BYTES) return undefined;
  const only_reads = trusted && annotations?.readOnlyHint === true;
  return {
    own_name,
    name: toolName(`mcp__${server}__${own_name}`),
    description: cutUtf8(description, MCP_DESCRIPTION_MAX_BYTES),
    input_schema: JSON.parse(schema) as JsonValue,
    is_idempotent: only_reads || (trusted && annotations?.idempotentHint === true),
    only_reads,
  };
};
