/** How an incarnation ended, as its adapter reports it (agent-event.txt, Completion payload bounds; notes A.1). */
import * as z from "zod";
import { DATA_MAX_BYTES, FINAL_TEXT_MAX_BYTES } from "../base/limits.ts";
import type { WallTime } from "../base/wall-time.ts";
import type { ErrorCode } from "./errors.ts";

export const ProcessStatus = z.strictObject({
  /** The exit code as the shell reported it; null if it cannot be known. */
  code: z.int().nullable(),
  /** The signal that ended the process: one that we sent, or one inferred from a code over 128. */
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
  /** When the provider's limit resets: RFC 3339 in UTC, or as its CLI prints it. */
  readonly reset_at?: string;
  readonly resets?: WallTime;
}

/**
 * The artifact with the whole final answer, if the answer is over the inline limit. `digest` is null if it could not be
 * kept; `error` then says why.
 */
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
