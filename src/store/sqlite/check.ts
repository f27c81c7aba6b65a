/** `agent db check`: checks every promise of the log about itself, with one sentence for each violation. */
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
  "The projections are of another version and were not compared: the next daemon of this version folds them from the log.";

/** Checks a log. `notes`: facts about its file that the records cannot tell. */
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
    // An unreadable page is a fault of the disk, not of the log: a finding might lead people to delete the log.
    if (verdictOf(said) === "unreadable") throw diskFails("unreadable");
    for (const one of said) if (one !== "ok") find(`SQLite finds: ${one}.`);

    for (const name of spoiltTables(db))
      find(`The table or index ${name} does not have its original definition.`);
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
        find(`Record ${seq} is version ${version} of stream ${stream}, but ${expected} was expected.`);
      versions.set(stream, version);
      const line = intactLine(row);
      if (line === undefined) {
        find(`Record ${seq} does not match its checksum.`);
        continue;
      }
      const record: LogRecord = JSON.parse(line);
      if (record.type === "log_gap") {
        versions.set(stream, record.payload.to_version);
        told += record.payload.records - 1; // the gap's own record is not a hole
        if (record.payload.records !== record.payload.to_version - version + 1)
          find(`The gap at record ${seq} does not tell how many records were removed.`);
      }
      projection.fold(record);
    }
    if (findings.length === 0 && told !== holes)
      find(`The gaps of the log tell of ${told} removed records, but ${holes} are missing.`);
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

/** Tables and indexes whose definition has changed. Empty for the file of another version, whose definitions may differ. */
const spoiltTables = (db: Database): readonly string[] => [
  ...(isNewestSchema(db) ? spoiltLogTables(db) : []),
  ...(projectionsAreCurrent(db) ? spoiltProjectionTables(db) : []),
];

const NOTHING_REMOVED: Pick<RemovedRanges, "firstNotRemoved"> = { firstNotRemoved: (from) => from };

/** Missing seqs from `from` to `to` that retention has not removed, as runs. */
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

/** Sentences about rows that only one side has. */
function* differences(stored: Iterable<string>, folded: Iterable<string>): Generator<string> {
  const due = new Set(folded);
  for (const row of stored)
    if (!due.delete(row)) yield `A projection holds a row that the log does not give: ${shorten(row)}.`;
  for (const row of due) yield `A projection lacks a row that the log gives: ${shorten(row)}.`;
}
