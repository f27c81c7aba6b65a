/** The port between the engine and its tools: skills, MCP servers, functions of a program. */
import type { JsonValue } from "../protocol/records.ts";
import type { ToolCall, ToolSpec } from "./model.ts";

export interface ToolContext {
  /** Aborted at the end of the call's time, or once the turn is interrupted. */
  readonly signal: AbortSignal;
  readonly worker_id: string;
  /** An absolute directory: the worker's workspace. */
  readonly cwd: string;
  /** The same for each run of the same call: a tool that knows it can refuse the second. */
  readonly idempotency_key: string;
}

export interface ToolResult {
  readonly output: JsonValue;
  readonly is_error: boolean;
  /** A code of the error catalogue, with an error. */
  readonly code?: string;
}

/** The answer of the policy to a call, before it runs. */
export type ToolVerdict =
  | { readonly decision: "allow" }
  /** A person, or a rule of the runtime, decides. `title` describes the call in one sentence. */
  | { readonly decision: "ask"; readonly title: string }
  /** `reason` is for the model: one sentence. */
  | { readonly decision: "deny"; readonly reason: string };

export interface ToolExecutor {
  /** The tools that the policy does not deny outright; the same until `close`. */
  list(): Promise<readonly ToolSpec[]>;
  judge(call: ToolCall): ToolVerdict;
  /** Runs a call that was judged. A failure of the tool is a result; it rejects only if the executor itself is broken. */
  run(call: ToolCall, context: ToolContext): Promise<ToolResult>;
  close(): Promise<void>;
}

/** An agent without tools. */
export const NO_TOOLS: ToolExecutor = {
  list: async () => [],
  judge: ({ name }) => ({ decision: "deny", reason: `There is no tool ${name}.` }),
  run: async ({ name }) => ({ output: `There is no tool ${name}.`, is_error: true, code: "SKILL_NOT_FOUND" }),
  close: async () => {},
};
