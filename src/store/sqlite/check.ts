/** `agent db check`: everything that the log promises of itself, one sentence for each thing that is not so. */
import SQLite, { type Database } from "better-sqlite3";
import { CHECK_FINDINGS_MAX } from "../../base/limits.ts";
import type { LogRecord } from "../../protocol/records.ts";
import type { CheckReport } from "../upkeep.ts";
import { intactLine } from "./checksum.ts";
import { headInMeta } from "./connection.ts";
import { diskFails, verdictOf } from "./damage.ts";
import { isOfTheDisk, storeError } from "./failure.ts";
import { isNewestSchema } from "./migrations/migrate.ts";
import { allRows } from "./pages.ts";
import { dumpProjections, projections, resetProjections } from "./projections/projection.ts";
import { projectionsAreCurrent } from "./rebuild.ts";
import { hasRetention, makeRemoved, type RemovedRanges } from "./retention/removed.ts";
import { spoiltLogTables, spoiltProjectionTables } from "./schema.ts";

const OF_ANOTHER_VERSION =
  "The projections are those of another version, and were not compared: the next daemon of this version folds them from the log.";

/** `notes`: of where the log lies, which a look at its records cannot know. */
export const check = (db: Database, notes: readonly string[] = []): CheckReport => {
  const findings: string[] = [];
  let otherFold = false;
  let left = 0;
  const find = (sentence: string): void => {
    if (findings.length < CHECK_FINDINGS_MAX) findings.push(sentence);
    else left++;
  };
  let records = 0;
  let head = 0;
  const folded = new SQLite(":memory:");
  try {
    const said = (
      db.pragma(`integrity_check(${CHECK_FINDINGS_MAX})`) as { readonly integrity_check: string }[]
    ).map(({ integrity_check }) => integrity_check);
    // A page that the disk does not give is no finding about the log, and nobody should delete it for that.
    if (verdictOf(said) === "unreadable") throw diskFails("unreadable");
    for (const one of said) if (one !== "ok") find(`SQLite finds: ${one}.`);

    for (const name of spoiltTables(db)) find(`The table or index ${name} is not as it was made.`);
    resetProjections(folded);
    const projection = projections(folded);
    const versions = new Map<string, number>();
    const removed = hasRetention(db) ? makeRemoved(db) : NOTHING_REMOVED;
    let [holes, told] = [0, 0];
    for (const row of allRows(db)) {
      const [seq, , stream, version] = row;
      records++;
      for (const [from, to] of notRemoved(removed, head + 1, seq - 1))
        find(from === to ? `Record ${from} is missing.` : `Records ${from} to ${to} are missing.`);
      holes += seq - head - 1;
      head = seq;
      const expected = (versions.get(stream) ?? 0) + 1;
      if (version !== expected)
        find(`Record ${seq} is version ${version} of stream ${stream}, and ${expected} was due.`);
      versions.set(stream, version);
      const line = intactLine(row);
      if (line === undefined) {
        find(`Record ${seq} does not match its checksum.`);
        continue;
      }
      const record: LogRecord = JSON.parse(line);
      if (record.type === "log_gap") {
        versions.set(stream, record.payload.to_version);
        told += record.payload.records - 1; // its own place is none of the holes
        if (record.payload.records !== record.payload.to_version - version + 1)
          find(`The gap at record ${seq} does not tell how many records were removed.`);
      }
      projection.fold(record);
    }
    if (findings.length === 0 && told !== holes)
      find(`The gaps of the log tell of ${told} removed records, and ${holes} are not there.`);
    projection.flush();
    const written = headInMeta(db);
    if (head !== written) find(`The log ends at record ${head}, but it was written up to ${written}.`);
    if (findings.length > 0) find("The projections were not compared, because the log itself is damaged.");
    else if (projectionsAreCurrent(db))
      for (const difference of differences(dumpProjections(db), dumpProjections(folded))) find(difference);
    else otherFold = records > 0;
  } catch (cause) {
    const error = storeError(cause);
    if (isOfTheDisk(error)) throw error;
    find(error.message);
  } finally {
    folded.close();
  }
  if (left > 0) findings.push(`${left} more findings are not listed.`);
  const told = otherFold ? [...notes, OF_ANOTHER_VERSION] : notes;
  return { ok: findings.length === 0, records, head, findings, notes: told };
};

/** This says nothing about the file of an older version. */
const spoiltTables = (db: Database): readonly string[] => [
  ...(isNewestSchema(db) ? spoiltLogTables(db) : []),
  ...(projectionsAreCurrent(db) ? spoiltProjectionTables(db) : []),
];

const NOTHING_REMOVED: Pick<RemovedRanges, "firstNotRemoved"> = { firstNotRemoved: (from) => from };

/** The seqs from `from` to `to` that are missing and that nobody removed, as runs. */
function* notRemoved(
  removed: Pick<RemovedRanges, "firstNotRemoved">,
  from: number,
  to: number,
): Generator<readonly [number, number]> {
  for (let at = from; at <= to; ) {
    const lost = removed.firstNotRemoved(at, to);
    if (lost === undefined) return;
    let end = lost;
    while (end < to && removed.firstNotRemoved(end + 1, end + 1) !== undefined) end++;
    yield [lost, end];
    at = end + 1;
  }
}

const shorten = (row: string): string => (row.length > 300 ? `${row.slice(0, 300)}…` : row);

/** Rows that only one side has, in both directions. */
function* differences(stored: Iterable<string>, folded: Iterable<string>): Generator<string> {
  const due = new Set(folded);
  for (const row of stored)
    if (!due.delete(row)) yield `A projection holds a row that the log does not give: ${shorten(row)}.`;
  for (const row of due) yield `A projection lacks a row that the log gives: ${shorten(row)}.`;
}
