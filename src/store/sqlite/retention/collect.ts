/**
 * Gathers the records that may be removed, in a worker thread on a separate connection: output records of ended incarnations,
 * older than an instant, and the records of what the control plane has settled before it. They are written to an archive, completely and synced, before the result is returned.
 *
 * An archive is `archive/records-FROM-TO.ndjson.gz`, 0600: one record per line, as readers got it, in the order of the log.
 */
import { createHash } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import type { Database } from "better-sqlite3";
import { clearName, NotRegularError, readNamed } from "../../../base/files/regular-file.ts";
import { syncPath } from "../../../base/files/sync-path.ts";
import { ARCHIVE_CHUNK_CHARS, ARCHIVE_MAX_BYTES, ARCHIVE_MAX_RECORDS } from "../../../base/limits.ts";
import { HoldfastError } from "../../../protocol/errors.ts";
import { isOutput, type LogRecord, type RecordType } from "../../../protocol/records.ts";
import { type Row, verifiedLine } from "../checksum.ts";
import { openDatabase } from "../database.ts";
import { incarnationOf, stateOf, WORKER_STREAMS } from "../standing.ts";
import type { OutputRange } from "./remove.ts";
import { noteSettled } from "./settled.ts";

export interface Archive {
  readonly name: string;
  readonly from_seq: number;
  readonly to_seq: number;
  readonly records: number;
  readonly bytes: number;
  readonly sha256: string;
}

export interface Collecting {
  readonly file: string;
  /** The directory of archives; null to make none. */
  readonly archives: string | null;
  /** Epoch milliseconds. */
  readonly before_ms: number;
  readonly after_seq: number;
  /** The collection stops after this many characters of text. */
  readonly max_chars: number;
  readonly dry_run: boolean;
}

export interface CollectionResult {
  readonly runs: readonly OutputRange[];
  readonly records: number;
  /** Those of them that are no output. */
  readonly settled: number;
  /** The size of their text in characters. */
  readonly chars: number;
  readonly archive: Archive | null;
  /** The seq of the last gathered record. */
  readonly last: number;
  /**
   * The seq up to which the log was searched; the next collection continues after it. Null if nothing more is old enough.
   */
  readonly next: number | null;
}

const NAME = /^records-\d+-\d+\.ndjson\.gz$/;

/**
 * The state of each worker by its records, with the newest version of its stream: an edited row might call a living worker
 * ended. A temporary table of this connection.
 */
const STANDING = `
  CREATE TEMP TABLE standing (stream TEXT PRIMARY KEY, version INTEGER, incarnation INTEGER, state TEXT) WITHOUT ROWID;
  WITH RECURSIVE ${WORKER_STREAMS}
  INSERT INTO standing
  SELECT w.stream, (SELECT max(version) FROM records r WHERE r.stream = w.stream), ${incarnationOf("w.stream")}, ${stateOf("w.stream")}
  FROM workers w WHERE w.stream IS NOT NULL;`;

const COLUMNS_OF_R =
  "r.seq, r.id, r.stream, r.version, r.type, r.recorded_at, r.worker_id, r.incarnation, r.correlation_id, r.causation_id, r.payload, r.checksum";

/** Old output, and the settled records. The newest record of each stream stays, because the next version is counted from it. */
const OLD_RECORDS = `
  SELECT ${COLUMNS_OF_R}
  FROM records r CROSS JOIN standing w ON w.stream = r.stream
  WHERE r.seq > ? AND r.recorded_at < ? AND r.type IN ('agent.event', 'worker_log_chunk') AND r.version < w.version
    AND (r.incarnation < w.incarnation OR w.state IN ('completed', 'failed', 'cancelled', 'parked'))
  UNION ALL
  SELECT ${COLUMNS_OF_R} FROM settled s CROSS JOIN records r ON r.seq = s.seq WHERE s.seq > ?
  ORDER BY 1 LIMIT ${ARCHIVE_MAX_RECORDS}`;

/** Joins consecutive versions to runs. */
const makeRuns = () => {
  const runs: { stream: string; from_version: number; to_version: number }[] = [];
  const open = new Map<string, (typeof runs)[number]>();
  return {
    runs: runs as readonly OutputRange[],
    add: (stream: string, version: number): void => {
      const run = open.get(stream);
      if (run?.to_version === version - 1) run.to_version = version;
      else {
        const begun = { stream, from_version: version, to_version: version };
        runs.push(begun);
        open.set(stream, begun);
      }
    },
  };
};

/** Writes lines into members of one gzip file, which gets its name only at `end`. */
const makeArchive = (directory: string) => {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const partial = join(directory, "records.tmp");
  clearName(partial);
  rmSync(partial, { force: true });
  const fd = openSync(partial, "wx", 0o600);
  const hash = createHash("sha256");
  let bytes = 0;
  let waiting = "";
  const flush = (): void => {
    const member = gzipSync(waiting);
    for (let at = 0; at < member.length; ) at += writeSync(fd, member, at);
    hash.update(member);
    bytes += member.length;
    waiting = "";
  };
  return {
    add: (line: string): void => {
      waiting += `${line}\n`;
      if (waiting.length >= ARCHIVE_CHUNK_CHARS) flush();
    },
    end: (from_seq: number, to_seq: number, records: number): Archive => {
      if (waiting !== "") flush();
      fsyncSync(fd);
      closeSync(fd);
      const name = `records-${from_seq}-${to_seq}.ndjson.gz`;
      renameSync(partial, join(directory, name));
      syncPath(directory);
      return { name, from_seq, to_seq, records, bytes, sha256: hash.digest("hex") };
    },
    drop: (): void => {
      closeSync(fd);
      rmSync(partial, { force: true });
    },
  };
};

/** Removes archives that a crash left before the log knew of them: all their records are in the log. */
const removeUnknown = (db: Database, directory: string): void => {
  const isKnown = db.prepare("SELECT 1 FROM archives WHERE name = ?");
  for (const name of readdirSync(directory, { withFileTypes: true }))
    if (name.isFile() && NAME.test(name.name) && isKnown.get(name.name) === undefined)
      rmSync(join(directory, name.name));
};

export const collect = (asked: Collecting): CollectionResult => {
  const { file, archives, before_ms, after_seq, max_chars, dry_run } = asked;
  const db = openDatabase(file, { readonly: true });
  const archive = archives === null || dry_run ? undefined : makeArchive(archives);
  try {
    if (archives !== null && archive !== undefined) removeUnknown(db, archives);
    db.exec(STANDING);
    noteSettled(db, before_ms, dry_run);
    const { runs, add } = makeRuns();
    let [records, settled, chars, first, last] = [0, 0, 0, 0, after_seq];
    let isFull = false;
    const old = db.prepare(OLD_RECORDS).raw().iterate(after_seq, before_ms, after_seq) as Iterable<Row>;
    for (const row of old) {
      const line = verifiedLine(row);
      archive?.add(line);
      add(row[2], row[3]);
      if (records === 0) first = row[0];
      last = row[0];
      records++;
      if (!isOutput(row[4] as RecordType)) settled++;
      chars += line.length;
      isFull = records === ARCHIVE_MAX_RECORDS || chars >= Math.min(ARCHIVE_MAX_BYTES, max_chars);
      if (isFull) break;
    }
    if (records === 0) archive?.drop();
    return {
      runs,
      records,
      settled,
      chars,
      last,
      archive: records === 0 ? null : (archive?.end(first, last, records) ?? null),
      next: isFull ? last : null,
    };
  } catch (cause) {
    archive?.drop();
    throw cause;
  } finally {
    db.close();
  }
};

/** The bytes of an archive; undefined for a file that is none of ours: not regular, or too large. */
const readWhole = (path: string): Buffer | undefined => {
  try {
    // The bound counts characters, and each has at most three bytes.
    return readNamed(path, 4 * ARCHIVE_MAX_BYTES);
  } catch (cause) {
    if (cause instanceof NotRegularError) return undefined;
    throw cause;
  }
};

/** The records of an archive. Throws STORE_CORRUPT if the file has changed since it was written. */
export const readArchive = (path: string, sha256: string): readonly string[] => {
  const bytes = readWhole(path);
  if (bytes === undefined || createHash("sha256").update(bytes).digest("hex") !== sha256)
    throw new HoldfastError(
      "STORE_CORRUPT",
      `The archive ${path} is damaged: it has changed since it was written.`,
      {
        suggestion: "Bring the file back from a backup; the log itself is not touched by this.",
      },
    );
  return gunzipSync(bytes).toString("utf8").split("\n").slice(0, -1);
};

/** The runs that an archive holds, for a removal that was interrupted. */
export const runsOf = (path: string, sha256: string): readonly OutputRange[] => {
  const { runs, add } = makeRuns();
  for (const line of readArchive(path, sha256)) {
    const { stream, version } = JSON.parse(line) as LogRecord;
    add(stream, version);
  }
  return runs;
};
