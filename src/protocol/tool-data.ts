/** The `data` of a ToolCall and of a ToolResult (AgentEvent notes, A.3): metadata of a call, never its input or output. */
import * as z from "zod";
import { STRUCTURED_TOOLS } from "./facets.ts";

const word = z.string().nullable();
const bytes = z.int().min(0).describe("bytes of UTF-8; 0 if unknown");

const toolFacet = z.strictObject({
  backend_item_id: word,
  thread_id: word,
  turn_id: word,
  kind: z.string().describe("an open set: tool_use, command_execution, …"),
  phase: z.enum(["start", "complete", "fail"]),
  status: z.enum(["running", "completed", "failed", "unknown"]),
  exit_code: z.int().nullable(),
  bytes: z.strictObject({ stdout: bytes, stderr: bytes, diff: bytes, result: bytes }),
  tool_name: word,
  tool_use_id: word,
});

export const ToolDataSchema = z.looseObject({
  schema: z.literal(STRUCTURED_TOOLS),
  tool: toolFacet,
  truncated: z.boolean().optional().describe("the result was in a line over the limit"),
  unended: z.boolean().optional().describe("the agent ended before the call did"),
  parent_tool_use_id: z.string().optional().describe("the call to which a sub-agent belongs"),
});
