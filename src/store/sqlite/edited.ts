/**
 * Projection rows that somebody has edited: the newest workers, those that live, and the trees are folded again from their
 * records, and compared. Bounded in workers and in records: `check` compares everything. The states of all workers are compared.
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
  /** Streams of the newest workers, of the living ones, and of trees, each. */
  readonly streams: number;
  /** Records of all of them together; a stream with more than its share is passed over. */
  readonly records: number;
  readonly stream_records: number;
}

/** A change by output is in no lifecycle record, and output is not read here. */
const OF_OUTPUT = ["last_seq", "version", "last_event_at"];

/** ULIDs: the last in their order are the newest. One search of an index each. */
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

/** All rows of a stream as text, but for what output changes. */
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

/** If records are gone, the rows may be all that is left of them: nothing is made anew then. */
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
 * Every worker of the log, and the state that the newest record with one gives it, beside the state of its row. A boot takes over who lives
 * by these rows, so none is passed over: a search or two of an index for each worker.
 */
const MISJUDGED = `
  WITH RECURSIVE ${WORKER_STREAMS}, judged (stream, due, state) AS (
    SELECT w.stream, ${stateOf("w.stream")},
      (SELECT state FROM p_workers WHERE id = substr(w.stream, length('worker:') + 1))
    FROM workers w WHERE w.stream IS NOT NULL
  )
  SELECT stream FROM judged WHERE due IS NOT NULL AND due IS NOT state`;

/** Streams of which a projection says something else than their records do. Nothing of the file of another version. */
export const editedStreams = (db: Database, limits: LookLimits): readonly string[] => {
  if (!isNewestSchema(db) || !projectionsAreSound(db)) return [];
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
    const { streams, records, stream_records } = limits;
    let left = records;
    const isEdited = (stream: string): boolean => {
      if (left <= 0) return false;
      const rows = lifecycle.all(stream, stream_records + 1) as Row[];
      left -= rows.length;
      const lines = rows.map(intactLine);
      // A damaged record is told by who reads it.
      if (lines.length > stream_records || lines.includes(undefined)) return false;
      for (const line of lines) projection.fold(JSON.parse(line as string));
      projection.flush();
      if (stored(stream) === due(stream)) return false;
      return true;
    };
    const looked = new Set([
      ...lastStreams(db, workerStream(""), streams),
      ...livingStreams(db, streams),
      ...lastStreams(db, treeStream(""), streams),
    ]);
    const misjudged = db.prepare<[], string>(MISJUDGED).pluck().all();
    const edited = [...new Set([...misjudged, ...[...looked].filter(isEdited)])];
    for (const stream of edited) refuseMissing(db, stream);
    return edited;
  } finally {
    folded.close();
  }
};

/** At a boot: who is served, and who is taken over, is read from these rows. The doctor tells which rows cannot be made anew now. */
export const mendEdited = (db: Database, limits: LookLimits, report: (sentence: string) => void): void => {
  try {
    const [first, ...others] = editedStreams(db, limits);
    if (first === undefined) return;
    rebuild(db);
    report(`${editedSentence(first, others.length)} The projections were made anew from the log.`);
  } catch (cause) {
    report(`The projections were not made anew: ${storeError(cause).message}`);
  }
};

export const editedSentence = (stream: string, others: number): string =>
  `A projection says something else of ${stream} than its records do${others === 0 ? "" : `, and of ${others} more`}: its rows were edited or damaged.`;
