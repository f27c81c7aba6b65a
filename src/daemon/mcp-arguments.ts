/**
 * Manages the MCP servers of an agent's CLI (agent-event notes A.5): checks typed requests before anything
 * runs, and makes the arguments for each CLI. This is not a run: it is neither supervised nor in the log.
 */
import * as z from "zod";
import type { AgentAdapter, McpRequest } from "../adapters/adapter.ts";
import { VARIABLE_NAME } from "../base/environment.ts";
import { HoldfastError } from "../protocol/errors.ts";

/** The capability that a request needs. */
const mcpCapability = (does: McpRequest["do"]): string => `agent_api.tools.mcp.${does}.v1`;
const MCP_WRITE = [mcpCapability("add"), mcpCapability("remove")] as const;

/** The request as it was made, with unchecked names and addresses. */
export interface McpAsked {
  readonly do: McpRequest["do"];
  readonly name?: string | undefined;
  readonly command?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly url?: string | undefined;
  readonly bearer_env_var?: string | undefined;
}

const isHttp = (url: string): boolean => {
  const parsed = z.url({ protocol: /^https?$/ }).safeParse(url);
  return parsed.success;
};

const nameProblems = (name: string): readonly string[] => {
  if (name === "") return ["The name of an MCP server must not be empty."];
  if (name.startsWith("-")) return ["The name of an MCP server does not begin with a dash."];
  return name.includes("\0") ? ["The name of an MCP server contains a NUL character."] : [];
};

const serverProblems = ({ command, env = {}, url, bearer_env_var }: McpAsked): readonly string[] => {
  const problems: string[] = [];
  const hasCommand = command !== undefined && command.length > 0;
  if (hasCommand === (url !== undefined))
    problems.push("An MCP server is either a command, after --, or an address, with --url.");
  if (url !== undefined && !isHttp(url)) problems.push("--url must be an absolute http or https address.");
  if (hasCommand && command[0]?.trim() === "")
    problems.push("The program of the MCP server must not be empty.");
  if (hasCommand && command.some((word) => word.includes("\0")))
    problems.push("An argument of the MCP server contains a NUL character.");
  if (bearer_env_var !== undefined && url === undefined) problems.push("--bearer-env-var needs --url.");
  if (bearer_env_var !== undefined && !VARIABLE_NAME.test(bearer_env_var))
    problems.push("--bearer-env-var must be the name of a variable, not its value.");
  if (url !== undefined && Object.keys(env).length > 0)
    problems.push("--server-env needs a command: a server at an address has its own variables.");
  if (Object.keys(env).some((key) => !VARIABLE_NAME.test(key)))
    problems.push(
      "--server-env must have a variable name before the =: letters, digits and _, and no digit first.",
    );
  return problems;
};

const isAble = ({ mcp, binary, capabilities }: AgentAdapter, capability: string): boolean =>
  mcp !== undefined && binary !== null && capabilities.includes(capability);

/**
 * The arguments of the CLI. Throws the error, first for a request that the kind cannot do, then for mistakes
 * in the request.
 */
export const mcpArguments = (
  adapter: AgentAdapter,
  asked: McpAsked,
  all: readonly AgentAdapter[] = [adapter],
): readonly string[] => {
  const capability = mcpCapability(asked.do);
  if (adapter.mcp === undefined || !isAble(adapter, capability)) {
    const isOff = adapter.mcp !== undefined && (MCP_WRITE as readonly string[]).includes(capability);
    const able = all.filter((one) => isAble(one, capability)).map(({ aliases, kind }) => aliases[0] ?? kind);
    const message = isOff
      ? `Kind ${adapter.kind} has no ${capability} here: it must be allowed by allow_mcp_write in config.yaml.`
      : `agent mcp ${asked.do} means nothing to kind ${adapter.kind}: it has no ${capability}.`;
    throw new HoldfastError("UNSUPPORTED_CAPABILITY", message, {
      phase: "validation",
      ...(isOff || able.length === 0 ? {} : { suggestion: `Use a kind that has it: ${able.join(", ")}.` }),
    });
  }
  const name = (asked.name ?? "").trim();
  const problems = [
    ...(asked.do === "list" ? [] : nameProblems(name)),
    ...(asked.do === "add" ? serverProblems(asked) : []),
  ];
  const request = requestOf(asked, name);
  const args = problems.length === 0 ? adapter.mcp(request) : [];
  if (typeof args === "string") problems.push(args);
  if (problems.length > 0 || typeof args === "string")
    throw new HoldfastError("INVALID_REQUEST", problems.join(" "), { problems, phase: "validation" });
  return args;
};

const requestOf = (
  { do: does, command = [], env = {}, url, bearer_env_var }: McpAsked,
  name: string,
): McpRequest => {
  if (does === "list") return { do: does };
  if (does !== "add") return { do: does, name };
  return url === undefined
    ? { do: does, name, server: { at: "command", command, env } }
    : { do: does, name, server: { at: "url", url, bearer_env_var } };
};
