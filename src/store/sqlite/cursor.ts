/**
 * Reads the records after a cursor: the newest lines from memory, the others from the log, with every checksum verified. A
 * read is bounded in what it returns and in what it looks at, so that no filter can hold up the writer.
 */
import type { Database } from "better-sqlite3";
import { READ_PAGE_MAX_CHARS, READ_SCAN_MAX_RECORDS } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { isOutput, type LogRecord, type RecordType, workerOf } from "../../protocol/records.ts";
import { type RecordFilter, streamsOf } from "../event-log.ts";
import { COLUMNS, type Row, verifiedLine } from "./checksum.ts";
import type { AbsentRows } from "./projections/kept-rows.ts";
import type { RecentLine, RecentLines } from "./recent.ts";
import { makeRemoved } from "./retention/removed.ts";

export interface ScannedPage {
  readonly lines: readonly string[];
  readonly seqs: readonly number[];
  readonly scanned: number;
}

/** True if a line matches the filter. If kinds are given, an AgentEvent is selected by its kind. */
const wants = (filter: RecordFilter, streams: readonly string[] | undefined, entry: RecentLine): boolean => {
  if (streams && !streams.includes(entry.stream)) return false;
  if (filter.kinds && entry.kind !== undefined) return filter.kinds.includes(entry.kind);
  return filter.types ? filter.types.includes(entry.type) : filter.kinds === undefined;
};

/** The filter in SQL: a condition over @streams, @types and @kinds, each a JSON array. */
export const condition = (filter: RecordFilter, isOfStreams = false): string => {
  const listed = (column: string, name: string) => `${column} IN (SELECT value FROM json_each(@${name}))`;
  const typed = filter.types ? listed("type", "types") : filter.kinds ? "false" : "true";
  const kind = filter.kinds
    ? `CASE type WHEN 'agent.event' THEN ${listed("payload ->> '$.kind'", "kinds")} ELSE ${typed} END`
    : typed;
  return isOfStreams ? `${listed("stream", "streams")} AND ${kind}` : kind;
};

/** The condition of the index records_lifecycle, so that SQLite uses it if no output is wanted. */
const lifecycleOnly = (types: readonly RecordType[]): string =>
  types.some(isOutput) ? "" : "type NOT IN ('agent.event', 'worker_log_chunk') AND ";

/** Adds gaps to a filter for output, so that its reader learns where output was removed. */
const withGaps = (filter: RecordFilter): RecordFilter =>
  filter.kinds || filter.types?.some(isOutput)
    ? { ...filter, types: [...(filter.types ?? []), "log_gap"] }
    : filter;

const missing = (seq: number): HoldfastError =>
  new HoldfastError("STORE_CORRUPT", `Record ${seq} of the event log is missing.`, { details: { seq } });

/** The smallest integer in (below, above) for which `holds` is true, else `above`. Once true, `holds` must stay true. */
const firstWhere = (below: number, above: number, holds: (n: number) => boolean): number => {
  let [no, yes] = [below, above];
  while (yes - no > 1) {
    const middle = Math.floor((no + yes) / 2);
    if (holds(middle)) yes = middle;
    else no = middle;
  }
  return yes;
};

interface StreamPosition {
  readonly seq: number;
  readonly version: number;
}

const selectOf = (db: Database, where: string) =>
  db.prepare<unknown[], Row>(`SELECT ${COLUMNS} FROM records WHERE ${where}`).raw();
type Select = ReturnType<typeof selectOf>;

const statementsOf = (db: Database) => ({
  ofRange: selectOf(db, "seq > ? ORDER BY seq LIMIT ?"),
  at: selectOf(db, "seq = ?"),
  ofId: selectOf(db, "id = ?"),
  ofStream: selectOf(db, "stream = ? ORDER BY version"),
  newestVersion: db
    .prepare<[string], number>("SELECT coalesce(max(version), 0) FROM records WHERE stream = ?")
    .pluck(),
  // The next record stands for those that retention removed.
  fromVersion: db.prepare<[string, number], StreamPosition>(
    "SELECT seq, version FROM records WHERE stream = ? AND version >= ? ORDER BY version LIMIT 1",
  ),
  upToVersion: db.prepare<[string, number], StreamPosition>(
    "SELECT seq, version FROM records WHERE stream = ? AND version <= ? ORDER BY version DESC LIMIT 1",
  ),
  timeFrom: db
    .prepare<[number], number>("SELECT recorded_at FROM records WHERE seq >= ? ORDER BY seq LIMIT 1")
    .pluck(),
});

/** Reads rows up to the bounds of a page. If no bound cuts it short, the given `scanned` is the result's. */
const pageOf = (rows: Iterable<Row>, limit: number, scanned: number): ScannedPage => {
  const lines: string[] = [];
  const seqs: number[] = [];
  let chars = 0;
  for (const row of rows) {
    const line = verifiedLine(row);
    lines.push(line);
    seqs.push(row[0]);
    chars += line.length;
    if (lines.length >= limit || chars >= READ_PAGE_MAX_CHARS) return { lines, seqs, scanned: row[0] };
  }
  return { lines, seqs, scanned };
};

/** The lists of a filter as `condition` has them bound. */
export const lists = (filter: RecordFilter) => ({
  ...(filter.types && { types: JSON.stringify(filter.types) }),
  ...(filter.kinds && { kinds: JSON.stringify(filter.kinds) }),
});

const record = (row: Row): LogRecord => JSON.parse(verifiedLine(row));

export class Cursor {
  private readonly db: Database;
  private readonly head: () => number;
  private readonly recent: RecentLines;
  private readonly absent: AbsentRows;
  private readonly statements: ReturnType<typeof statementsOf>;
  private readonly removed: ReturnType<typeof makeRemoved>;
  /** Statements by their SQL. There are few, because the lists of a filter are bound as JSON. */
  private readonly filtered = new Map<string, Select>();

  constructor(db: Database, head: () => number, recent: RecentLines, absent: AbsentRows) {
    this.db = db;
    this.head = head;
    this.recent = recent;
    this.absent = absent;
    this.statements = statementsOf(db);
    this.removed = makeRemoved(db);
  }

  readLines(after: number, limit: number, asked: RecordFilter = {}): ScannedPage {
    const { head, recent } = this;
    const filter = withGaps(asked);
    if (after >= head() || limit < 1) return { lines: [], seqs: [], scanned: after };
    const streams = streamsOf(filter);
    if (recent.at(after + 1)) return this.fromMemory(after, limit, filter, streams);
    if (streams?.length === 1) return this.ofOneStream(after, limit, filter, streams[0]!);
    if (!streams && !filter.types && !filter.kinds) return this.ofAll(after, limit);
    const end = Math.min(head(), after + READ_SCAN_MAX_RECORDS);
    const statement = this.selectWhere(
      `seq > @after AND seq <= @end AND ${condition(filter, streams !== undefined)} ORDER BY seq LIMIT @limit`,
    );
    const rows = statement.iterate({
      after,
      end,
      limit,
      ...(streams && { streams: JSON.stringify(streams) }),
      ...lists(filter),
    }) as Iterable<Row>;
    return pageOf(rows, limit, end);
  }

  read(after: number, limit: number, filter?: RecordFilter) {
    const { lines, scanned } = this.readLines(after, limit, filter);
    return { records: lines.map((line): LogRecord => JSON.parse(line)), scanned };
  }

  byId(id: string): LogRecord | undefined {
    const row = this.statements.ofId.get(id) as Row | undefined;
    return row && record(row);
  }

  lineAt(seq: number): string {
    const row = this.statements.at.get(seq) as Row | undefined;
    if (!row) throw missing(seq);
    return verifiedLine(row);
  }

  stream(stream: string, types?: readonly RecordType[]): readonly LogRecord[] {
    if (!types) return (this.statements.ofStream.all(stream) as Row[]).map(record);
    const worker = types.length === 1 ? workerOf(stream) : undefined;
    if (worker === undefined) return this.typed(stream, types);
    const what = types[0]!;
    if (this.absent.has(worker, what)) return [];
    const records = this.typed(stream, types);
    if (records.length === 0) this.absent.note(worker, what);
    return records;
  }

  private typed(stream: string, types: readonly RecordType[]): readonly LogRecord[] {
    const where = `stream = @stream AND ${lifecycleOnly(types)}${condition({ types })} ORDER BY version`;
    return (this.selectWhere(where).all({ stream, types: JSON.stringify(types) }) as Row[]).map(record);
  }

  seqAt(epochMs: number): number {
    const { timeFrom } = this.statements;
    return firstWhere(0, this.head() + 1, (seq) => timeFrom.get(seq)! >= epochMs);
  }

  private selectWhere(where: string): Select {
    const known = this.filtered.get(where) ?? selectOf(this.db, where);
    this.filtered.set(where, known);
    return known;
  }

  private fromMemory(
    after: number,
    limit: number,
    filter: RecordFilter,
    streams: readonly string[] | undefined,
  ): ScannedPage {
    const lines: string[] = [];
    const seqs: number[] = [];
    const end = Math.min(this.head(), after + READ_SCAN_MAX_RECORDS);
    let scanned = after;
    let chars = 0;
    while (scanned < end && lines.length < limit && chars < READ_PAGE_MAX_CHARS) {
      const entry = this.recent.at(scanned + 1);
      if (entry === undefined) break;
      scanned++;
      if (!wants(filter, streams, entry)) continue;
      lines.push(entry.line);
      seqs.push(entry.seq);
      chars += entry.line.length;
    }
    return { lines, seqs, scanned };
  }

  /** Reads one stream. Its versions and seqs rise together, so bisection finds the cursor in the index alone. */
  private ofOneStream(after: number, limit: number, filter: RecordFilter, stream: string): ScannedPage {
    const { newestVersion, fromVersion, upToVersion } = this.statements;
    const newest = newestVersion.get(stream) ?? 0;
    const above = firstWhere(0, newest + 1, (version) => fromVersion.get(stream, version)!.seq > after);
    const first = fromVersion.get(stream, above)?.version ?? newest + 1;
    const last = Math.min(newest, first + READ_SCAN_MAX_RECORDS - 1);
    const statement = this.selectWhere(
      `stream = @stream AND version BETWEEN @first AND @last AND ${condition(filter)} ORDER BY version LIMIT @limit`,
    );
    const rows = statement.iterate({ stream, first, last, limit, ...lists(filter) }) as Iterable<Row>;
    return pageOf(rows, limit, last === newest ? this.head() : upToVersion.get(stream, last)!.seq);
  }

  /** Reads everything after a seq. A missing record must have been removed by retention, else it is damage. */
  private ofAll(after: number, limit: number): ScannedPage {
    const rows = this.statements.ofRange.iterate(after, limit) as Iterable<Row>;
    const page = pageOf(rows, limit, this.head());
    let due = after + 1;
    const demand = (to: number): void => {
      const lost = due <= to ? this.removed.firstNotRemoved(due, to) : undefined;
      if (lost !== undefined) throw missing(lost);
    };
    for (const seq of page.seqs) {
      demand(seq - 1);
      due = seq + 1;
    }
    demand(page.scanned);
    return page;
  }
}
