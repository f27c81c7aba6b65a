/** The final answer of a worker, joined from its records: nothing is kept twice. */
import { Effect } from "effect";
import type { HoldfastError } from "../../protocol/errors.ts";
import { OUTPUT_TEXT_MAX_BYTES } from "../../protocol/limits.ts";
import type { LogRecord, RecordDraft } from "../../protocol/records.ts";
import type { EventLog, RecordFilter } from "../../store/port.ts";
import { eachPage, newestSeqs } from "../reading/paging.ts";
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
export const finalText = (
  log: EventLog,
  workerId: string,
): Effect.Effect<FinalText | Moved | undefined, HoldfastError> =>
  Effect.flatMap(
    newestSeqs(
      log,
      { worker_ids: [workerId], types: ["worker_state_changed"] },
      { since: 0, count: 1 },
      isStart,
    ),
    ([start = 1]) => textBetween(log, workerId, start - 1, Number.POSITIVE_INFINITY),
  );

const isStart = (line: string): boolean => {
  const record: LogRecord = JSON.parse(line);
  return record.type === "worker_state_changed" && record.payload.to === "starting";
};

/** The same of the records after `from`, up to `to`. */
export const textBetween = (
  log: EventLog,
  workerId: string,
  from: number,
  to: number,
): Effect.Effect<FinalText | Moved | undefined, HoldfastError> =>
  Effect.map(answerBetween(log, workerId, { from, to }), (answer) => answer.end());

/** The same, to which more may be added that is not in the log yet. */
export const answerBetween = (
  log: EventLog,
  workerId: string,
  range: { readonly from: number; readonly to: number },
  maxBytes = OUTPUT_TEXT_MAX_BYTES,
): Effect.Effect<Answer, HoldfastError> =>
  Effect.suspend(() => {
    const answer = new Answer(maxBytes);
    const filter: RecordFilter = { worker_ids: [workerId], types: ["agent.event"], kinds: ["TextOutput"] };
    const read = eachPage(log, range, filter, ({ lines }) => {
      for (const line of lines) answer.add(JSON.parse(line));
    });
    return Effect.as(read, answer);
  });

/** What was said last, with no more of it in memory than may be shown. */
class Answer {
  readonly #maxBytes: number;
  #parts: string[] = [];
  #bytes = 0;
  #message: unknown;
  #said = false;
  #gaps: Gap[] = [];

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Of all that was said, also of what is over the bound. */
  get size_bytes(): number {
    return this.#bytes;
  }

  add(record: RecordDraft): void {
    if (record.type === "log_gap") this.#gaps.push(record.payload);
    if (record.type !== "agent.event" || record.payload.text === undefined) return;
    const { kind, channel, text } = record.payload;
    if (kind !== "TextOutput") return;
    if (channel !== "assistant" && channel !== "stdout") return;
    const data = record.payload.data as { message_id?: unknown; parent_tool_use_id?: unknown } | undefined;
    if (data?.parent_tool_use_id !== undefined) return; // a sub-agent talks to its agent, not to the user
    const id = channel === "assistant" ? data?.message_id : "stdout";
    if (id !== this.#message) {
      if (channel === "assistant") this.#gaps = []; // what was moved belongs to messages before this one
      this.#parts = [];
      this.#bytes = 0;
      this.#message = id;
    }
    this.#said = true;
    this.#bytes += Buffer.byteLength(text);
    if (this.#bytes <= this.#maxBytes) this.#parts.push(text);
  }

  end(): FinalText | Moved | undefined {
    const moved = movedBy(this.#gaps);
    if (moved !== null) return { moved };
    if (!this.#said) return undefined;
    return { text: this.#parts.join(""), truncated: this.#bytes > this.#maxBytes };
  }
}
