/**
 * Writes records, projections and checkpoints of any number of callers in one synchronous transaction. It counts seqs and
 * versions itself, and reads them again from the database after a rollback, so both stay dense.
 *
 * A record without a correlation id gets its worker's, or else its own. Without a causation id it gets its own id: nothing
 * earlier is known to have caused it.
 */
import { isDeepStrictEqual } from "node:util";
import type { Database } from "better-sqlite3";
import { crashPoint } from "../../base/crash-point.ts";
import { isoTime } from "../../base/iso-time.ts";
import { STREAMS_CACHED_MAX } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { isOutput, type LogRecord, type RecordDraft } from "../../protocol/records.ts";
import type { AppendOptions } from "../event-log.ts";
import { type ChecksumFields, COLUMNS, checksumOf, lineOf, type Row, verifiedLine } from "./checksum.ts";
import { newestSeq } from "./connection.ts";
import { makeInserter } from "./insert.ts";
import type { Projection } from "./projections/projection.ts";
import type { RecentLine, RecentLines } from "./recent.ts";

/** The records of one caller: all of them get into the log, or none. */
export interface AppendBatch {
  readonly drafts: readonly RecordDraft[];
  readonly options: AppendOptions | undefined;
  /** Epoch milliseconds; default: now. */
  readonly recorded_at?: number;
}

/** The parts of a draft that a repeat must have in common with the record. Only the clock stamp may differ. */
const material = ({ type, stream, worker_id, incarnation, payload }: RecordDraft): unknown => {
  const { clock: _, ...facts } = JSON.parse(JSON.stringify(payload));
  return { type, stream, worker_id: worker_id ?? null, incarnation: incarnation ?? null, facts };
};

const sameFact = (stored: LogRecord, draft: RecordDraft): LogRecord => {
  if (isDeepStrictEqual(material(stored), material(draft))) return stored;
  throw new HoldfastError(
    "VERSION_CONFLICT",
    `The id ${stored.id} is taken: record ${stored.seq} of the log has it, with other content.`,
    {
      suggestion: "Use a new idempotency key for a new request.",
      details: { id: stored.id, seq: stored.seq },
    },
  );
};

const statementsOf = (db: Database) => ({
  byId: db.prepare<[string], Row>(`SELECT ${COLUMNS} FROM records WHERE id = ?`).raw(),
  newestVersion: db
    .prepare<[string], number>("SELECT coalesce(max(version), 0) FROM records WHERE stream = ?")
    .pluck(),
  setHead: db.prepare("UPDATE meta SET value = ? WHERE key = 'head'"),
  saveCheckpoint: db.prepare("INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?)"),
  dropCheckpoints: db.prepare("DELETE FROM checkpoints WHERE worker_id = ? AND incarnation = ?"),
});

export interface WriterParts {
  readonly db: Database;
  readonly projection: Projection;
  readonly recent: RecentLines;
  readonly now: () => number;
  readonly newId: () => string;
  /** Called with the newest lifecycle record of each commit. */
  readonly onDurable: (seq: number, id: string) => void;
}

type Results = readonly (readonly LogRecord[])[];

export class Writer {
  private readonly parts: WriterParts;
  private readonly rows: ReturnType<typeof makeInserter>;
  private readonly statements: ReturnType<typeof statementsOf>;
  private readonly transaction: (callers: readonly AppendBatch[]) => Results;
  private newest: number;
  /** The newest seq on the disk; set only while held records are shown. */
  private recorded: number | undefined;
  private recount = false;
  private readonly versions = new Map<string, number>();
  private written: RecentLine[] = [];
  private lifecycle: { readonly seq: number; readonly id: string } | undefined;
  private durable: boolean | undefined;

  constructor(parts: WriterParts) {
    const { db } = parts;
    this.parts = parts;
    this.rows = makeInserter(db, "records", COLUMNS);
    this.statements = statementsOf(db);
    this.newest = newestSeq(db);
    this.transaction = db.transaction((callers: readonly AppendBatch[]) => this.writeAll(callers)).immediate;
  }

  readonly head = (): number => this.recorded ?? this.newest;

  /**
   * Writes all callers' records and returns them per caller, in order. Throws the error of SQLite, and then nothing is
   * written.
   */
  write(callers: readonly AppendBatch[]): Results {
    const { recent, onDurable } = this.parts;
    this.countAgain();
    const before = this.newest;
    crashPoint("append-before");
    this.setDurable(
      callers.some(
        ({ drafts, options }) => options?.durable === true || drafts.some(({ type }) => !isOutput(type)),
      ),
    );
    try {
      const results = this.transaction(callers);
      crashPoint("append-after");
      for (const line of this.written) recent.push(line);
      if (this.lifecycle !== undefined) onDurable(this.lifecycle.seq, this.lifecycle.id);
      return results;
    } catch (cause) {
      this.forget(before);
      throw cause;
    } finally {
      // The stream has most likely ended, so its version is no longer cached. This is done last: until the rows are
      // inserted, the database does not know the version.
      for (const { stream, type } of this.written) if (type === "worker_ended") this.versions.delete(stream);
      this.letGo();
      if (this.versions.size > STREAMS_CACHED_MAX) this.versions.clear();
    }
  }

  /**
   * Applies records in a transaction that stays open, after those already in it, so that reads on this connection show
   * them.
   */
  show(callers: readonly AppendBatch[]): Results {
    const { db } = this.parts;
    if (!db.inTransaction) {
      this.countAgain();
      this.recorded = this.newest;
      this.setDurable(true);
      // Keep SQLite from writing any of it to the disk before it is recorded.
      db.pragma("cache_spill = OFF");
      db.pragma("temp_store = MEMORY");
      db.exec("BEGIN IMMEDIATE");
    }
    const results = this.transaction(callers);
    this.letGo();
    return results;
  }

  /** Rolls back everything shown. */
  hide(): void {
    const { db } = this.parts;
    if (db.inTransaction) db.exec("ROLLBACK");
    if (this.recorded === undefined) return;
    this.forget(this.recorded);
    this.recorded = undefined;
    this.letGo();
    db.pragma("cache_spill = ON");
    db.pragma("temp_store = DEFAULT");
  }

  private writeAll(callers: readonly AppendBatch[]): Results {
    const { saveCheckpoint, dropCheckpoints, setHead } = this.statements;
    const at_ms = this.parts.now();
    const results = callers.map(({ drafts, options, recorded_at = at_ms }) => {
      const records = drafts.map((draft) => this.append(draft, recorded_at));
      const at = options?.checkpoint;
      if (at)
        saveCheckpoint.run(
          at.worker_id,
          at.incarnation,
          at.stream,
          at.offset,
          at.skipped_bytes,
          at.decoder_version,
          at.decoder_state,
        );
      const drop = options?.drop_checkpoints;
      if (drop) dropCheckpoints.run(drop.worker_id, drop.incarnation);
      return records;
    });
    this.rows.flush();
    crashPoint("append-mid-projection");
    this.parts.projection.flush();
    setHead.run(this.newest);
    crashPoint("append-before-commit");
    return results;
  }

  private append(draft: RecordDraft, recordedAt: number): LogRecord {
    const stored = draft.id === undefined ? undefined : this.findStored(draft.id);
    if (stored) return sameFact(stored, draft);
    const { stream, type, payload } = draft;
    const seq = this.newest + 1;
    const version = (this.versions.get(stream) ?? this.statements.newestVersion.get(stream) ?? 0) + 1;
    const id = draft.id ?? this.parts.newId();
    const worker = draft.worker_id ?? null;
    const incarnation = draft.incarnation ?? null;
    const correlation = draft.correlation_id ?? worker ?? id;
    const causation = draft.causation_id ?? id;
    const json = JSON.stringify(payload);
    const facts: ChecksumFields = [
      seq,
      id,
      stream,
      version,
      type,
      recordedAt,
      worker,
      incarnation,
      correlation,
      causation,
      json,
    ];
    const line = lineOf(facts);
    this.rows.add([...facts, checksumOf(line)]);
    this.newest = seq;
    this.versions.set(stream, version);
    if (!isOutput(type)) this.lifecycle = { seq, id };
    this.written.push({ seq, stream, type, kind: type === "agent.event" ? payload.kind : undefined, line });
    const record = {
      seq,
      id,
      stream,
      version,
      type,
      recorded_at: isoTime(recordedAt),
      worker_id: draft.worker_id,
      incarnation: draft.incarnation,
      correlation_id: correlation,
      causation_id: causation,
      payload,
    } as LogRecord;
    this.parts.projection.fold(record);
    return record;
  }

  private findStored(id: string): LogRecord | undefined {
    this.rows.flush(); // the record may be in this batch
    const row = this.statements.byId.get(id) as Row | undefined;
    return row && JSON.parse(verifiedLine(row));
  }

  /**
   * Sets whether commits are durable. FULL syncs the WAL at the commit; NORMAL leaves that to the next checkpoint or FULL
   * commit. SQLite refuses a change inside a transaction.
   */
  private setDurable(wanted: boolean): void {
    if (wanted === this.durable) return;
    this.parts.db.pragma(`synchronous = ${wanted ? "FULL" : "NORMAL"}`);
    this.durable = wanted;
  }

  private countAgain(): void {
    if (this.recount) this.newest = newestSeq(this.parts.db);
    this.recount = false;
  }

  /** Forgets the lines of the last transaction: they were published, or never will be. */
  private letGo(): void {
    this.written = [];
    this.lifecycle = undefined;
  }

  private forget(before: number): void {
    this.rows.reset();
    this.parts.projection.reset();
    this.versions.clear();
    this.newest = before; // readers go on; the next write counts again, when the database may work again
    this.recount = true;
  }
}
