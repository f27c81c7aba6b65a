/**
 * Finds projection rows that were edited: folds the newest workers, the living ones, and the trees again from their
 * records, and compares. Bounded in workers and in records; `check` compares everything. The states of all workers are
 * compared.
 */
import SQLite, { type Database } from "better-sqlite3";
import { HoldfastError } from "../../protocol/errors.ts";
import { treeStream, workerStream } from "../../protocol/records.ts";
import { COLUMNS, intactLine, type Row } from "./checksum.ts";
import { storeError } from "./failure.ts";
import { isNewestSchema } from "./migrations/migrate.ts";
import { projections, resetProjections, TABLES } from "./projections/projection.ts";
import { LIVING } from "./projections/workers.ts";
import { projectionsAreSound, rebuild } from "./rebuild.ts";
import { stateOf, WORKER_STREAMS } from "./standing.ts";
import { STREAM_COLUMNS } from "./stream-columns.ts";

export interface LookLimits {
  /** The bound for the newest workers, for the living ones, and for trees, each. */
  readonly streams: number;
  /** The bound for all records together. A stream with more than `stream_records` is left out. */
  readonly records: number;
  readonly stream_records: number;
}

/** Columns that output changes. Output is not read here. */
const OF_OUTPUT = ["last_seq", "version", "last_event_at"];

/** The newest streams: the last ones in the order of their ULIDs. One index search each. */
const lastStreams = (db: Database, prefix: string, limit: number): readonly string[] => {
  const before = db
    .prepare<[string, string], string | null>(
      "SELECT max(stream) FROM records WHERE stream > ? AND stream < ?",
    )
    .pluck();
  const found: string[] = [];
  for (let at: string | null = `${prefix}~`; found.length < limit; found.push(at)) {
    at = before.get(prefix, at) ?? null;
    if (at === null) break;
  }
  return found;
};

const livingStreams = (db: Database, limit: number): readonly string[] =>
  db
    .prepare<[number], string>(`SELECT id FROM p_workers WHERE ${LIVING} ORDER BY requested_seq DESC LIMIT ?`)
    .pluck()
    .all(limit)
    .map(workerStream);

/** All rows of a stream as text, without the columns that output changes. */
const rowsOf = (db: Database) => {
  const tables = TABLES.map((table) => {
    const { column, streamOf } = STREAM_COLUMNS[table];
    const prefix = streamOf("");
    const names = db.prepare<[], string>(`SELECT name FROM pragma_table_info('${table}')`).pluck().all();
    const compared = names.filter((name) => table !== "p_workers" || !OF_OUTPUT.includes(name));
    const listed = compared.map((name) => `"${name}"`).join();
    const rows = db
      .prepare<[string]>(`SELECT ${listed} FROM ${table} WHERE ${column} = ? ORDER BY 1, 2, 3`)
      .raw();
    return { prefix, rows };
  });
  return (stream: string): string =>
    JSON.stringify(
      tables.map(({ prefix, rows }) =>
        stream.startsWith(prefix) ? rows.all(stream.slice(prefix.length)) : [],
      ),
    );
};

/** Refuses a rebuild if records are missing: the rows may be all that is left of them. */
const refuseMissing = (db: Database, stream: string): void => {
  const [count, newest] = db
    .prepare<[string], [number, number]>("SELECT count(*), max(version) FROM records WHERE stream = ?")
    .raw()
    .get(stream) as [number, number];
  const removed = db
    .prepare<[string], number>(
      `SELECT coalesce(sum(json_extract(payload, '$.records') - 1), 0) FROM records
       WHERE stream = ? AND type NOT IN ('agent.event', 'worker_log_chunk') AND type = 'log_gap'`,
    )
    .pluck()
    .get(stream) as number;
  if (count + removed !== newest)
    throw new HoldfastError("STORE_CORRUPT", `Records of ${stream} are missing from the event log.`);
};

/**
 * The workers whose row has another state than their newest record with a state. A boot takes over workers by these rows,
 * so none is left out: one or two index searches for each worker.
 */
const MISJUDGED = `
  WITH RECURSIVE ${WORKER_STREAMS}, judged (stream, due, state) AS (
    SELECT w.stream, ${stateOf("w.stream")},
      (SELECT state FROM p_workers WHERE id = substr(w.stream, length('worker:') + 1))
    FROM workers w WHERE w.stream IS NOT NULL
  )
  SELECT stream FROM judged WHERE due IS NOT NULL AND due IS NOT state`;

/** Streams whose projected rows differ from their records. Empty for the file of another version. */
export const editedStreams = (db: Database, limits: LookLimits): readonly string[] => {
  if (!isNewestSchema(db) || !projectionsAreSound(db)) return [];
  const looked = new Set([
    ...lastStreams(db, workerStream(""), limits.streams),
    ...livingStreams(db, limits.streams),
    ...lastStreams(db, treeStream(""), limits.streams),
  ]);
  const misjudged = db.prepare<[], string>(MISJUDGED).pluck().all();
  const edited = [...new Set([...misjudged, ...editedAmong(db, looked, limits)])];
  for (const stream of edited) refuseMissing(db, stream);
  return edited;
};

const editedAmong = (db: Database, looked: ReadonlySet<string>, limits: LookLimits): readonly string[] => {
  if (looked.size === 0) return [];
  const folded = new SQLite(":memory:");
  try {
    resetProjections(folded);
    const projection = projections(folded);
    const lifecycle = db
      .prepare<[string, number], Row>(
        `SELECT ${COLUMNS} FROM records WHERE stream = ? AND type NOT IN ('agent.event', 'worker_log_chunk')
         ORDER BY version LIMIT ?`,
      )
      .raw();
    const [stored, due] = [rowsOf(db), rowsOf(folded)];
    const { records, stream_records } = limits;
    let left = records;
    const isEdited = (stream: string): boolean => {
      if (left <= 0) return false;
      const rows = lifecycle.all(stream, stream_records + 1) as Row[];
      left -= rows.length;
      const lines = rows.map(intactLine);
      // The reader of a damaged record reports it, so this comparison does not.
      if (lines.length > stream_records || lines.includes(undefined)) return false;
      for (const line of lines) projection.fold(JSON.parse(line as string));
      projection.flush();
      if (stored(stream) === due(stream)) return false;
      return true;
    };
    return [...looked].filter(isEdited);
  } finally {
    folded.close();
  }
};

/**
 * Rebuilds edited projections at a boot, which takes over workers by these rows. `agent doctor` reports those that cannot
 * be rebuilt now.
 */
export const mendEdited = (db: Database, limits: LookLimits, report: (sentence: string) => void): void => {
  try {
    const [first, ...others] = editedStreams(db, limits);
    if (first === undefined) return;
    rebuild(db);
    report(`${editedSentence(first, others.length)} The projections were rebuilt from the log.`);
  } catch (cause) {
    report(`The projections were not rebuilt: ${storeError(cause).message}`);
  }
};

export const editedSentence = (stream: string, others: number): string =>
  `The projected rows of ${stream}${others === 0 ? "" : ` and ${others} more`} differ from the records: they were edited or damaged.`;
