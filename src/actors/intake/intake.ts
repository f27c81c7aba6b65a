/**
 * Reads the output of one incarnation batch by batch; each batch is one transaction with its checkpoint. It opens at the
 * first read, so that a log that cannot be read now delays the output and is no error of the agent.
 */
import { Deferred, Effect, Semaphore } from "effect";
import type { AgentAdapter, ExitFacts, Opening, SpoolName } from "../../adapters/adapter.ts";
import type { Run } from "../../adapters/spawner.ts";
import { crashPoint } from "../../base/crash-point.ts";
import {
  DELIVERY_RECORD_MAX_MS,
  HELD_DRAIN_MAX_BYTES,
  HELD_OUTPUT_MAX_BYTES,
  SHORTAGE_RETRY_MS,
} from "../../base/limits.ts";
import { isShortOfDescriptors } from "../../base/system-errors.ts";
import type { RecordDraft, Usage } from "../../protocol/records.ts";
import type { Redactor } from "../../protocol/redact.ts";
import type { AppendOptions, Checkpoint } from "../../store/event-log.ts";
import type { Journal } from "../deciding/journal.ts";
import type { OutputActivity } from "../output-activity.ts";
import { type FinishReport, Ingest, type IngestOptions, type PullResult } from "./ingest.ts";
import { Releasing } from "./releasing.ts";

/** Called after a batch is durable, if it made records or told new usage of the open turn. */
export interface RecordsListener {
  onRecords(drafts: readonly RecordDraft[]): void;
}

/**
 * Disk space of an agent's output, in bytes. `held`: not freed yet, because the output is not in the log or cannot be
 * released here.
 */
export interface SpoolRoom {
  readonly held: number;
  /** The part of `held` that reading cannot free. */
  readonly stays: number;
}

export interface IntakeParts {
  readonly journal: Journal;
  readonly adapter: AgentAdapter;
  readonly run: Run;
  readonly opening: Opening;
  readonly redact: Redactor;
  readonly reader: RecordsListener;
  readonly outputActivity: OutputActivity;
  readonly account: IngestOptions["account"];
}

export class Intake {
  private readonly journal: Journal;
  private readonly adapter: AgentAdapter;
  private readonly run: Run;
  private readonly opening: Opening;
  private readonly redact: Redactor;
  private readonly reader: RecordsListener;
  private readonly outputActivity: OutputActivity;
  private readonly account: IngestOptions["account"];
  private lock: Semaphore.Semaphore | undefined;
  private readonly releasing: Releasing;
  private ingest: Ingest | undefined;
  /** A read waits for its turn and will include all output so far. */
  private wanted = false;
  private finished = false;
  private isCut = false;
  /** Resolves when the message that is being written has been delivered. */
  private delivery: Deferred.Deferred<void> | undefined;
  private onCut: (() => void) | undefined;
  /** The last measurement. `hasChanged`: something was written or read since. */
  private newestRoom: SpoolRoom = { held: 0, stays: 0 };
  private hasChanged = true;
  /** Usage of the open turn when the listener was last called. */
  private spent: Usage | undefined;
  /** The offset up to which each stream is in the log. */
  private readonly ingested: Partial<Record<SpoolName, number>> = {};

  constructor(parts: IntakeParts) {
    const { journal, adapter, run, opening, redact, reader, outputActivity, account } = parts;
    this.journal = journal;
    this.adapter = adapter;
    this.run = run;
    this.opening = opening;
    this.redact = redact;
    this.reader = reader;
    this.outputActivity = outputActivity;
    this.account = account;
    this.releasing = new Releasing(run);
  }

  /** Allows one read at a time. Made late, because a quiet agent never needs it. */
  private get reading(): Semaphore.Semaphore {
    this.lock ??= Semaphore.makeUnsafe(1);
    return this.lock;
  }

  /** Called when the agent may have written something. */
  wrote(): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.hasChanged = true;
      if (this.wanted || this.finished || this.adapter.streams.length === 0) return Effect.void;
      this.wanted = true;
      return this.drain();
    });
  }

  /** Reads all output so far. */
  drain(): Effect.Effect<void> {
    if (this.adapter.streams.length === 0) return Effect.void;
    return this.reading.withPermits(1)(
      Effect.gen({ self: this }, function* () {
        this.wanted = false;
        const source = yield* this.open();
        const { worker_id } = this.run;
        const portion = () => this.outputActivity.portion(worker_id, this.journal.now());
        // On a full disk, a stopped worker's end does not wait: only a little output is read, and held in memory with the
        // end.
        const most = () => (this.journal.hasNoRoom() ? HELD_DRAIN_MAX_BYTES : undefined);
        const next = (long: boolean) =>
          withDescriptor(() => (this.isCut ? source.cut(most()) : undefined) ?? source.pull(portion(), long));
        let begun = this.journal.now();
        for (let batch = yield* next(false); batch !== undefined; batch = yield* next(false)) {
          if (batch.is_long_next) yield* this.readLong(source, next(true));
          else yield* this.keep(source, batch);
          if (batch.more) yield* this.rest(begun);
          begun = this.journal.now();
        }
      }),
    );
  }

  /**
   * Reads a long line, one at a time over all workers: until its records are in the log it takes several times its length
   * in memory. A stopped worker does not wait for its turn: little of its output is read, and another worker's records may
   * wait for room on the disk.
   */
  private readLong(source: Ingest, next: Effect.Effect<PullResult | undefined>): Effect.Effect<void> {
    const { longLines } = this.outputActivity;
    const cut = Effect.callback<boolean>((resume) => {
      this.onCut = () => resume(Effect.succeed(false));
      if (this.isCut) this.onCut();
    });
    const read = Effect.flatMap(next, (batch) =>
      batch === undefined ? Effect.void : this.keep(source, batch),
    );
    return Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(restore(Effect.raceFirst(Effect.as(longLines.take(1), true), cut)), (hasTurn) =>
        hasTurn ? Effect.ensuring(restore(read), longLines.release(1)) : restore(read),
      ),
    );
  }

  /** Delays the records of the agent's output until `delivery` is over, so that an acknowledgement follows its delivery. */
  before<A>(delivery: Effect.Effect<A>): Effect.Effect<A> {
    return Effect.suspend(() => {
      const delivered = Deferred.makeUnsafe<void>();
      this.delivery = delivered;
      const over = Effect.sync(() => {
        this.delivery = undefined;
        Deferred.doneUnsafe(delivered, Effect.void);
      });
      return Effect.ensuring(delivery, over);
    });
  }

  /** A delivery that hangs delays output for DELIVERY_RECORD_MAX_MS at most, and that of a stopped agent not at all. */
  private keep(source: Ingest, batch: PullResult): Effect.Effect<void> {
    const { delivery } = this;
    if (delivery === undefined || this.isCut) return this.kept(source, batch);
    return Effect.andThen(
      Effect.timeoutOption(Deferred.await(delivery), DELIVERY_RECORD_MAX_MS),
      Effect.suspend(() => {
        if (this.delivery === delivery) this.delivery = undefined;
        return this.kept(source, batch);
      }),
    );
  }

  /** Commits the records of a batch with its checkpoint. */
  private kept(source: Ingest, { checkpoint, drafts, more }: PullResult): Effect.Effect<void> {
    const { stream, offset } = checkpoint;
    if (!more) this.outputActivity.heard(this.run.worker_id, this.journal.now());
    // A part of an unfinished line leaves nothing to commit.
    const bytes = offset - (this.ingested[stream] ?? 0);
    if (drafts.length === 0 && bytes === 0) return Effect.void;
    const below = this.releasing.due(stream, offset);
    const how = (): AppendOptions => ({
      checkpoint,
      durable: below !== undefined,
      flood: more,
      ...(this.isCut ? { holds: true, instead: source.leftOut(stream, bytes, HELD_OUTPUT_MAX_BYTES) } : {}),
    });
    return Effect.map(this.journal.note(drafts, how), () => {
      crashPoint("intake-between-batches");
      this.ingested[stream] = offset;
      this.hasChanged = true;
      if (below !== undefined) this.releasing.release(stream, below);
      const spending = this.spending();
      if (drafts.length > 0 || spending !== this.spent) this.reader.onRecords(drafts);
      this.spent = spending;
    });
  }

  /** Lets other workers read. A stopped worker goes on at once: little is left to read, and its end waits for it. */
  private rest(begun: number): Effect.Effect<void> {
    if (this.isCut) return Effect.void;
    const now = this.journal.now();
    const rest_ms = this.outputActivity.rest(this.run.worker_id, now - begun, now);
    return rest_ms > 0 ? Effect.sleep(rest_ms) : Effect.void;
  }

  /** Called when the worker is stopped: of much unread output only the end is read. */
  cut(): void {
    this.isCut = true;
    this.onCut?.();
  }

  /** The current state of the decoder. */
  state(): Effect.Effect<unknown> {
    return Effect.suspend(() =>
      this.ingest === undefined
        ? Effect.map(this.reading.withPermits(1)(this.open()), (source) => source.state())
        : Effect.succeed(this.ingest.state()),
    );
  }

  /** Undefined until it is known how far the output has been read. */
  room(): SpoolRoom | undefined {
    if (this.ingest === undefined && this.adapter.streams.length > 0) return undefined;
    if (this.hasChanged) this.newestRoom = this.measured();
    this.hasChanged = false;
    return this.newestRoom;
  }

  private measured(): SpoolRoom {
    let held = 0;
    let stays = 0;
    for (const stream of SPOOLS) {
      const source = this.run.source(stream);
      held += source.held(this.ingested[stream] ?? 0);
      stays += source.held(this.adapter.streams.includes(stream) ? Number.POSITIVE_INFINITY : 0);
    }
    return { held, stays };
  }

  /** Bytes of output that are in the log or were left out. */
  read(): number {
    return SPOOLS.reduce((sum, stream) => sum + (this.ingested[stream] ?? 0), 0);
  }

  /** Usage of the open turn, as far as it was told and is in the log. */
  spending(): Usage | undefined {
    return this.ingest?.spending();
  }

  /**
   * Called after the exit: reads the rest of the output, then asks the adapter for its verdict. Nothing is read after it.
   */
  finish(exit: ExitFacts): Effect.Effect<FinishReport> {
    return Effect.suspend(() => {
      this.finished = true;
      return this.reading.withPermits(1)(Effect.flatMap(this.open(), (source) => this.ending(source, exit)));
    });
  }

  private ending(source: Ingest, exit: ExitFacts): Effect.Effect<FinishReport> {
    return Effect.gen({ self: this }, function* () {
      const last = withDescriptor(() => source.pullLast());
      while (source.hasLongLast()) yield* this.readLong(source, last);
      return yield* withDescriptor(() => source.finish(exit));
    });
  }

  private open(): Effect.Effect<Ingest> {
    return Effect.suspend(() => {
      if (this.ingest !== undefined) return Effect.succeed(this.ingest);
      const { worker_id, incarnation } = this.run;
      return Effect.map(
        this.journal.ask(({ log }) => log.checkpoints(worker_id, incarnation)),
        (known) => this.openAt(known),
      );
    });
  }

  private openAt(checkpoints: readonly Checkpoint[]): Ingest {
    const { worker_id } = this.run;
    for (const { stream, offset } of checkpoints) this.ingested[stream] ??= offset;
    const opened = new Ingest({
      adapter: this.adapter,
      worker_id,
      opening: this.opening,
      source: (stream) => this.run.source(stream),
      checkpoints,
      redact: this.redact,
      account: this.account,
    });
    // A run without streams is only asked for its verdict, once, so nothing is kept.
    if (this.adapter.streams.length > 0) this.ingest = opened;
    for (const { stream, offset } of checkpoints) this.ingested[stream] = offset;
    return opened;
  }
}

const SPOOLS: readonly SpoolName[] = ["stdout", "stderr"];

/** Reads again and again while the daemon has no descriptor left: the output waits in its spool, and the agent goes on. */
const withDescriptor = <A>(read: () => A): Effect.Effect<A> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(read());
    } catch (cause) {
      if (!isShortOfDescriptors(cause)) throw cause;
      return Effect.andThen(Effect.sleep(SHORTAGE_RETRY_MS), withDescriptor(read));
    }
  });
