/** The tools of one MCP server, which may end, hang, lie and flood. */
import { asObject } from "../../../base/json.ts";
import { MCP_RESTARTS_MAX } from "../../../base/limits.ts";
import { HoldfastError } from "../../../protocol/errors.ts";
import type { McpServer } from "../../../protocol/mcp-servers.ts";
import type { ToolCall } from "../../model.ts";
import type { Secrets } from "../../secrets.ts";
import type { ToolContext, ToolResult } from "../../tools.ts";
import type { OfferedTool, ToolSource } from "../offered.ts";
import type { McpBounds, McpConnection } from "./connection.ts";
import { resultOf } from "./content.ts";
import { type ListedTool, listedTool } from "./listing.ts";

export interface McpSourceOptions {
  readonly name: string;
  readonly server: McpServer;
  /** The directory in which a program runs. */
  readonly cwd: string;
  readonly secrets: Secrets;
  /** Default: MCP_CONNECT_MAX_MS and MCP_CALL_MAX_MS. */
  readonly bounds?: McpBounds;
}

class McpSource implements ToolSource {
  private readonly options: McpSourceOptions;
  private readonly tools = new Map<string, ListedTool>();
  private connection: Promise<McpConnection> | undefined;
  private starts = 0;

  constructor(options: McpSourceOptions) {
    this.options = options;
  }

  async list(): Promise<readonly OfferedTool[]> {
    const { name, server } = this.options;
    const connection = await this.connected();
    for (const tool of await connection.tools()) {
      const offered = listedTool(name, tool, server);
      if (offered !== undefined && !this.tools.has(offered.name)) this.tools.set(offered.name, offered);
    }
    return [...this.tools.values()].map(({ own_name: _, ...tool }) => tool);
  }

  async run({ name, input }: ToolCall, { signal }: ToolContext): Promise<ToolResult> {
    const tool = this.tools.get(name);
    const given = asObject(input);
    if (tool === undefined || given === undefined)
      return { output: `The input of ${name} is no JSON object.`, is_error: true, code: "INVALID_REQUEST" };
    let connection: McpConnection;
    try {
      connection = await this.connected();
    } catch (cause) {
      const { code, message } = cause as HoldfastError;
      return { output: message, is_error: true, code };
    }
    try {
      return resultOf(await connection.call(tool.own_name, given, signal));
    } catch (cause) {
      signal.throwIfAborted();
      return this.failed(connection, cause);
    }
  }

  async close(): Promise<void> {
    const connection = await this.connection?.catch(() => undefined);
    await connection?.close();
  }

  /** A server that has ended is started again, a few times. */
  private async connected(): Promise<McpConnection> {
    const connection = await this.connection;
    if (connection !== undefined && !connection.isOver()) return connection;
    if (this.starts > MCP_RESTARTS_MAX)
      throw new HoldfastError(
        "SKILL_DOWN",
        `The MCP server ${this.options.name} has ended ${this.starts} times.`,
      );
    this.starts += 1;
    const { connectMcp } = await import("./connection.ts");
    this.connection = connectMcp(this.options);
    this.connection.catch(() => {
      this.connection = undefined;
    });
    return this.connection;
  }

  private failed(connection: McpConnection, cause: unknown): ToolResult {
    const { name } = this.options;
    const isAnswer = typeof (cause as { code?: unknown }).code === "number";
    if (connection.isOver())
      return {
        output: `The MCP server ${name} ended during the call, which may have had its effect.`,
        is_error: true,
        code: "SKILL_DOWN",
      };
    return isAnswer
      ? { output: (cause as Error).message, is_error: true, code: "SKILL_FAILED" }
      : {
          output: `The MCP server ${name} gave no valid answer in time. The call may have had its effect.`,
          is_error: true,
          code: "SKILL_FAILED",
        };
  }
}

export const mcpTools = (options: McpSourceOptions): ToolSource => new McpSource(options);
