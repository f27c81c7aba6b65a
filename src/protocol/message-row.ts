/** A message to a worker as the log has it (docs/explanation/messages.md). */
import type { MessageStep } from "./talk-records.ts";

export type MessageState = MessageStep["state"];

/** The state of one message, folded from its records. */
export interface MessageRow {
  readonly worker_id: string;
  readonly message_id: string;
  /** The seq of the record that accepted it. */
  readonly seq: number;
  readonly bytes: number;
  readonly masked: boolean;
  readonly closes: boolean;
  /** True for a line of the agent's protocol, which only the runtime sends. */
  readonly line: boolean;
  /** The only incarnation that may get it; null if the next one may get it too. */
  readonly bound: number | null;
  readonly state: MessageState;
  /** The message, or its acknowledgement, is still awaited. */
  readonly open: boolean;
  /** How often it was delivered; then, for the newest delivery, the incarnation and the length of its stdin file afterwards. */
  readonly deliveries: number;
  readonly incarnation: number | null;
  readonly end: number | null;
  readonly turn: number | null;
  readonly reason: string | null;
  readonly accepted_at: string;
  readonly changed_at: string;
}
