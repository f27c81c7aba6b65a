/**
 * Finds the turn that answers a message: the first that ends after the agent has acknowledged the message, in the same
 * incarnation. A fold of the worker's records since the message was accepted. Pure.
 */
import { HoldfastError } from "../../protocol/errors.ts";
import type { LogRecord, RecordPayloads, RecordType, WorkerError } from "../../protocol/records.ts";
import { failureCode } from "../../protocol/worker-failure.ts";

/** The records that are folded. */
export const ANSWER_RECORDS = [
  "worker_message",
  "turn_completed",
  "worker_completed",
  "worker_failed",
  "worker_cancelled",
  "worker_ended",
] as const satisfies readonly RecordType[];

export type AnswerState =
  | {
      readonly type: "waits";
      readonly deliveries: number;
      readonly incarnation: number | undefined;
      /** Why the last incarnation failed. If no other follows, this is why no answer comes. */
      readonly error?: WorkerError;
    }
  /** The message has been in the dialogue since the record `seq`. */
  | { readonly type: "heard"; readonly seq: number; readonly incarnation: number | undefined }
  | {
      readonly type: "answered";
      /** The answer is the text after `from` and up to `to`. */
      readonly from: number;
      readonly to: number;
      readonly turn: RecordPayloads["turn_completed"];
    }
  | { readonly type: "failed"; readonly error: HoldfastError };

export const UNANSWERED: AnswerState = { type: "waits", deliveries: 0, incarnation: undefined };

const failed = (message: string, error?: WorkerError): AnswerState => {
  if (error === undefined) return { type: "failed", error: new HoldfastError("AGENT_FAILED", message) };
  const { retry_after_s } = error;
  const info = { detail: error.message, ...(retry_after_s !== undefined && { retry_after_s }) };
  const why = `${message.slice(0, -1)}: ${error.message}`;
  return { type: "failed", error: new HoldfastError(failureCode(error), why, info) };
};

export const foldAnswer = (before: AnswerState, record: LogRecord, message_id: string): AnswerState => {
  if (before.type === "answered" || before.type === "failed") return before;
  switch (record.type) {
    case "worker_message":
      return record.payload.message_id === message_id ? onMessage(before, record) : before;
    case "turn_completed":
      if (before.type !== "heard" || before.incarnation !== record.incarnation) return before;
      return { type: "answered", from: before.seq, to: record.seq, turn: record.payload };
    case "worker_completed":
    case "worker_failed":
    case "worker_cancelled": {
      const error = "error" in record.payload ? record.payload.error : undefined;
      // The next incarnation gets a message that was not acknowledged. The turn of an acknowledged one will never end.
      if (before.type === "waits") return error === undefined ? before : { ...before, error };
      if (before.incarnation !== record.incarnation) return before;
      return failed("The agent ended before it answered.", error);
    }
    case "worker_ended":
      return failed(
        "The worker ended before its agent answered.",
        before.type === "waits" && record.payload.state !== "cancelled" ? before.error : undefined,
      );
    default:
      return before;
  }
};

const onMessage = (
  before: Exclude<AnswerState, { type: "answered" | "failed" }>,
  record: Extract<LogRecord, { type: "worker_message" }>,
): AnswerState => {
  const { payload, seq, incarnation } = record;
  switch (payload.state) {
    case "delivered":
      return before.type === "waits" ? { ...before, deliveries: before.deliveries + 1, incarnation } : before;
    case "acknowledged":
      if (before.type === "waits" && before.deliveries > 1 && payload.turn === null)
        return failed("The agent was restarted; it had the message before, and its answer is lost.");
      return { type: "heard", seq, incarnation };
    case "undeliverable":
    case "unknown":
      return { type: "failed", error: new HoldfastError("AGENT_FAILED", payload.reason) };
    default:
      return before;
  }
};
