/**
 * A line becomes records: spool → framer → decoder → bounds → drafts, with the checkpoint that makes it exactly once.
 * Synchronous and bounded: one `pull` reads at most SPOOL_READ_BYTES of one stream, and the caller commits its drafts and
 * its checkpoint in one transaction before it pulls again (architecture §5, Exactly once).
 */
import type { AgentEvent } from "../protocol/agent-event.ts";
import { boundCompletion, boundEvent } from "../protocol/bounds.ts";
import type { AgentCompletion } from "../protocol/completion.ts";
import { ulidOf } from "../protocol/ids.ts";
import { DECODER_STATE_MAX_BYTES, OUTPUT_DRAIN_MAX_BYTES, SPOOL_READ_BYTES } from "../protocol/limits.ts";
import { type RecordDraft, type RecordPayloads, workerStream } from "../protocol/records.ts";
import type { Redactor } from "../protocol/redact.ts";
import type { Checkpoint } from "../store/port.ts";
import type {
  AgentAdapter,
  DecodedItem,
  ExitFacts,
  IncarnationOutcome,
  Line,
  Opening,
  SpoolName,
} from "./adapter.ts";
import { releasedBelow } from "./process/release.ts";
import { type LineReader, makeLineReader, type SpoolPlace } from "./process/spool.ts";
import { type AccountOptions, completedTurn, toolCallsAfter } from "./turn-account.ts";

export interface Pulled {
  readonly drafts: readonly RecordDraft[];
  readonly checkpoint: Checkpoint;
  /** There was more than one read's worth. */
  readonly more: boolean;
}

export interface Ingest {
  /** Next batch of any stream that has one; undefined when all that is written has been read. At most so many lines, of so many bytes. */
  pull(most?: { readonly lines: number; readonly bytes: number }): Pulled | undefined;
  /** In place of a pull, of a worker that was stopped: what it wrote beyond OUTPUT_DRAIN_MAX_BYTES is left out, but for the end of it. */
  cut(): Pulled | undefined;
  /** After the exit and the last pull: unfinished last lines, then the adapter's verdict. */
  finish(exit: ExitFacts): { readonly drafts: readonly RecordDraft[]; readonly outcome: IncarnationOutcome };
  /** What the decoder remembers by now. */
  state(): unknown;
  close(): void;
}

export interface IngestOptions {
  readonly adapter: AgentAdapter;
  readonly worker_id: string;
  readonly opening: Opening;
  readonly spool: (stream: SpoolName) => string;
  readonly checkpoints: readonly Checkpoint[];
  readonly redact: Redactor;
  /** The model that was asked for, and what a turn without a reported cost is thought to cost. */
  readonly account: Pick<AccountOptions, "model" | "estimate">;
}

export const openIngest = (options: IngestOptions): Ingest => {
  const { adapter, worker_id, opening, redact } = options;
  const { incarnation } = opening;
  const account: AccountOptions = { kind: adapter.kind, ...options.account };
  const stream = workerStream(worker_id);
  const { checkpoints } = options;
  const known = newestMemory(checkpoints.filter((c) => c.decoder_version === adapter.decoder_version));
  let state: unknown = known === undefined ? adapter.initial(opening) : known.state;
  let stateJson = JSON.stringify(state);
  // What is counted here is no decoder's: over its versions, no two lines for the agent have one id.
  const counted = newestMemory(checkpoints);
  let batches = counted?.batches ?? 0;
  /** Lines for the agent in this batch. */
  let said = 0;
  let toolCalls = counted?.tool_calls ?? 0;

  const readers = adapter.streams.map((name): { name: SpoolName; reader: LineReader } => {
    const from = checkpoints.find((c) => c.stream === name);
    return {
      name,
      reader: makeLineReader({
        path: options.spool(name),
        offset: from?.offset ?? 0,
        skipped_bytes: from?.skipped_bytes ?? 0,
      }),
    };
  });

  /** In the log that is open it is not, and its place on the disk was given back: an older copy of the log was put back. */
  const passReleased = (name: SpoolName, reader: LineReader): Pulled | undefined => {
    const bytes = reader.pass(releasedBelow(options.spool(name)));
    if (bytes === 0) return undefined;
    return {
      drafts: [chunk(name, "released", bytes, 0)],
      checkpoint: checkpoint(name, reader.place()),
      more: true,
    };
  };
  const unlooked = new Set(readers);

  /** Streams take turns: a flood on one does not hold up what is said on the other. */
  let first = 0;

  const draft = (type: RecordDraft["type"], payload: unknown): RecordDraft =>
    ({ type, stream, worker_id, incarnation, payload }) as RecordDraft;

  const replyDraft = (reply: Extract<DecodedItem, { type: "reply" }>, message_id: string): RecordDraft =>
    draft("worker_message", {
      message_id,
      state: "accepted",
      bound: true,
      line: true,
      ...("closes" in reply
        ? { bytes: 0, closes: true }
        : { bytes: Buffer.byteLength(reply.line), text: reply.line }),
    });

  const chunk = (
    name: SpoolName,
    reason: RecordPayloads["worker_log_chunk"]["reason"],
    bytes: number,
    limit_bytes: number,
  ): RecordDraft => draft("worker_log_chunk", { stream: name, truncated: true, reason, bytes, limit_bytes });

  /** An id of the agent's, which it may give again in its next incarnation, as one of ours. */
  const own = (id: string): string => ulidOf(`${worker_id} ${incarnation} ${id}`);

  const push = (drafts: RecordDraft[], record: DecodedItem): void => {
    if (record.type === "reply") {
      said += 1;
      drafts.push(replyDraft(record, own(`line ${batches} ${said}`)));
      return;
    }
    if (record.type === "approval_requested" || record.type === "approval_withdrawn") {
      const payload = redact.value(record.payload);
      drafts.push(draft(record.type, { ...payload, approval_id: own(record.payload.approval_id) }));
      return;
    }
    const calls = toolCalls;
    toolCalls = toolCallsAfter(calls, record);
    if (record.type !== "agent.event") {
      const payload =
        record.type === "turn_completed" ? completedTurn(record.payload, account, calls) : record.payload;
      drafts.push(draft(record.type, redact.value(payload)));
      return;
    }
    const event = redactEvent(record.payload, redact);
    for (const bounded of boundEvent(event)) drafts.push(draft("agent.event", bounded));
  };

  const fold = (drafts: RecordDraft[], lines: readonly Line[], name: SpoolName): void => {
    const before = state;
    said = 0;
    for (const line of lines) {
      if (line.kind === "truncated") {
        drafts.push(chunk(name, "line_too_long", line.bytes, line.limit_bytes));
      }
      const decoded = adapter.decode(state, masked(line, redact), name);
      state = decoded.state;
      for (const record of decoded.records) push(drafts, record);
    }
    if (state === before) return;
    const json = JSON.stringify(redact.value(state));
    // An adapter that remembers too much loses its memory, never its records.
    if (Buffer.byteLength(json) <= DECODER_STATE_MAX_BYTES) stateJson = json;
    else {
      state = adapter.initial(opening);
      stateJson = JSON.stringify(state);
    }
  };

  const checkpoint = (name: SpoolName, place: SpoolPlace): Checkpoint => {
    batches += 1;
    const decoder_state = `{"batches":${batches},"tool_calls":${toolCalls},"state":${stateJson}}`;
    return {
      worker_id,
      incarnation,
      stream: name,
      ...place,
      decoder_version: adapter.decoder_version,
      decoder_state,
    };
  };

  return {
    pull: (most) => {
      for (let n = 0; n < readers.length; n += 1) {
        const next = readers[(first + n) % readers.length]!;
        const { name, reader } = next;
        const passed = unlooked.delete(next) ? passReleased(name, reader) : undefined;
        if (passed !== undefined) return passed;
        const before = reader.place().offset;
        const batch = reader.read(most?.bytes ?? SPOOL_READ_BYTES, most?.lines);
        if (batch.lines.length === 0 && !batch.more && batch.shrunk_to === undefined) continue;
        first = (first + n + 1) % readers.length;
        const drafts: RecordDraft[] = [];
        if (batch.shrunk_to !== undefined) {
          drafts.push(chunk(name, "spool_shrunk", before - batch.shrunk_to, 0));
        }
        fold(drafts, batch.lines, name);
        return { drafts, checkpoint: checkpoint(name, batch.checkpoint), more: batch.more };
      }
      return undefined;
    },
    cut: () => {
      for (const { name, reader } of readers) {
        const bytes = reader.skip(OUTPUT_DRAIN_MAX_BYTES);
        if (bytes === 0) continue;
        const drafts = [chunk(name, "stopped", bytes, OUTPUT_DRAIN_MAX_BYTES)];
        return { drafts, checkpoint: checkpoint(name, reader.place()), more: false };
      }
      return undefined;
    },
    finish: (exit) => {
      const drafts: RecordDraft[] = [];
      for (const { name, reader } of readers) {
        const last = reader.finish();
        if (last !== undefined) fold(drafts, [last], name);
      }
      const { outcome, records } = adapter.finish(state, {
        ...exit,
        stderr_tail: redact.line(exit.stderr_tail),
      });
      for (const record of records) push(drafts, record);
      return {
        drafts,
        outcome: {
          ...outcome,
          ...(outcome.error === undefined ? {} : { error: redact.value(outcome.error) }),
          completion: boundCompletion(redactCompletion(outcome.completion, redact)),
        } as IncarnationOutcome,
      };
    },
    state: () => state,
    close: () => {
      for (const { reader } of readers) reader.close();
    },
  };
};

/** One memory serves all streams of an adapter: of their checkpoints, the one that was written last has it. */
interface Memory {
  readonly batches: number;
  /** Since the newest turn was completed; an early version has not counted them. */
  readonly tool_calls?: number;
  readonly state: unknown;
}

const newestMemory = (checkpoints: readonly Checkpoint[]): Memory | undefined =>
  checkpoints.map((c) => JSON.parse(c.decoder_state) as Memory).sort((a, b) => b.batches - a.batches)[0];

/** Before anything is cut or remembered: a decoder's state is in the log, too. */
const masked = (line: Line, redact: Redactor): Line => {
  if (line.kind === "text") return { ...line, text: redact.line(line.text) };
  return line.head === undefined ? line : { ...line, head: redact.line(line.head) };
};

/** Secrets never reach the log (protocol-v1.txt, Security invariants); the spool is the declared exception. */
const redactEvent = (event: AgentEvent, redact: Redactor): AgentEvent => {
  const text = event.text === undefined ? undefined : redact.text(event.text);
  const message = event.message === undefined ? undefined : redact.text(event.message);
  const data = event.data === undefined ? undefined : redact.value(event.data);
  if (text === event.text && message === event.message && data === event.data) return event;
  return { ...event, text, message, data } as AgentEvent;
};

const redactCompletion = (completion: AgentCompletion, redact: Redactor): AgentCompletion => ({
  ...completion,
  ...(completion.final_text === undefined ? {} : { final_text: redact.text(completion.final_text) }),
  ...(completion.data === undefined ? {} : { data: redact.value(completion.data) }),
});
