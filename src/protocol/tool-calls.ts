/** The key and the name of a tool call, by the `data` of its ToolCall or ToolResult event. Pure. */

interface ToolCallData {
  readonly tool?: {
    readonly tool_use_id?: unknown;
    readonly backend_item_id?: unknown;
    readonly tool_name?: unknown;
    readonly kind?: unknown;
  };
}

const toolOf = (data: unknown): ToolCallData["tool"] => (data as ToolCallData | null)?.tool;

/** An agent that does not name its calls is treated as having one at a time. */
export const toolKeyOf = (data: unknown): string => {
  const tool = toolOf(data);
  return String(tool?.tool_use_id ?? tool?.backend_item_id ?? "");
};

/** Codex names the kind of an item instead of a tool. */
export const toolNameOf = (data: unknown): string => {
  const tool = toolOf(data);
  return String(tool?.tool_name ?? tool?.kind ?? "a tool");
};

/** The result stands for one that never came: the agent ended first. */
export const isUnended = (data: unknown): boolean =>
  (data as { readonly unended?: unknown } | null)?.unended === true;
