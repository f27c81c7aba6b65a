/**
 * Which turn answers a message: the first that ends after the agent has acknowledged it, in the same incarnation. A fold of
 * the worker's records since the message was accepted. Pure.
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

export type Answering =
  | {
      readonly type: "waits";
      readonly deliveries: number;
      readonly incarnation: number | undefined;
      /** Why the last incarnation failed: where none follows, that is why nobody answers. */
      readonly error?: WorkerError;
    }
  /** It is in the conversation since the record `seq`. */
  | { readonly type: "heard"; readonly seq: number; readonly incarnation: number | undefined }
  | {
      readonly type: "answered";
      /** The text that was said after `from` and up to `to` is the answer. */
      readonly from: number;
      readonly to: number;
      readonly turn: RecordPayloads["turn_completed"];
    }
  | { readonly type: "failed"; readonly error: HoldfastError };

export const UNANSWERED: Answering = { type: "waits", deliveries: 0, incarnation: undefined };

const failed = (message: string, error?: WorkerError): Answering => {
  if (error === undefined) return { type: "failed", error: new HoldfastError("AGENT_FAILED", message) };
  const { retry_after_s } = error;
  const info = { detail: error.message, ...(retry_after_s !== undefined && { retry_after_s }) };
  const why = `${message.slice(0, -1)}: ${error.message}`;
  return { type: "failed", error: new HoldfastError(failureCode(error), why, info) };
};

export const foldAnswer = (before: Answering, record: LogRecord, message_id: string): Answering => {
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
      // A message that was not acknowledged is given to the next incarnation; what was, is in a turn that nobody ends any more.
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
  before: Exclude<Answering, { type: "answered" | "failed" }>,
  record: Extract<LogRecord, { type: "worker_message" }>,
): Answering => {
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
