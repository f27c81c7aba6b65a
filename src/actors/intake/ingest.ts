/**
 * Turns lines into records: source → framer → decoder → bounds → drafts, with the checkpoint that makes it exactly once.
 * Synchronous and bounded: one `pull` reads at most SPOOL_READ_BYTES of one stream. The caller commits its drafts and its
 * checkpoint in one transaction before it pulls again (architecture §5, Exactly once).
 */

import type {
  AgentAdapter,
  DecodedItem,
  ExitFacts,
  Line,
  Opening,
  SpoolName,
} from "../../adapters/adapter.ts";
import type { Source } from "../../adapters/source.ts";
import {
  DECODER_STATE_MAX_BYTES,
  LONG_LINE_BYTES,
  OUTPUT_DRAIN_MAX_BYTES,
  SPOOL_READ_BYTES,
} from "../../base/limits.ts";
import type { AgentEvent } from "../../protocol/agent-event.ts";
import { boundCompletion } from "../../protocol/bounds.ts";
import type { AgentCompletion } from "../../protocol/completion.ts";
import type { IncarnationOutcome } from "../../protocol/incarnation.ts";
import type { RecordDraft, Usage } from "../../protocol/records.ts";
import type { Redactor } from "../../protocol/redact.ts";
import type { Checkpoint } from "../../store/event-log.ts";
import { Drafter, type Memory } from "./drafter.ts";
import type { Piece } from "./framer.ts";
import { LineReader, type SpoolPlace } from "./line-reader.ts";
import type { AccountOptions } from "./turn-account.ts";

export interface PullResult {
  readonly drafts: readonly RecordDraft[];
  readonly checkpoint: Checkpoint;
  /** More output is waiting. */
  readonly more: boolean;
  /** Nothing was read, because the next line is a long one. */
  readonly is_long_next?: true;
}

export interface FinishReport {
  readonly drafts: readonly RecordDraft[];
  /** A result for each tool call that is still open. They follow `drafts` and are not the agent's words. */
  readonly unended: readonly RecordDraft[];
  /** The adapter's error event, kept apart from `drafts`: the caller decides whether to record it. */
  readonly fault?: AgentEvent;
  readonly outcome: IncarnationOutcome;
}

export interface IngestOptions {
  readonly adapter: AgentAdapter;
  readonly worker_id: string;
  readonly opening: Opening;
  readonly source: (stream: SpoolName) => Source;
  readonly checkpoints: readonly Checkpoint[];
  readonly redact: Redactor;
  /** The bound of a line; default LINE_MAX_BYTES. Set only by tests. */
  readonly limit_bytes?: number;
  /** The requested model, and the estimate for a turn without a reported cost. */
  readonly account: Pick<AccountOptions, "model" | "estimate">;
}

export class Ingest {
  private readonly adapter: AgentAdapter;
  private readonly opening: Opening;
  private readonly redact: Redactor;
  private readonly drafter: Drafter;
  private readonly readers: readonly { readonly name: SpoolName; readonly reader: LineReader }[];
  /** Streams that were not read yet: a part of their spool may be released already. */
  private readonly unlooked: Set<Ingest["readers"][number]>;
  /** The text behind the last line end of each stream, once it is read; undefined if there is none. */
  private readonly lastLines = new Map<LineReader, Piece | undefined>();
  /** The index of the stream to read first. Streams take turns, so that a flood on one does not hold up the other. */
  private first = 0;
  /** The state of the decoder. */
  private memory: unknown;
  private memoryJson: string;

  constructor(options: IngestOptions) {
    const { adapter, worker_id, checkpoints, redact } = options;
    this.adapter = adapter;
    this.redact = redact;
    this.opening = { ...options.opening, worker_id };
    const known = newestMemory(checkpoints.filter((c) => c.decoder_version === adapter.decoder_version));
    this.memory = known === undefined ? adapter.initial(this.opening) : known.state;
    this.memoryJson = JSON.stringify(this.memory);
    // The drafter's counts outlive a change of the decoder's version, so that no two lines for the agent get the same id.
    this.drafter = new Drafter(options, newestMemory(checkpoints));
    this.readers = adapter.streams.map((name) => {
      const from = checkpoints.find((c) => c.stream === name);
      return {
        name,
        reader: new LineReader({
          source: options.source(name),
          offset: from?.offset ?? 0,
          skipped_bytes: from?.skipped_bytes ?? 0,
          limit_bytes: options.limit_bytes,
        }),
      };
    });
    this.unlooked = new Set(this.readers);
  }

  /**
   * Reads the next batch of any stream that has one; undefined when all output has been read. `most` bounds its lines and
   * bytes. `long`: also read a line over LONG_LINE_BYTES.
   */
  pull(most?: { readonly lines: number; readonly bytes: number }, long = true): PullResult | undefined {
    const { readers, first, drafter } = this;
    for (let n = 0; n < readers.length; n += 1) {
      const next = readers[(first + n) % readers.length]!;
      const { name, reader } = next;
      const passed = this.unlooked.has(next) ? this.passReleased(name, reader) : undefined;
      this.unlooked.delete(next);
      if (passed !== undefined) return passed;
      const before = reader.place().offset;
      const batch = reader.read(most?.bytes ?? SPOOL_READ_BYTES, most?.lines, long);
      if (batch.is_long_next)
        return { drafts: [], checkpoint: this.checkpoint(name, batch.checkpoint), ...LONG };
      if (batch.pieces.length === 0 && !batch.more && batch.shrunk_to === undefined) continue;
      this.first = (first + n + 1) % readers.length;
      const drafts: RecordDraft[] = [];
      if (batch.shrunk_to !== undefined)
        drafts.push(drafter.chunk(name, "spool_shrunk", before - batch.shrunk_to, 0));
      this.fold(drafts, batch.pieces, name);
      return { drafts, checkpoint: this.checkpoint(name, batch.checkpoint), more: batch.more };
    }
    return undefined;
  }

  /**
   * For a stopped worker, before a pull: leaves out its unread output except for the last `most` bytes of each stream.
   * Undefined if nothing was left out.
   */
  cut(most = OUTPUT_DRAIN_MAX_BYTES): PullResult | undefined {
    for (const { name, reader } of this.readers) {
      const bytes = reader.skip(most);
      if (bytes === 0) continue;
      const drafts = [this.leftOut(name, bytes, most)];
      return { drafts, checkpoint: this.checkpoint(name, reader.place()), more: false };
    }
    return undefined;
  }

  /** A record that says that `bytes` of output were left out because the worker was stopped. */
  leftOut(stream: SpoolName, bytes: number, limit_bytes: number): RecordDraft {
    return this.drafter.chunk(stream, "stopped", bytes, limit_bytes);
  }

  /** After the exit and the last pull: true if a long unfinished last line is left for `pullLast`. */
  hasLongLast(): boolean {
    return this.longLast() !== undefined;
  }

  pullLast(): PullResult | undefined {
    const { name, reader } = this.longLast() ?? {};
    const last = reader?.finish();
    if (name === undefined || reader === undefined || last === undefined) return undefined;
    const drafts: RecordDraft[] = [];
    this.fold(drafts, [last], name);
    return { drafts, checkpoint: this.checkpoint(name, reader.place()), more: false };
  }

  /** After that: reads the other unfinished last lines and asks the adapter for its verdict. */
  finish(exit: ExitFacts): FinishReport {
    const { adapter, redact, drafter } = this;
    const drafts: RecordDraft[] = [];
    // All are read before one is folded: a read that finds no descriptor is tried again.
    for (const { reader } of this.readers)
      if (!this.lastLines.has(reader)) this.lastLines.set(reader, reader.finish());
    for (const { name, reader } of this.readers) {
      const last = this.lastLines.get(reader);
      if (last !== undefined) this.fold(drafts, [last], name);
    }
    const stderr_tail = redact.line(exit.stderr_tail);
    const { outcome, records } = adapter.finish(this.memory, { ...exit, stderr_tail });
    const faults: RecordDraft[] = [];
    for (const record of records) drafter.push(isFault(record) ? faults : drafts, record);
    const [fault] = faults;
    return {
      drafts,
      unended: drafter.unended(),
      ...(fault?.type === "agent.event" ? { fault: fault.payload } : {}),
      outcome: {
        ...outcome,
        ...(outcome.error === undefined ? {} : { error: redact.value(outcome.error) }),
        completion: boundCompletion(redactCompletion(outcome.completion, redact)),
      } as IncarnationOutcome,
    };
  }

  /** The current state of the decoder. */
  state(): unknown {
    return this.memory;
  }

  /** Usage of the open turn so far; undefined if no turn is open or no usage was told. */
  spending(): Usage | undefined {
    return this.drafter.spending;
  }

  /** Skips output that was released from the disk but is not in this log: an older copy of the log was put back. */
  private passReleased(name: SpoolName, reader: LineReader): PullResult | undefined {
    const bytes = reader.passReleased();
    if (bytes === 0) return undefined;
    const drafts = [this.drafter.chunk(name, "released", bytes, 0)];
    return { drafts, checkpoint: this.checkpoint(name, reader.place()), more: true };
  }

  private fold(drafts: RecordDraft[], pieces: readonly Piece[], name: SpoolName): void {
    const { adapter, redact, drafter } = this;
    const before = this.memory;
    drafter.beginBatch();
    for (const line of pieces) {
      if (line.kind === "end_of_long") {
        drafts.push(drafter.chunk(name, "line_too_long", line.bytes, line.limit_bytes));
        continue;
      }
      const decoded = adapter.decode(this.memory, masked(line, redact), name);
      this.memory = decoded.state;
      for (const record of decoded.records) drafter.push(drafts, record);
    }
    if (this.memory !== before) this.remember();
  }

  /** Bounds the decoder's state: an adapter that remembers too much loses its state, never its records. */
  private remember(): void {
    const json = JSON.stringify(this.redact.value(this.memory));
    const isInBounds = Buffer.byteLength(json) <= DECODER_STATE_MAX_BYTES;
    if (!isInBounds) this.memory = this.adapter.initial(this.opening);
    this.memoryJson = isInBounds ? json : JSON.stringify(this.memory);
  }

  private checkpoint(name: SpoolName, place: SpoolPlace): Checkpoint {
    const { worker_id, incarnation } = this.drafter;
    return {
      worker_id,
      incarnation,
      stream: name,
      ...place,
      decoder_version: this.adapter.decoder_version,
      decoder_state: this.drafter.checkpointWith(this.memoryJson),
    };
  }

  private longLast() {
    return this.readers.find(({ reader }) => reader.unended() > LONG_LINE_BYTES);
  }
}

/** True for the error event of a verdict, which has at most one (notes A.4). */
const isFault = (item: DecodedItem): boolean => item.type === "agent.event" && item.payload.kind === "Error";

const LONG = { more: true, is_long_next: true } as const;

/** Usage of the open turn by the checkpoints, for an incarnation that is not being read. */
export const spendingIn = (checkpoints: readonly Checkpoint[]): Usage | undefined =>
  newestMemory(checkpoints)?.spending;

const newestMemory = (checkpoints: readonly Checkpoint[]): Memory | undefined =>
  checkpoints.map((c) => JSON.parse(c.decoder_state) as Memory).sort((a, b) => b.batches - a.batches)[0];

/** Masks a line before it is cut or remembered: a decoder's state is in the log too. */
const masked = (line: Line, redact: Redactor): Line => {
  if (line.kind === "text") {
    const text = redact.line(line.text);
    return text === line.text ? line : { ...line, text };
  }
  return line.head === undefined ? line : { ...line, head: redact.head(line.head) };
};

const redactCompletion = (completion: AgentCompletion, redact: Redactor): AgentCompletion => ({
  ...completion,
  ...(completion.final_text === undefined ? {} : { final_text: redact.text(completion.final_text) }),
  ...(completion.data === undefined ? {} : { data: redact.value(completion.data) }),
});
