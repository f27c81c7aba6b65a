/** The tools of a conversation by its opening: skills through the daemon, and the MCP servers that the agent names. */
import type { EngineOpening } from "../../protocol/engine-lines.ts";
import type { RequestInput } from "../../protocol/requests.ts";
import type { Secrets } from "../secrets.ts";
import type { ToolExecutor } from "../tools.ts";
import { daemonSkills } from "./daemon-skills.ts";
import { policedTools } from "./executor.ts";
import { mcpTools } from "./mcp/source.ts";
import type { ToolSource } from "./offered.ts";
import { skillTools } from "./skills.ts";

/**
 * `run` is the marker of the run, by which the daemon knows the agent. Rejects with a HoldfastError if a source cannot list
 * its tools: an agent that lacks a part of them would do something else than it was asked to.
 */
export const openTools = async (
  { cwd, settings, policy, ground }: EngineOpening,
  secrets: Secrets,
  run: string | undefined,
): Promise<ToolExecutor> => {
  const { socket, mcp } = ground;
  const profile = settings.profile as RequestInput<"skill/tools">["profile"];
  const skills: readonly ToolSource[] =
    socket === undefined ? [] : [skillTools(daemonSkills({ socket, run, workspace: cwd, profile }))];
  const servers = Object.entries(mcp).map(([name, server]) => mcpTools({ name, server, cwd, secrets }));
  const tools = policedTools([...skills, ...servers], policy);
  try {
    await tools.list();
    return tools;
  } catch (cause) {
    await tools.close();
    throw cause;
  }
};
