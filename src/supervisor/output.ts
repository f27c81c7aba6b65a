/** The final answer of a worker, joined from its records: nothing is kept twice. */
import { OUTPUT_TEXT_MAX_BYTES, READ_PAGE_RECORDS } from "../protocol/limits.ts";
import type { EventLog } from "../store/port.ts";
import { type Gap, type MovedOutput, movedBy } from "./moved.ts";

export interface FinalText {
  readonly text: string;
  readonly truncated: boolean;
}

/** Retention has moved the answer, or a part of it: what is left must not pass for the whole. */
export interface Moved {
  readonly moved: MovedOutput;
}

/**
 * An agent's answer is all text of the last message on channel `assistant` (its chunks share `data.message_id`); a
 * command's is its whole stdout. Only the newest incarnation counts. Undefined when it said nothing.
 */
export const finalText = (log: EventLog, workerId: string): FinalText | Moved | undefined => {
  const starts = log
    .stream(workerId, ["worker_state_changed"])
    .filter((record) => record.type === "worker_state_changed" && record.payload.to === "starting");
  return textBetween(log, workerId, (starts.at(-1)?.seq ?? 1) - 1, Number.POSITIVE_INFINITY);
};

/** The same of the records after `from`, up to `to`. */
export const textBetween = (
  log: EventLog,
  workerId: string,
  from: number,
  to: number,
): FinalText | Moved | undefined => {
  let cursor = from;
  let parts: string[] = [];
  let bytes = 0;
  let message: unknown;
  let said = false;
  let gaps: Gap[] = [];
  for (;;) {
    const page = log.read(cursor, READ_PAGE_RECORDS, {
      worker_ids: [workerId],
      types: ["agent.event"],
      kinds: ["TextOutput"],
    });
    for (const record of page.records) {
      if (record.type === "log_gap" && record.seq <= to) gaps.push(record.payload);
      if (record.type !== "agent.event" || record.payload.text === undefined || record.seq > to) continue;
      const { channel, text } = record.payload;
      if (channel !== "assistant" && channel !== "stdout") continue;
      const data = record.payload.data as { message_id?: unknown; parent_tool_use_id?: unknown } | undefined;
      if (data?.parent_tool_use_id !== undefined) continue; // a sub-agent talks to its agent, not to the user
      const id = channel === "assistant" ? data?.message_id : "stdout";
      if (id !== message) {
        if (channel === "assistant") gaps = []; // what was moved belongs to messages before this one
        parts = [];
        bytes = 0;
        message = id;
      }
      said = true;
      bytes += Buffer.byteLength(text);
      if (bytes <= OUTPUT_TEXT_MAX_BYTES) parts.push(text);
    }
    if (page.scanned <= cursor || page.scanned >= Math.min(to, log.head())) break;
    cursor = page.scanned;
  }
  const moved = movedBy(gaps);
  if (moved !== null) return { moved };
  return said ? { text: parts.join(""), truncated: bytes > OUTPUT_TEXT_MAX_BYTES } : undefined;
};
