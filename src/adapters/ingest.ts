/**
 * A line becomes records: spool → framer → decoder → bounds → drafts, with the checkpoint that makes it exactly once.
 * Synchronous and bounded: one `pull` reads at most SPOOL_READ_BYTES of one stream, and the caller commits its drafts and
 * its checkpoint in one transaction before it pulls again (architecture §5, Exactly once).
 */

import {
  DECODER_STATE_MAX_BYTES,
  LONG_LINE_BYTES,
  OUTPUT_DRAIN_MAX_BYTES,
  SPOOL_READ_BYTES,
} from "../base/limits.ts";
import type { AgentEvent } from "../protocol/agent-event.ts";
import { boundCompletion, boundEvent } from "../protocol/bounds.ts";
import type { AgentCompletion } from "../protocol/completion.ts";
import type { DeniedCalls } from "../protocol/denied.ts";
import { ulidOf } from "../protocol/ids.ts";
import type { IncarnationOutcome } from "../protocol/incarnation.ts";
import { type RecordDraft, type RecordPayloads, type Usage, workerStream } from "../protocol/records.ts";
import type { Redactor } from "../protocol/redact.ts";
import type { Checkpoint } from "../store/port.ts";
import type { AgentAdapter, DecodedItem, ExitFacts, Line, Opening, SpoolName } from "./adapter.ts";
import { NO_CALLS, type OpenCall, openCallsAfter, unendedCall } from "./decoding/open-calls.ts";
import {
  type AccountOptions,
  completedTurn,
  deniedAfter,
  NONE_DENIED,
  toolCallsAfter,
  usageSoFar,
} from "./decoding/turn-account.ts";
import type { Piece } from "./process/framer.ts";
import { releasedBelow } from "./process/release.ts";
import { type LineReader, makeLineReader, type SpoolPlace } from "./process/spool.ts";

export interface Pulled {
  readonly drafts: readonly RecordDraft[];
  readonly checkpoint: Checkpoint;
  /** There was more than one read's worth. */
  readonly more: boolean;
  /** Nothing was read, because the next line is a long one. */
  readonly is_long_next?: true;
}

export interface Finished {
  readonly drafts: readonly RecordDraft[];
  /** A result for each call of a tool that is still open: after `drafts`, and no word of the agent's. */
  readonly unended: readonly RecordDraft[];
  /** The verdict on the failure, apart from `drafts`: whether it is told depends on what else has happened. */
  readonly fault?: AgentEvent;
  readonly outcome: IncarnationOutcome;
}

export interface Ingest {
  /**
   * Next batch of any stream that has one; undefined when all that is written has been read. At most so many lines, of so many bytes,
   * and a line over LONG_LINE_BYTES where `long` says so.
   */
  pull(most?: { readonly lines: number; readonly bytes: number }, long?: boolean): Pulled | undefined;
  /** In place of a pull, of a worker that was stopped: what it wrote beyond so much is left out, but for the end of it. */
  cut(most?: number): Pulled | undefined;
  /** Says of so many bytes that were read that they were left out all the same, because that worker was stopped. */
  leftOut(stream: SpoolName, bytes: number, limit_bytes: number): RecordDraft;
  /** After the exit and the last pull: whether a long last line is left that nothing ended, which `pullLast` reads. */
  hasLongLast(): boolean;
  pullLast(): Pulled | undefined;
  /** Then: unfinished last lines that are left, and the adapter's verdict. */
  finish(exit: ExitFacts): Finished;
  /** The memory of the decoder by now. */
  state(): unknown;
  /** The usage of the open turn so far; undefined where none is open, or nothing of it was told. */
  spending(): Usage | undefined;
  close(): void;
}

export interface IngestOptions {
  readonly adapter: AgentAdapter;
  readonly worker_id: string;
  readonly opening: Opening;
  readonly spool: (stream: SpoolName) => string;
  readonly checkpoints: readonly Checkpoint[];
  readonly redact: Redactor;
  /** The bound of a line: LINE_MAX_BYTES; a test hands in another. */
  readonly limit_bytes?: number;
  /** The model that was asked for, and what a turn without a reported cost is thought to cost. */
  readonly account: Pick<AccountOptions, "model" | "estimate">;
}

export const openIngest = (options: IngestOptions): Ingest => {
  const { adapter, worker_id, redact } = options;
  const opening = { ...options.opening, worker_id };
  const { incarnation } = opening;
  const account: AccountOptions = { kind: adapter.kind, ...options.account };
  const stream = workerStream(worker_id);
  const { checkpoints } = options;
  const known = newestMemory(checkpoints.filter((c) => c.decoder_version === adapter.decoder_version));
  let state: unknown = known === undefined ? adapter.initial(opening) : known.state;
  let stateJson = JSON.stringify(state);
  // The count here is no decoder's: over its versions, no two lines for the agent have one id.
  const counted = newestMemory(checkpoints);
  let batches = counted?.batches ?? 0;
  /** Lines for the agent in this batch. */
  let said = 0;
  let toolCalls = counted?.tool_calls ?? 0;
  let denied = counted?.denied ?? NONE_DENIED;
  let spending = counted?.spending;
  let openCalls = counted?.open_calls ?? NO_CALLS;

  const readers = adapter.streams.map((name): { name: SpoolName; reader: LineReader } => {
    const from = checkpoints.find((c) => c.stream === name);
    return {
      name,
      reader: makeLineReader({
        path: options.spool(name),
        offset: from?.offset ?? 0,
        skipped_bytes: from?.skipped_bytes ?? 0,
        limit_bytes: options.limit_bytes,
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

  const leftOut: Ingest["leftOut"] = (name, bytes, limit) => chunk(name, "stopped", bytes, limit);

  /** An id of the agent's, which it may give again in its next incarnation, as one of ours. */
  const own = (id: string): string => ulidOf(`${worker_id} ${incarnation} ${id}`);

  const push = (drafts: RecordDraft[], record: DecodedItem): void => {
    if (record.type === "reply") {
      said += 1;
      drafts.push(replyDraft(record, own(`line ${batches} ${said}`)));
      return;
    }
    if (record.type === "turn_usage") {
      spending = usageSoFar(record, account);
      return;
    }
    if (record.type === "turn_completed") spending = undefined;
    if (record.type === "approval_requested" || record.type === "approval_withdrawn") {
      const payload = redact.value(record.payload);
      drafts.push(draft(record.type, { ...payload, approval_id: own(record.payload.approval_id) }));
      return;
    }
    const [calls, refused] = [toolCalls, denied];
    toolCalls = toolCallsAfter(calls, record);
    openCalls = openCallsAfter(openCalls, record);
    denied = deniedAfter(refused, record);
    if (record.type !== "agent.event") {
      const payload =
        record.type === "turn_completed"
          ? completedTurn(record.payload, account, calls, refused)
          : record.payload;
      drafts.push(draft(record.type, redact.value(payload)));
      return;
    }
    const event = redactEvent(record.payload, redact);
    for (const bounded of boundEvent(event)) drafts.push(draft("agent.event", bounded));
  };

  const fold = (drafts: RecordDraft[], pieces: readonly Piece[], name: SpoolName): void => {
    const before = state;
    said = 0;
    for (const line of pieces) {
      if (line.kind === "end_of_long") {
        drafts.push(chunk(name, "line_too_long", line.bytes, line.limit_bytes));
        continue;
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
    const open = spending === undefined ? "" : `,"spending":${JSON.stringify(spending)}`;
    const calls = openCalls.length === 0 ? "" : `,"open_calls":${JSON.stringify(redact.value(openCalls))}`;
    const decoder_state = `{"batches":${batches},"tool_calls":${toolCalls},"denied":${JSON.stringify(denied)}${open}${calls},"state":${stateJson}}`;
    return {
      worker_id,
      incarnation,
      stream: name,
      ...place,
      decoder_version: adapter.decoder_version,
      decoder_state,
    };
  };

  const longLast = () => readers.find(({ reader }) => reader.unended() > LONG_LINE_BYTES);

  return {
    pull: (most, long = true) => {
      for (let n = 0; n < readers.length; n += 1) {
        const next = readers[(first + n) % readers.length]!;
        const { name, reader } = next;
        const passed = unlooked.delete(next) ? passReleased(name, reader) : undefined;
        if (passed !== undefined) return passed;
        const before = reader.place().offset;
        const batch = reader.read(most?.bytes ?? SPOOL_READ_BYTES, most?.lines, long);
        if (batch.is_long_next)
          return { drafts: [], checkpoint: checkpoint(name, batch.checkpoint), ...LONG };
        if (batch.pieces.length === 0 && !batch.more && batch.shrunk_to === undefined) continue;
        first = (first + n + 1) % readers.length;
        const drafts: RecordDraft[] = [];
        if (batch.shrunk_to !== undefined) {
          drafts.push(chunk(name, "spool_shrunk", before - batch.shrunk_to, 0));
        }
        fold(drafts, batch.pieces, name);
        return { drafts, checkpoint: checkpoint(name, batch.checkpoint), more: batch.more };
      }
      return undefined;
    },
    cut: (most = OUTPUT_DRAIN_MAX_BYTES) => {
      for (const { name, reader } of readers) {
        const bytes = reader.skip(most);
        if (bytes === 0) continue;
        const drafts = [leftOut(name, bytes, most)];
        return { drafts, checkpoint: checkpoint(name, reader.place()), more: false };
      }
      return undefined;
    },
    leftOut,
    hasLongLast: () => longLast() !== undefined,
    pullLast: () => {
      const { name, reader } = longLast() ?? {};
      const last = reader?.finish();
      if (name === undefined || reader === undefined || last === undefined) return undefined;
      const drafts: RecordDraft[] = [];
      fold(drafts, [last], name);
      return { drafts, checkpoint: checkpoint(name, reader.place()), more: false };
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
      const faults: RecordDraft[] = [];
      for (const record of records) push(isFault(record) ? faults : drafts, record);
      const [fault] = faults;
      const unended: RecordDraft[] = [];
      for (const call of openCalls) push(unended, unendedCall(adapter.kind, call));
      return {
        drafts,
        unended,
        ...(fault?.type === "agent.event" ? { fault: fault.payload } : {}),
        outcome: {
          ...outcome,
          ...(outcome.error === undefined ? {} : { error: redact.value(outcome.error) }),
          completion: boundCompletion(redactCompletion(outcome.completion, redact)),
        } as IncarnationOutcome,
      };
    },
    state: () => state,
    spending: () => spending,
    close: () => {
      for (const { reader } of readers) reader.close();
    },
  };
};

/** One at most is in a verdict (notes A.4). */
const isFault = (item: DecodedItem): boolean => item.type === "agent.event" && item.payload.kind === "Error";

const LONG = { more: true, is_long_next: true } as const;

/** One memory serves all streams of an adapter: of their checkpoints, the one that was written last has it. */
interface Memory {
  readonly batches: number;
  /** Since the newest turn was completed; an early version has not counted them. */
  readonly tool_calls?: number;
  readonly denied?: readonly DeniedCalls[];
  readonly open_calls?: readonly OpenCall[];
  /** The usage of the open turn so far. */
  readonly spending?: Usage;
  readonly state: unknown;
}

/** The ingest of an incarnation that nobody reads just now. */
export const spendingIn = (checkpoints: readonly Checkpoint[]): Usage | undefined =>
  newestMemory(checkpoints)?.spending;

const newestMemory = (checkpoints: readonly Checkpoint[]): Memory | undefined =>
  checkpoints.map((c) => JSON.parse(c.decoder_state) as Memory).sort((a, b) => b.batches - a.batches)[0];

/** Before anything is cut or remembered: a decoder's state is in the log, too. */
const masked = (line: Line, redact: Redactor): Line => {
  if (line.kind === "text") {
    const text = redact.line(line.text);
    return text === line.text ? line : { ...line, text };
  }
  return line.head === undefined ? line : { ...line, head: redact.head(line.head) };
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
