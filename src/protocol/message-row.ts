/** A message to a worker as the log keeps it (docs/messages.md). */
import type { MessageStep } from "./talk-records.ts";

export type MessageState = MessageStep["state"];

/** A message to an agent, as its records tell it. */
export interface MessageRow {
  readonly worker_id: string;
  readonly message_id: string;
  /** The seq of the record that accepted it. */
  readonly seq: number;
  readonly bytes: number;
  readonly masked: boolean;
  readonly closes: boolean;
  /** A line of the agent's protocol, of which nobody but the runtime need know. */
  readonly line: boolean;
  /** The incarnation that it is for alone; null where the next one gets it, too. */
  readonly bound: number | null;
  readonly state: MessageState;
  /** More is to come: it waits, or its acknowledgement does. */
  readonly open: boolean;
  /** How often it was handed over, and the newest time: to which incarnation, up to which byte of its stdin. */
  readonly deliveries: number;
  readonly incarnation: number | null;
  readonly end: number | null;
  readonly turn: number | null;
  readonly reason: string | null;
  readonly accepted_at: string;
  readonly changed_at: string;
}
