/**
 * Reads what one incarnation writes: batch by batch, each one transaction with its checkpoint. Opened at the first read,
 * so that a log which cannot be read just now is waited for and not an error of the agent.
 */
import { Deferred, Effect, Semaphore } from "effect";
import type { AgentAdapter, ExitFacts, Opening, SpoolName } from "../../adapters/adapter.ts";
import type { Run } from "../../adapters/spawner.ts";
import { crashPoint } from "../../base/crash-point.ts";
import { DELIVERY_RECORD_MAX_MS, HELD_DRAIN_MAX_BYTES, HELD_OUTPUT_MAX_BYTES } from "../../base/limits.ts";
import type { RecordDraft, Usage } from "../../protocol/records.ts";
import type { Redactor } from "../../protocol/redact.ts";
import type { AppendOptions, Checkpoint } from "../../store/event-log.ts";
import type { Journal } from "../deciding/journal.ts";
import type { OutputActivity } from "../output-activity.ts";
import { type FinishReport, Ingest, type IngestOptions, type PullResult } from "./ingest.ts";
import { Releasing } from "./releasing.ts";

/** Told of each batch that made records, or told what the open turn uses, once it is durable. */
export interface RecordsListener {
  onRecords(drafts: readonly RecordDraft[]): void;
}

/** Bytes of an agent's output that lie on the disk, and that the log does not let go of. */
export interface SpoolRoom {
  readonly held: number;
  /** Among these, the bytes that no reading will change. */
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
  /** A read waits for its turn: what is written by then is read by it. */
  private wanted = false;
  private finished = false;
  private isCut = false;
  /** A message that is being written to the agent. */
  private delivery: Deferred.Deferred<void> | undefined;
  private onCut: (() => void) | undefined;
  /** And whether something was written or read since that was asked. */
  private newestRoom: SpoolRoom = { held: 0, stays: 0 };
  private hasChanged = true;
  /** By its open turn, when that was looked at last. */
  private spent: Usage | undefined;
  /** Up to where each stream is in the log. */
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

  /** One read at a time; a quiet agent never needs it. */
  private get reading(): Semaphore.Semaphore {
    this.lock ??= Semaphore.makeUnsafe(1);
    return this.lock;
  }

  /** Something may have been written. */
  wrote(): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.hasChanged = true;
      if (this.wanted || this.finished || this.adapter.streams.length === 0) return Effect.void;
      this.wanted = true;
      return this.drain();
    });
  }

  /** Reads all that is there. */
  drain(): Effect.Effect<void> {
    if (this.adapter.streams.length === 0) return Effect.void;
    return this.reading.withPermits(1)(
      Effect.gen({ self: this }, function* () {
        this.wanted = false;
        const source = yield* this.open();
        const { worker_id } = this.run;
        const portion = () => this.outputActivity.portion(worker_id, this.journal.now());
        // On a full disk the end of a worker that was stopped waits for nothing: the little that is read is held with it.
        const most = () => (this.journal.hasNoRoom() ? HELD_DRAIN_MAX_BYTES : undefined);
        const next = (long: boolean) =>
          (this.isCut ? source.cut(most()) : undefined) ?? source.pull(portion(), long);
        let begun = this.journal.now();
        for (let batch = next(false); batch !== undefined; batch = next(false)) {
          if (batch.is_long_next) yield* this.readLong(source, () => next(true));
          else yield* this.keep(source, batch);
          if (batch.more) yield* this.rest(begun);
          begun = this.journal.now();
        }
      }),
    );
  }

  /**
   * One at a time of all workers: a long line takes several times its length in memory until its records are in the log. A worker that
   * was stopped waits for nobody: little of its output is read, and another one's records may wait for room on the disk.
   */
  private readLong(source: Ingest, next: () => PullResult | undefined): Effect.Effect<void> {
    const { longLines } = this.outputActivity;
    const cut = Effect.callback<boolean>((resume) => {
      this.onCut = () => resume(Effect.succeed(false));
      if (this.isCut) this.onCut();
    });
    const read = Effect.suspend(() => {
      const batch = next();
      return batch === undefined ? Effect.void : this.keep(source, batch);
    });
    return Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(restore(Effect.raceFirst(Effect.as(longLines.take(1), true), cut)), (hasTurn) =>
        hasTurn ? Effect.ensuring(restore(read), longLines.release(1)) : restore(read),
      ),
    );
  }

  /** Puts on record what its agent says after this: an acknowledgement follows its delivery. */
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

  /** A delivery that hangs holds up no output for long, and that of an agent that was stopped not at all. */
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

  /** The records of a batch, with the place up to which they have been read. */
  private kept(source: Ingest, { checkpoint, drafts, more }: PullResult): Effect.Effect<void> {
    const { stream, offset } = checkpoint;
    if (!more) this.outputActivity.heard(this.run.worker_id, this.journal.now());
    // Nothing is known yet of a line that goes on: there is nothing to be kept.
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

  /** Others have their turn, unless it was stopped: what is left to read of it then is little, and its end waits for it. */
  private rest(begun: number): Effect.Effect<void> {
    if (this.isCut) return Effect.void;
    const now = this.journal.now();
    const rest_ms = this.outputActivity.rest(this.run.worker_id, now - begun, now);
    return rest_ms > 0 ? Effect.sleep(rest_ms) : Effect.void;
  }

  /** It was stopped: of much that nobody has read yet, only the end is. */
  cut(): void {
    this.isCut = true;
    this.onCut?.();
  }

  /** The state of its decoder by now. */
  state(): Effect.Effect<unknown> {
    return Effect.suspend(() =>
      this.ingest === undefined
        ? Effect.map(this.reading.withPermits(1)(this.open()), (source) => source.state())
        : Effect.succeed(this.ingest.state()),
    );
  }

  /** Undefined while nobody knows how far it has been read. */
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
      held += this.run.held(stream, this.ingested[stream] ?? 0);
      stays += this.run.held(stream, this.adapter.streams.includes(stream) ? Number.POSITIVE_INFINITY : 0);
    }
    return { held, stays };
  }

  /** Bytes of its output that are in the log, or were left out. */
  read(): number {
    return SPOOLS.reduce((sum, stream) => sum + (this.ingested[stream] ?? 0), 0);
  }

  /** By its open turn, as far as that was told and is in the log. */
  spending(): Usage | undefined {
    return this.ingest?.spending();
  }

  /** After the exit: the rest of the output, then the adapter's verdict. Nothing is read after it. */
  finish(exit: ExitFacts): Effect.Effect<FinishReport> {
    return Effect.suspend(() => {
      this.finished = true;
      return this.reading.withPermits(1)(Effect.flatMap(this.open(), (source) => this.ending(source, exit)));
    });
  }

  private ending(source: Ingest, exit: ExitFacts): Effect.Effect<FinishReport> {
    return Effect.gen({ self: this }, function* () {
      while (source.hasLongLast()) yield* this.readLong(source, () => source.pullLast());
      return source.finish(exit);
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
      spool: (stream) => this.run.spool(stream),
      checkpoints,
      redact: this.redact,
      account: this.account,
    });
    // A run that is only asked for its verdict is asked once.
    if (this.adapter.streams.length > 0) this.ingest = opened;
    for (const { stream, offset } of checkpoints) this.ingested[stream] = offset;
    return opened;
  }
}

const SPOOLS: readonly SpoolName[] = ["stdout", "stderr"];
