/** One place that tools come from: skills, an MCP server. The executor joins several behind one policy. */
import { createHash } from "node:crypto";
import type { ToolCall, ToolSpec } from "../model.ts";
import type { ToolContext, ToolResult } from "../tools.ts";

export interface OfferedTool extends Omit<ToolSpec, "may_overlap"> {
  /** It changes nothing, so it needs no permission, and may run beside others. */
  readonly only_reads: boolean;
}

export interface ToolSource {
  /** Asked once. Rejects with a HoldfastError if the source cannot be used. */
  list(): Promise<readonly OfferedTool[]>;
  /** A failure of the tool is a result. */
  run(call: ToolCall, context: ToolContext): Promise<ToolResult>;
  close(): Promise<void>;
}

/** Every provider takes names of 64 characters in A-Z, a-z, 0-9, `_` and `-`. */
const NAME_MAX_CHARS = 64;
const HASH_CHARS = 8;

/** A name that a provider takes. A longer one is cut, and a digest of the whole keeps it unique. */
export const toolName = (text: string): string => {
  const plain = text.replaceAll(/[^A-Za-z0-9_-]/g, "_");
  if (plain === text && text !== "" && text.length <= NAME_MAX_CHARS) return text;
  const digest = createHash("sha256").update(text).digest("hex").slice(0, HASH_CHARS);
  return `${plain.slice(0, NAME_MAX_CHARS - HASH_CHARS - 1)}_${digest}`;
};
