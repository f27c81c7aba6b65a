/** All tools of one agent behind one policy. */
import { ENGINE_TOOLS_MAX } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { ToolCall, ToolSpec } from "../model.ts";
import type { ToolContext, ToolExecutor, ToolResult, ToolVerdict } from "../tools.ts";
import type { OfferedTool, ToolSource } from "./offered.ts";
import { isHopeless, type ToolPolicy, verdictOn } from "./policy.ts";

interface OwnedTool {
  readonly tool: OfferedTool;
  readonly source: ToolSource;
}

class PolicedTools implements ToolExecutor {
  private readonly sources: readonly ToolSource[];
  private readonly policy: ToolPolicy;
  private readonly byName = new Map<string, OwnedTool>();
  private listed: Promise<readonly ToolSpec[]> | undefined;

  constructor(sources: readonly ToolSource[], policy: ToolPolicy) {
    this.sources = sources;
    this.policy = policy;
  }

  list(): Promise<readonly ToolSpec[]> {
    this.listed ??= this.listAll();
    return this.listed;
  }

  private async listAll(): Promise<readonly ToolSpec[]> {
    const lists = await Promise.all(
      this.sources.map(async (source) => ({ source, tools: await source.list() })),
    );
    // The first source keeps a name that two have.
    for (const { source, tools } of lists)
      for (const tool of tools) if (!this.byName.has(tool.name)) this.byName.set(tool.name, { tool, source });
    const offered = [...this.byName.values()].filter(({ tool }) => !isHopeless(tool, this.policy));
    if (offered.length > ENGINE_TOOLS_MAX)
      throw new HoldfastError(
        "INVALID_REQUEST",
        `The agent would have ${offered.length} tools, and a model takes at most ${ENGINE_TOOLS_MAX}.`,
        { suggestion: "Name fewer MCP servers, or list under mcp.SERVER.tools those that are needed." },
      );
    return offered.map(({ tool: { only_reads, ...spec } }) => ({ ...spec, may_overlap: only_reads }));
  }

  judge(call: ToolCall): ToolVerdict {
    return verdictOn(call, this.byName.get(call.name)?.tool, this.policy);
  }

  async run(call: ToolCall, context: ToolContext): Promise<ToolResult> {
    const owned = this.byName.get(call.name);
    if (owned === undefined)
      return { output: `There is no tool ${call.name}.`, is_error: true, code: "SKILL_NOT_FOUND" };
    return owned.source.run(call, context);
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.sources.map((source) => source.close()));
  }
}

export const policedTools = (sources: readonly ToolSource[], policy: ToolPolicy): ToolExecutor =>
  new PolicedTools(sources, policy);
