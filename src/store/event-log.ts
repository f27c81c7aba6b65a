/**
 * The log as its writers and readers see it. The ports do not depend on SQLite: a second store can stand beside it, and the
 * library's declarations need none of its types.
 */
import type { HoldfastError } from "../protocol/errors.ts";
import { type LogRecord, type RecordDraft, type RecordType, workerStream } from "../protocol/records.ts";
import type { FormerEpoch } from "./history.ts";

/**
 * How far a spool is ingested. Committed in the transaction of the records made from it (architecture §5, Exactly once).
 */
export interface Checkpoint {
  readonly worker_id: string;
  readonly incarnation: number;
  readonly stream: "stdout" | "stderr";
  /** Offset of the first byte that is not ingested yet. */
  readonly offset: number;
  /** Bytes counted so far of a line over the limit that is being skipped; 0 if none. */
  readonly skipped_bytes: number;
  readonly decoder_version: number;
  /** JSON of the decoder's state after `offset`. */
  readonly decoder_state: string;
}

export interface AppendOptions {
  readonly checkpoint?: Checkpoint;
  /**
   * More records of the same flood follow: all other commits go first. The caller must await this commit before the next
   * one.
   */
  readonly flood?: boolean;
  /** Commit durably even if there is only output, because the output before the checkpoint will be released. */
  readonly durable?: boolean;
  /**
   * A stop or a consequence of one: on a full disk it is held, and recorded as soon as there is room (docs/decisions/0031).
   */
  readonly holds?: boolean;
  /**
   * Marks records of printed output, which the spool has too. If much output is held already, this record is held in their
   * place.
   */
  readonly instead?: RecordDraft;
  /** Delete the checkpoints of an ended incarnation in the same transaction. */
  readonly drop_checkpoints?: { readonly worker_id: string; readonly incarnation: number };
}

/**
 * A record must match every given list, except that `types` and `kinds` together select the wanted records: if kinds are
 * given, an AgentEvent is selected by its kind and any other record by its type. A worker's records are those of its
 * stream.
 */
export interface RecordFilter {
  readonly worker_ids?: readonly string[];
  /** Names of streams, in addition to the streams of `worker_ids`. */
  readonly streams?: readonly string[];
  readonly types?: readonly RecordType[];
  /** AgentEvent kinds, for `--kinds`. */
  readonly kinds?: readonly string[];
}

/** The streams that a filter selects; undefined for all. */
export const streamsOf = ({ worker_ids, streams }: RecordFilter): readonly string[] | undefined =>
  worker_ids === undefined ? streams : [...worker_ids.map(workerStream), ...(streams ?? [])];

/** A commit, as its listeners are told of it. */
export interface Commit {
  /** The seq of its newest record. */
  readonly head: number;
  /** The streams of the records since the commit before; undefined if they are not known. */
  readonly streams: ReadonlySet<string> | undefined;
}

export interface EventLog {
  /** Created with the database; part of every run's marker. */
  readonly store_id: string;
  /** The epoch of the current history. A cursor is a seq in an epoch. */
  readonly epoch: string;
  /** Earlier epochs, oldest first, and why each ended. */
  readonly former: readonly FormerEpoch[];
  /** The seq of the newest record; 0 if the log is empty. */
  head(): number;
  /**
   * Appends in one synchronous transaction, durable (FULL) if it has a lifecycle record or `durable` is set. Throws
   * HoldfastError.
   */
  append(drafts: readonly RecordDraft[], options?: AppendOptions): readonly LogRecord[];
  /**
   * Commits together with other callers in one transaction, and resolves once that is durable. The order per caller is
   * kept. On a full disk, a commit with `holds` resolves too: the rows show it, and the reserve has it as far as it has
   * room.
   */
  commit(drafts: readonly RecordDraft[], options?: AppendOptions): Promise<readonly LogRecord[]>;
  /**
   * Reads records with seq > `after`, in order, at most `limit`. `scanned` is the seq up to which the filter has looked,
   * and the next `after`. One read looks at READ_SCAN_MAX_RECORDS at most, so a reader has caught up when `scanned` is
   * `head()`.
   */
  read(
    after: number,
    limit: number,
    filter?: RecordFilter,
  ): { readonly records: readonly LogRecord[]; readonly scanned: number };
  /** As `read`, as JSON lines without line ends. Payloads are not parsed. */
  readLines(
    after: number,
    limit: number,
    filter?: RecordFilter,
  ): { readonly lines: readonly string[]; readonly seqs: readonly number[]; readonly scanned: number };
  /** The first seq recorded at or after an instant (epoch milliseconds); head + 1 if there is none. */
  seqAt(epochMs: number): number;
  /** Calls the listener after each commit. Returns a function that removes the listener. */
  onCommit(listener: (commit: Commit) => void): () => void;
  /** The record with this id, by which an idempotent request finds its first result; undefined if there is none. */
  byId(id: string): LogRecord | undefined;
  checkpoints(workerId: string, incarnation: number): readonly Checkpoint[];
  /** Records of one worker with the given types, in order, which the supervisor folds at boot. */
  stream(workerId: string, types?: readonly RecordType[]): readonly LogRecord[];
  /** The daemon's own records with the given types, in order. */
  daemonStream(types: readonly RecordType[]): readonly LogRecord[];
  /** Records of one tree's own stream with the given types, in order. */
  treeStream(tree: string, types?: readonly RecordType[]): readonly LogRecord[];
  /** Why nothing is committed now, or why the last write was refused; undefined if all is well. */
  trouble(): HoldfastError | undefined;
  /** The number of commits that wait for room on the disk. */
  held(): number;
}

/** A record by its columns: its payload is JSON, and its checksum was not looked at. */
export interface BareRecord {
  readonly seq: number;
  readonly type: RecordType;
  readonly worker_id: string | undefined;
  readonly incarnation: number | undefined;
  /** Epoch milliseconds. */
  readonly recorded_ms: number;
  readonly payload: string;
}

/** A second connection to the log, which only reads. */
export interface LogReader extends Pick<EventLog, "head"> {
  /** At most `limit` records after a seq that the filter takes, and the seq up to which the log was looked at. */
  readBare(
    after: number,
    limit: number,
    filter: Required<Pick<RecordFilter, "types" | "kinds">>,
  ): { readonly records: readonly BareRecord[]; readonly scanned: number };
  close(): void;
}
