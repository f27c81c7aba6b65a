/**
 * The wire between the engine and its runtime: one JSON object a line. The adapter of the kind decodes `EngineLine` and
 * writes `EngineInput`; a program that has the engine inside it gets the same values as objects.
 */
import type { McpServer } from "./mcp-servers.ts";
import type { Permission, PermissionRule } from "./permission.ts";
import type { ProviderConfiguration } from "./providers.ts";
import type { JsonValue } from "./records.ts";
import type { TokenCounts } from "./token-counts.ts";

export interface EngineError {
  /** A code of the error catalogue. */
  readonly code: string;
  readonly message: string;
  readonly retry_after_s?: number;
}

/** The output of the engine. */
export type EngineLine =
  | { readonly type: "session"; readonly id: string; readonly model: string }
  /** The session could not be opened: the engine ends. */
  | { readonly type: "refused"; readonly error: EngineError }
  /** A message was taken in, and its turn goes on: it begins, or it is resumed after a crash. */
  | { readonly type: "turn"; readonly message_id: string; readonly is_resumed: boolean }
  /** A message was taken in that has no turn of its own: it was given again. */
  | { readonly type: "taken"; readonly message_id: string }
  /** A piece of the answer number `step` of the turn. */
  | {
      readonly type: "text";
      readonly channel: "assistant" | "reasoning";
      readonly step: number;
      readonly text: string;
    }
  /** The usage of the turn so far. */
  | { readonly type: "usage"; readonly usage: TokenCounts }
  | {
      readonly type: "retry";
      readonly retry: number;
      readonly max_retries: number;
      readonly error: EngineError;
    }
  | { readonly type: "compacted"; readonly policy: string; readonly messages: number }
  | { readonly type: "corrected" }
  | { readonly type: "call"; readonly call_id: string; readonly name: string }
  /** `unknown`: the call was cut off by a crash, and nobody knows whether it had its effect. */
  | {
      readonly type: "result";
      readonly call_id: string;
      readonly name: string;
      readonly is_error: boolean;
      readonly bytes: number;
      readonly outcome: "returned" | "unknown" | "denied" | "skipped";
    }
  /** A call waits for a permission; `key` names the request in the answer. */
  | {
      readonly type: "ask";
      readonly key: string;
      readonly name: string;
      readonly title: string;
      readonly input: JsonValue;
    }
  | { readonly type: "withdrawn"; readonly key: string }
  | {
      readonly type: "end";
      readonly error: EngineError | null;
      /** The final answer; the empty text after an error. */
      readonly text: string;
      readonly usage: TokenCounts;
      readonly model: string;
    };

/** The first line of the engine's input. It holds no secret. */
export interface EngineOpening {
  readonly type: "open";
  readonly worker_id: string;
  /** `provider/model`. */
  readonly model: string;
  readonly cwd: string;
  readonly interactive: boolean;
  /** The session that is continued, or branched; undefined for a new one. */
  readonly session?: string;
  readonly fork?: boolean;
  /** The last turn of this worker has no end on record. */
  readonly interrupted?: boolean;
  readonly settings: EngineSettings;
  readonly policy: EnginePolicy;
  readonly ground: EngineGround;
}

/** The permissions of the worker's spec. */
export interface EnginePolicy {
  readonly permission: Permission;
  readonly rules: readonly PermissionRule[];
}

/** The part of the daemon's configuration that an agent gets. Keys and tokens are references. */
export interface EngineGround {
  readonly providers: Readonly<Record<string, ProviderConfiguration>>;
  /** The servers that the agent names. */
  readonly mcp: Readonly<Record<string, McpServer>>;
  /** The socket by which it runs skills; absent in a program without one. */
  readonly socket?: string;
}

/** The answer of the engine's program to `--check`: what an agent of these providers and servers would meet. */
export interface EngineFindings {
  /** Providers whose key cannot be had, with the reason in one sentence. */
  readonly keys: readonly string[];
  /** Servers that do not come up, or cannot list their tools, with the reason in one sentence. */
  readonly servers: readonly string[];
  /** Tools of all servers that do. */
  readonly tools: number;
}

/** How a conversation is made shorter once it is too long (engine/compaction.ts). */
export const COMPACTION_POLICIES = ["trim", "summarize", "off"] as const;

/** Settings of a conversation; all have defaults. */
export interface EngineSettings {
  readonly system?: string;
  /** A profile of skills: the tools of the agent. */
  readonly profile?: string;
  /** A JSON Schema of the final answer. */
  readonly output_schema?: JsonValue;
  readonly max_steps?: number;
  /** Tries for one answer of the model. */
  readonly max_tries?: number;
  readonly max_output_tokens?: number;
  readonly compaction?: string;
  readonly context_tokens?: number;
}

/** The input of the engine after its opening. */
export type EngineInput =
  | { readonly type: "message"; readonly id: string; readonly text: string }
  | {
      readonly type: "answer";
      readonly key: string;
      readonly decision: "allow" | "deny";
      readonly message?: string;
    }
  | { readonly type: "interrupt" };
