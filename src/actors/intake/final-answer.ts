/** Joins the final answer of a worker from its records, so that nothing is stored twice. */
import { Effect } from "effect";
import { OUTPUT_TEXT_MAX_BYTES } from "../../base/limits.ts";
import type { AgentEvent } from "../../protocol/agent-event.ts";
import { TRUNCATED_SUFFIX } from "../../protocol/bounds.ts";
import type { AgentCompletion } from "../../protocol/completion.ts";
import { ERROR_CATALOGUE, HoldfastError } from "../../protocol/errors.ts";
import type { LogRecord, RecordDraft } from "../../protocol/records.ts";
import type { EventLog, RecordFilter } from "../../store/event-log.ts";
import type { WorkerRow } from "../../store/views.ts";
import { eachPage, newestSeqs } from "../deciding/paging.ts";
import { type GapPayload, type MovedOutput, movedBy } from "./moved.ts";

export interface FinalText {
  readonly text: string;
  /** True if this is not the whole answer: it is over the bound, or a line over the limit was left out. */
  readonly truncated: boolean;
  readonly omitted_bytes: number;
}

/** Retention has moved the answer or a part of it: the rest must not pass for the whole. */
export interface IncompleteAnswer {
  readonly moved: MovedOutput;
}

/**
 * An agent's answer is all text of its last message on channel `assistant`. Chunks of one message share `data.message_id`.
 * If the agent gives no ids, they follow one another without a tool call, reasoning or a new turn in between. A command's
 * answer is its whole stdout. Only the newest incarnation counts. Undefined if it printed nothing at all.
 */
export const finalText = (
  log: EventLog,
  workerId: string,
): Effect.Effect<FinalText | IncompleteAnswer | undefined, HoldfastError> =>
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

/** The final answer in the records after `from`, up to `to`. */
export const textBetween = (
  log: EventLog,
  workerId: string,
  from: number,
  to: number,
): Effect.Effect<FinalText | IncompleteAnswer | undefined, HoldfastError> =>
  Effect.map(answerBetween(log, workerId, { from, to }), (answer) => answer.end());

/** As `textBetween`, but open: records that are not in the log yet can be added. */
export const answerBetween = (
  log: EventLog,
  workerId: string,
  range: { readonly from: number; readonly to: number },
  maxBytes = OUTPUT_TEXT_MAX_BYTES,
): Effect.Effect<AnswerText, HoldfastError> =>
  Effect.suspend(() => {
    const answer = new AnswerText(maxBytes);
    const read = eachPage(log, range, { ...HEARD, worker_ids: [workerId] }, ({ lines }) => {
      for (const line of lines) answer.add(JSON.parse(line));
    });
    return Effect.as(read, answer);
  });

/** The text that the agent itself called its answer; undefined if its record does not hold all of it. */
export const wholeFinalText = (completion: AgentCompletion | null): string | undefined => {
  const text = completion?.final_text;
  return text === undefined || text.endsWith(TRUNCATED_SUFFIX) ? undefined : text;
};

/** The error for a worker without an answer. It says why there is none. */
export const silent = (
  { id, incarnation, error }: Pick<WorkerRow, "id" | "incarnation" | "error">,
  isLive: boolean,
): HoldfastError => {
  const nothing = `Worker ${id} has said nothing${incarnation > 1 ? ` in its incarnation ${incarnation}` : ""}`;
  if (isLive || error === null)
    return new HoldfastError("OUTPUT_NOT_FOUND", `${nothing}${isLive ? " yet" : ""}.`);
  const { code, message } = error;
  return new HoldfastError("OUTPUT_NOT_FOUND", `${nothing}, and ended with: ${message}`, {
    detail: `${code}: ${message}`,
    suggestion: ERROR_CATALOGUE[code].next,
    details: { cause: error },
  });
};

/** The error for an agent whose answer may have been in a line that was left out. */
export const unread = (id: string, omitted_bytes: number): HoldfastError =>
  new HoldfastError(
    "OUTPUT_NOT_FOUND",
    `Worker ${id} has printed no answer that could be read: ${omitted_bytes} bytes of its output were left out.`,
    { suggestion: `Look at what it printed, while it is kept: \`agent logs ${id} --raw\`.` },
  );

/** The records that an answer is made of. */
const HEARD: RecordFilter = {
  types: ["worker_log_chunk", "turn_started"],
  kinds: ["TextOutput", "ToolCall", "ToolResult"],
};

/** Collects the last message, with at most `maxBytes` of it in memory. */
class AnswerText {
  private readonly maxBytes: number;
  private parts: string[] = [];
  private bytes = 0;
  private shown = 0;
  /** The id of the current message; null if the agent gives no ids. */
  private message: unknown;
  /** Something else followed the message, so that text without an id begins another one. */
  private isOver = false;
  /** Bytes of lines that were left out. */
  private omitted = 0;
  private gaps: GapPayload[] = [];

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** Bytes of the whole message, including the part over the bound. */
  get size_bytes(): number {
    return this.bytes;
  }

  add(record: RecordDraft): void {
    switch (record.type) {
      case "log_gap":
        this.gaps.push(record.payload);
        return;
      case "turn_started":
        this.isOver = true;
        return;
      case "worker_log_chunk":
        if (record.payload.stream === "stdout") this.omitted += record.payload.bytes;
        return;
      case "agent.event":
        this.hear(record.payload);
    }
  }

  private hear({ kind, channel, text, data }: AgentEvent): void {
    const facts = data as { message_id?: unknown; parent_tool_use_id?: unknown } | undefined;
    if (facts?.parent_tool_use_id !== undefined) return; // a sub-agent talks to its agent, not to the user
    const isAnswer = channel === "assistant" || channel === "stdout";
    if (kind !== "TextOutput" || !isAnswer) {
      if (channel !== "stderr") this.isOver = true;
      return;
    }
    if (text === undefined) return;
    const id = channel === "assistant" ? (facts?.message_id ?? null) : "stdout";
    if (id !== this.message || (id === null && this.isOver)) {
      // Gaps and omissions so far belong to earlier messages.
      if (channel === "assistant") {
        this.gaps = [];
        this.omitted = 0;
      }
      this.parts = [];
      this.bytes = 0;
      this.shown = 0;
      this.message = id;
    }
    this.isOver = false;
    const bytes = Buffer.byteLength(text);
    this.bytes += bytes;
    if (this.bytes > this.maxBytes) return;
    this.shown += bytes;
    this.parts.push(text);
  }

  end(): FinalText | IncompleteAnswer | undefined {
    const moved = movedBy(this.gaps);
    if (moved !== null) return { moved };
    const omitted_bytes = this.bytes - this.shown + this.omitted;
    if (this.message === undefined && omitted_bytes === 0) return undefined;
    return { text: this.parts.join(""), truncated: omitted_bytes > 0, omitted_bytes };
  }
}
