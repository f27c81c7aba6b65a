/** A connection to one MCP server, by the official client: a program on stdio, or an address. Loaded for an agent that has one. */
import {
  type CallToolResult,
  Client,
  SdkError,
  SdkErrorCode,
  StreamableHTTPClientTransport,
  type Tool,
  type Transport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import {
  MCP_CALL_MAX_MS,
  MCP_CONNECT_MAX_MS,
  MCP_MESSAGE_MAX_BYTES,
  MCP_PAGES_MAX,
  MCP_TOOLS_MAX,
} from "../../../base/limits.ts";
import { isSecretReference } from "../../../base/secrets/references.ts";
import { VERSION } from "../../../base/version.ts";
import { HoldfastError } from "../../../protocol/errors.ts";
import { secretIn } from "../../../protocol/mcp-references.ts";
import type { McpServer } from "../../../protocol/mcp-servers.ts";
import { type Secrets, secretOf } from "../../secrets.ts";
import { boundedFetch } from "../../wire.ts";

export interface McpBounds {
  readonly connect_ms: number;
  readonly call_ms: number;
}

interface McpTarget {
  readonly name: string;
  readonly server: McpServer;
  readonly cwd: string;
  readonly secrets: Secrets;
  readonly bounds?: McpBounds;
}

const BOUNDS: McpBounds = { connect_ms: MCP_CONNECT_MAX_MS, call_ms: MCP_CALL_MAX_MS };

export interface McpConnection {
  /** All pages. Rejects with UNAVAILABLE, or with OUTPUT_TOO_LARGE for a list that is too long. */
  tools(): Promise<readonly Tool[]>;
  call(name: string, input: Record<string, unknown>, signal: AbortSignal): Promise<CallToolResult>;
  /** The server has ended, or said something that no server says. */
  isOver(): boolean;
  close(): Promise<void>;
}

const headersOf = async (
  { headers = {} }: { readonly headers?: Readonly<Record<string, string>> | undefined },
  of: string,
  secrets: Secrets,
): Promise<Readonly<Record<string, string>>> => {
  const read = Object.entries(headers).map(async ([name, value]) => {
    const held = secretIn(value);
    return [name, held === undefined ? value : held.before + (await secretOf(held.reference, of, secrets))];
  });
  return Object.fromEntries(await Promise.all(read)) as Readonly<Record<string, string>>;
};

/** Its own variables, and no others of the agent's but those that every program needs. */
const transportTo = async ({ name, server, cwd, secrets }: McpTarget): Promise<Transport> => {
  const of = `the MCP server ${name}`;
  if ("command" in server) {
    const [command = "", ...args] = server.command;
    const entries = Object.entries(server.env).map(async ([variable, value]) => [
      variable,
      isSecretReference(value) ? await secretOf(value, of, secrets) : value,
    ]);
    const env = Object.fromEntries(await Promise.all(entries)) as Record<string, string>;
    return new StdioClientTransport({ command, args, env, cwd, maxBufferSize: MCP_MESSAGE_MAX_BYTES });
  }
  const token = server.token === undefined ? undefined : await secretOf(server.token, of, secrets);
  return new StreamableHTTPClientTransport(new URL(server.url), {
    fetch: boundedFetch({ silence_ms: MCP_CALL_MAX_MS, max_bytes: MCP_MESSAGE_MAX_BYTES }),
    requestInit: {
      headers: {
        ...(await headersOf(server, of, secrets)),
        ...(token && { authorization: `Bearer ${token}` }),
      },
    },
  });
};

/** Rejects with SECRET_UNAVAILABLE, or with UNAVAILABLE for a server that does not come up within MCP_CONNECT_MAX_MS. */
export const connectMcp = async (target: McpTarget): Promise<McpConnection> => {
  const { name, bounds = BOUNDS } = target;
  const transport = await transportTo(target);
  const client = new Client({ name: "holdfast", version: VERSION }, { listMaxPages: MCP_PAGES_MAX });
  let isOver = false;
  client.onclose = () => {
    isOver = true;
  };
  client.onerror = () => undefined;
  const within = { timeout: bounds.connect_ms, maxTotalTimeout: bounds.connect_ms };
  try {
    await client.connect(transport, within);
  } catch {
    await client.close().catch(() => undefined);
    throw new HoldfastError("UNAVAILABLE", `The MCP server ${name} did not come up.`, {
      suggestion: `Try what mcp.${name} in config.yaml names by hand; its stderr is in \`agent logs\`.`,
    });
  }
  const call = { timeout: bounds.call_ms, maxTotalTimeout: bounds.call_ms };
  return {
    tools: () => allTools(name, client, within),
    call: (tool, input, signal) => client.callTool({ name: tool, arguments: input }, { ...call, signal }),
    isOver: () => isOver,
    close: () => client.close(),
  };
};

const allTools = async (
  name: string,
  client: Client,
  within: { readonly timeout: number },
): Promise<readonly Tool[]> => {
  // The client itself walks the pages.
  const tools = await client.listTools({}, within).then(
    (listed) => listed.tools,
    (cause: unknown) => {
      if (cause instanceof SdkError && cause.code === SdkErrorCode.ListPaginationExceeded) return undefined;
      throw new HoldfastError("UNAVAILABLE", `The MCP server ${name} did not list its tools.`);
    },
  );
  if (tools !== undefined && tools.length <= MCP_TOOLS_MAX) return tools;
  throw new HoldfastError(
    "OUTPUT_TOO_LARGE",
    `The MCP server ${name} lists more than ${MCP_TOOLS_MAX} tools, or more than ${MCP_PAGES_MAX} pages of them.`,
    { suggestion: "Use a server with fewer tools." },
  );
};
