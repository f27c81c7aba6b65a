/** The final answer of a worker, joined from its records: nothing is kept twice. */
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
  /** It is not the whole answer: more than may be shown, or a line over the limit was left out. */
  readonly truncated: boolean;
  readonly omitted_bytes: number;
}

/** Retention has moved the answer, or a part of it: what is left must not pass for the whole. */
export interface IncompleteAnswer {
  readonly moved: MovedOutput;
}

/**
 * An agent's answer is all text of the last message on channel `assistant`: its chunks share `data.message_id`, or, where the agent
 * gives its messages no ids, nothing stands between them: no call of a tool, no reasoning, no new turn. A command's is its whole
 * stdout. Only the newest incarnation counts. Undefined when it printed nothing at all.
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

/** The same of the records after `from`, up to `to`. */
export const textBetween = (
  log: EventLog,
  workerId: string,
  from: number,
  to: number,
): Effect.Effect<FinalText | IncompleteAnswer | undefined, HoldfastError> =>
  Effect.map(answerBetween(log, workerId, { from, to }), (answer) => answer.end());

/** The same, to which more may be added that is not in the log yet. */
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

/** The text that the agent itself has called its answer, where its record has room for all of it. */
export const wholeFinalText = (completion: AgentCompletion | null): string | undefined => {
  const text = completion?.final_text;
  return text === undefined || text.endsWith(TRUNCATED_SUFFIX) ? undefined : text;
};

/** Why there is no answer is the better half of this one. */
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

/** For an agent, whose lines are its protocol: perhaps its answer was in one that nobody has read. */
export const unread = (id: string, omitted_bytes: number): HoldfastError =>
  new HoldfastError(
    "OUTPUT_NOT_FOUND",
    `Worker ${id} has printed no answer that could be read: ${omitted_bytes} bytes of its output were left out.`,
    { suggestion: `Look at what it printed, while it is kept: \`agent logs ${id} --raw\`.` },
  );

/** All that an answer is made of. */
const HEARD: RecordFilter = {
  types: ["worker_log_chunk", "turn_started"],
  kinds: ["TextOutput", "ToolCall", "ToolResult"],
};

/** The text that was said last, with no more of it in memory than may be shown. */
class AnswerText {
  private readonly maxBytes: number;
  private parts: string[] = [];
  private bytes = 0;
  private shown = 0;
  /** Null is any message of an agent that gives them no ids. */
  private message: unknown;
  /** Something else came after it: text without an id is another message then. */
  private isOver = false;
  /** Bytes of lines that nobody has read. */
  private omitted = 0;
  private gaps: GapPayload[] = [];

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** Bytes of all that was said, also of what is over the bound. */
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
      // Text that was moved, or left out, belongs to messages before this one.
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
