/**
 * Removes a run of records from the log and leaves one `log_gap` in its place, in bounded slices of one transaction
 * each. The gap has the seq and version of the first removed record and grows with every slice, so a reader gets either the
 * records or the gap that reports them. Records that are gone already are skipped, so an interrupted removal is simply
 * repeated.
 */
import type { Database } from "better-sqlite3";
import { crashPoint } from "../../../base/crash-point.ts";
import { GC_SLICE_RECORDS } from "../../../base/limits.ts";
import type { RecordPayloads } from "../../../protocol/records.ts";
import { type ChecksumFields, COLUMNS, checksumOf, lineOf, type Row, verifiedLine } from "../checksum.ts";
import { makeRemoved } from "./removed.ts";

/** Records of one stream with consecutive versions, all of which are removed. */
export interface OutputRange {
  readonly stream: string;
  readonly from_version: number;
  readonly to_version: number;
}

export interface RemovedSlice {
  /** The first version not handled yet; past the end of the run when it is done. */
  readonly next: number;
  readonly removed: number;
}

export type Remover = (run: OutputRange, from: number, archive: string | null) => RemovedSlice;

const statementsOf = (db: Database) => ({
  output: db
    .prepare<unknown[], Row>(
      `SELECT ${COLUMNS} FROM records WHERE stream = ? AND version BETWEEN ? AND ? AND type <> 'log_gap'
       ORDER BY version LIMIT ${GC_SLICE_RECORDS}`,
    )
    .raw(),
  previous: db
    .prepare<unknown[], Row>(
      `SELECT ${COLUMNS} FROM records WHERE stream = ? AND version < ? ORDER BY version DESC LIMIT 1`,
    )
    .raw(),
  remove: db.prepare("DELETE FROM records WHERE seq = ?"),
  put: db.prepare(
    `INSERT OR REPLACE INTO records (${COLUMNS}) VALUES (${COLUMNS.split(",").fill("?").join()})`,
  ),
});

export const makeRemover = (db: Database, newId: () => string): Remover => {
  const covered = makeRemoved(db);
  const { output, previous, remove, put } = statementsOf(db);

  const write = (at: Row, gap: RecordPayloads["log_gap"]): void => {
    const [seq, , stream, version, , recordedAt, worker, incarnation, correlation] = at;
    const id = at[4] === "log_gap" ? at[1] : newId();
    const facts: ChecksumFields = [
      seq,
      id,
      stream,
      version,
      "log_gap",
      recordedAt,
      worker,
      incarnation,
      correlation,
      id,
      JSON.stringify(gap),
    ];
    put.run(...facts, checksumOf(lineOf(facts)));
  };

  /** The gap directly before a version, if it names the same archive. */
  const gapBefore = (stream: string, version: number, archive: string | null) => {
    const row = previous.get(stream, version) as Row | undefined;
    if (row === undefined || row[4] !== "log_gap") return undefined;
    const gap = JSON.parse(verifiedLine(row)).payload as RecordPayloads["log_gap"];
    return gap.to_version + 1 === version && gap.archive === archive ? { row, gap } : undefined;
  };

  /** Records which seqs were removed, with consecutive ones as one run. The seq of a new gap stays. */
  const cover = (seqs: readonly number[]): void => {
    for (let at = 0; at < seqs.length; ) {
      let end = at;
      while (seqs[end + 1] === seqs[end]! + 1) end++;
      covered.add(seqs[at]!, seqs[end]!);
      at = end + 1;
    }
  };

  const slice = (run: OutputRange, from: number, archive: string | null): RemovedSlice => {
    const rows = (output.all(run.stream, from, run.to_version) as Row[]).filter(
      (row, at, all) => at === 0 || row[3] === all[0]![3] + at, // records after a hole belong to another gap
    );
    const [first] = rows;
    const last = rows.at(-1);
    if (first === undefined || last === undefined) return { next: run.to_version + 1, removed: 0 };
    const known = gapBefore(run.stream, first[3], archive);
    const gone = (known === undefined ? rows.slice(1) : rows).map(([seq]) => seq);
    const newest = rows.findLast(([, , , , type]) => type === "agent.event");
    for (const seq of gone) remove.run(seq);
    crashPoint("gc-mid-slice");
    cover(gone);
    write(known?.row ?? first, {
      from_seq: known?.gap.from_seq ?? first[0],
      to_seq: last[0],
      to_version: last[3],
      records: (known?.gap.records ?? 0) + rows.length,
      last_event_at:
        newest === undefined ? (known?.gap.last_event_at ?? null) : new Date(newest[5]).toISOString(),
      archive,
    });
    return { next: last[3] + 1, removed: rows.length };
  };
  return db.transaction(slice).immediate;
};
