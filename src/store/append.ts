/**
 * The writer: records, projections and checkpoints of any number of callers in one synchronous transaction. Seq and
 * versions are counted here and read again from the database after a rollback, so both stay dense.
 *
 * A record without a stated correlation belongs to its worker's, else to itself. Without a stated cause it is its own
 * cause: nothing earlier is known to have caused it.
 */
import { isDeepStrictEqual } from "node:util";
import type { Database } from "better-sqlite3";
import { crashPoint } from "../base/crash-point.ts";
import { STREAMS_CACHED_MAX } from "../base/limits.ts";
import { HoldfastError } from "../protocol/errors.ts";
import { isOutput, type LogRecord, type RecordDraft } from "../protocol/records.ts";
import { COLUMNS, checksumOf, type Facts, isoTime, lineOf, type Row, verifiedLine } from "./checksum.ts";
import { newestSeq } from "./connection.ts";
import { makeInserter } from "./insert.ts";
import type { AppendOptions } from "./port.ts";
import type { Projection } from "./projections/projection.ts";
import type { Recent, RecentLine } from "./recent.ts";

/** The records that one caller hands over: all of them is in the log, or none. */
export interface Draft {
  readonly drafts: readonly RecordDraft[];
  readonly options: AppendOptions | undefined;
  /** Epoch milliseconds; now, where it is not given. */
  readonly recorded_at?: number;
}

export interface Writer {
  head(): number;
  /** Returns the records of each caller, in order. Throws what SQLite throws; nothing is written then. */
  write(callers: readonly Draft[]): readonly (readonly LogRecord[])[];
  /** Applies them in a transaction that stays open, after those that are in it: this connection's rows say what they say. */
  show(callers: readonly Draft[]): readonly (readonly LogRecord[])[];
  /** Rolls all of that back. */
  hide(): void;
}

/** Stamps of the same fact told twice differ; all else of a draft must be what the log has. */
const material = ({ type, stream, worker_id, incarnation, payload }: RecordDraft): unknown => {
  const { clock: _, ...facts } = JSON.parse(JSON.stringify(payload));
  return { type, stream, worker_id: worker_id ?? null, incarnation: incarnation ?? null, facts };
};

const sameFact = (stored: LogRecord, draft: RecordDraft): LogRecord => {
  if (isDeepStrictEqual(material(stored), material(draft))) return stored;
  throw new HoldfastError(
    "VERSION_CONFLICT",
    `The id ${stored.id} is taken: record ${stored.seq} of the log has it and says something else.`,
    {
      suggestion: "Use a new idempotency key for a new request.",
      details: { id: stored.id, seq: stored.seq },
    },
  );
};

export const makeWriter = (
  db: Database,
  projection: Projection,
  recent: Recent,
  now: () => number,
  newId: () => string,
  onDurable: (seq: number, id: string) => void,
): Writer => {
  const rows = makeInserter(db);
  const byId = db.prepare<[string], Row>(`SELECT ${COLUMNS} FROM records WHERE id = ?`).raw();
  const newestVersion = db
    .prepare<[string], number>("SELECT coalesce(max(version), 0) FROM records WHERE stream = ?")
    .pluck();
  const setHead = db.prepare("UPDATE meta SET value = ? WHERE key = 'head'");
  const saveCheckpoint = db.prepare("INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?)");
  const dropCheckpoints = db.prepare("DELETE FROM checkpoints WHERE worker_id = ? AND incarnation = ?");

  let head = newestSeq(db);
  /** The newest seq that is on the disk, while more than that is shown. */
  let recorded: number | undefined;
  let recount = false;
  const versions = new Map<string, number>();
  let written: RecentLine[] = [];
  let lifecycle: { readonly seq: number; readonly id: string } | undefined;
  let durable: boolean | undefined;

  const findStored = (id: string): LogRecord | undefined => {
    rows.flush(); // it may be in this batch
    const row = byId.get(id) as Row | undefined;
    return row && JSON.parse(verifiedLine(row));
  };

  const append = (draft: RecordDraft, recordedAt: number): LogRecord => {
    const stored = draft.id === undefined ? undefined : findStored(draft.id);
    if (stored) return sameFact(stored, draft);
    const { stream, type, payload } = draft;
    const seq = head + 1;
    const version = (versions.get(stream) ?? newestVersion.get(stream) ?? 0) + 1;
    const id = draft.id ?? newId();
    const worker = draft.worker_id ?? null;
    const incarnation = draft.incarnation ?? null;
    const correlation = draft.correlation_id ?? worker ?? id;
    const causation = draft.causation_id ?? id;
    const json = JSON.stringify(payload);
    const facts: Facts = [
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
    rows.add(facts, checksumOf(line));
    head = seq;
    versions.set(stream, version);
    if (!isOutput(type)) lifecycle = { seq, id };
    written.push({ seq, stream, type, kind: type === "agent.event" ? payload.kind : undefined, line });
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
    projection.fold(record);
    return record;
  };

  const transaction = db.transaction((callers: readonly Draft[]) => {
    const at_ms = now();
    const results = callers.map(({ drafts, options, recorded_at = at_ms }) => {
      const records = drafts.map((draft) => append(draft, recorded_at));
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
    rows.flush();
    crashPoint("append-mid-projection");
    projection.flush();
    setHead.run(head);
    crashPoint("append-before-commit");
    return results;
  }).immediate;

  /** FULL syncs the WAL at the commit; NORMAL leaves that to the next checkpoint or FULL commit. Not settable inside a transaction. */
  const setDurable = (wanted: boolean): void => {
    if (wanted === durable) return;
    db.pragma(`synchronous = ${wanted ? "FULL" : "NORMAL"}`);
    durable = wanted;
  };

  const forget = (before: number): void => {
    rows.reset();
    projection.reset();
    versions.clear();
    head = before; // readers go on; the next write counts again, when the database may answer again
    recount = true;
  };

  return {
    head: () => recorded ?? head,
    show: (callers) => {
      if (!db.inTransaction) {
        if (recount) head = newestSeq(db);
        recount = false;
        recorded = head;
        setDurable(true);
        // Nothing of it goes to a disk before it is recorded.
        db.pragma("cache_spill = OFF");
        db.pragma("temp_store = MEMORY");
        db.exec("BEGIN IMMEDIATE");
      }
      const results = transaction(callers);
      written = [];
      lifecycle = undefined;
      return results;
    },
    hide: () => {
      if (db.inTransaction) db.exec("ROLLBACK");
      if (recorded === undefined) return;
      forget(recorded);
      recorded = undefined;
      written = [];
      lifecycle = undefined;
      db.pragma("cache_spill = ON");
      db.pragma("temp_store = DEFAULT");
    },
    write: (callers) => {
      if (recount) head = newestSeq(db);
      recount = false;
      const before = head;
      crashPoint("append-before");
      setDurable(
        callers.some(
          ({ drafts, options }) => options?.durable === true || drafts.some(({ type }) => !isOutput(type)),
        ),
      );
      try {
        const results = transaction(callers);
        crashPoint("append-after");
        for (const line of written) recent.push(line);
        if (lifecycle !== undefined) onDurable(lifecycle.seq, lifecycle.id);
        return results;
      } catch (cause) {
        forget(before);
        throw cause;
      } finally {
        // Its stream has most likely ended, too. Not earlier: until the rows are inserted the database does not know its version.
        for (const { stream, type } of written) if (type === "worker_ended") versions.delete(stream);
        written = [];
        lifecycle = undefined;
        if (versions.size > STREAMS_CACHED_MAX) versions.clear();
      }
    },
  };
};
