/**
 * The arguments of `claude mcp …`, as of 2.1.329. Variables and flags come before the `--` of the server's
 * command.
 */
import type { AgentAdapter } from "../../adapter.ts";

export const mcp: NonNullable<AgentAdapter["mcp"]> = (request) => {
  if (request.do === "list") return ["mcp", "list"];
  const { name } = request;
  if (request.do !== "add") return ["mcp", request.do, name];
  const { server } = request;
  if (server.at === "command") {
    const env = Object.entries(server.env).flatMap(([key, value]) => ["-e", `${key}=${value}`]);
    return ["mcp", "add", name, ...env, "--", ...server.command];
  }
  if (server.bearer_env_var !== undefined)
    return "Kind claude_code knows no variable for a token: leave out --bearer-env-var.";
  return ["mcp", "add", "--transport", "http", name, server.url];
};
