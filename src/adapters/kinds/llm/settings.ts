/** The extension keys of kind `llm`. */
export const MCP = "backend.llm.mcp.v1";
export const SYSTEM = "backend.llm.system.v1";
export const MAX_STEPS = "backend.llm.max_steps.v1";
export const MAX_TRIES = "backend.llm.max_tries.v1";
export const MAX_OUTPUT_TOKENS = "backend.llm.max_output_tokens.v1";
export const CONTEXT_TOKENS = "backend.llm.context_tokens.v1";
export const COMPACTION = "backend.llm.compaction.v1";
