/** The arguments of `codex mcp …`, as of 0.169.0. Its output is JSON. */
import type { AgentAdapter } from "../../adapter.ts";

export const mcp: NonNullable<AgentAdapter["mcp"]> = (request) => {
  if (request.do === "list") return ["mcp", "list", "--json"];
  const { name } = request;
  if (request.do !== "add")
    return request.do === "get" ? ["mcp", "get", "--json", name] : ["mcp", "remove", name];
  const { server } = request;
  if (server.at === "command") {
    const env = Object.entries(server.env).flatMap(([key, value]) => ["--env", `${key}=${value}`]);
    return ["mcp", "add", name, ...env, "--", ...server.command];
  }
  const bearer = server.bearer_env_var === undefined ? [] : ["--bearer-token-env-var", server.bearer_env_var];
  return ["mcp", "add", name, "--url", server.url, ...bearer];
};
