/** How one incarnation ended, as the adapter tells it (agent-event.txt, Completion payload bounds; notes A.1). */
import * as z from "zod";
import { DATA_MAX_BYTES, FINAL_TEXT_MAX_BYTES } from "../base/limits.ts";
import type { WallTime } from "../base/wall-time.ts";
import type { ErrorCode } from "./errors.ts";

export const ProcessStatus = z.strictObject({
  /** Exit code as the shell reported it, null where nobody could know it. */
  code: z.int().nullable(),
  /** Signal that ended the process: one that we sent, or inferred from a code over 128. */
  signal: z.string().nullable(),
});
export type ProcessStatus = z.infer<typeof ProcessStatus>;

export const AgentCompletion = z.strictObject({
  status: ProcessStatus,
  /** The agent's final answer, at most 65,536 bytes. */
  final_text: z
    .string()
    .refine((text) => Buffer.byteLength(text) <= FINAL_TEXT_MAX_BYTES)
    .optional(),
  data: z
    .json()
    .refine((value) => Buffer.byteLength(JSON.stringify(value)) <= DATA_MAX_BYTES)
    .optional(),
});
export type AgentCompletion = z.infer<typeof AgentCompletion>;

export interface WorkerError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retry_after_s?: number;
  /** When the provider's limit resets: RFC 3339, UTC; or as its CLI has told it. */
  readonly reset_at?: string;
  readonly resets?: WallTime;
}

/** The whole final answer, where it is over the inline limit; `digest` is null where it could not be kept, and `error` says why. */
export interface AnswerArtifact {
  readonly digest: string | null;
  readonly size_bytes: number;
  readonly error?: WorkerError;
}

export interface FailedIncarnation {
  readonly error: WorkerError;
  readonly completion?: AgentCompletion;
  readonly artifact?: AnswerArtifact;
}
