/** The log as its writers and readers see it. No port knows SQLite: a second store can stand beside it, and the library's declarations need no types of it. */
import type { HoldfastError } from "../protocol/errors.ts";
import type { LogRecord, RecordDraft, RecordType } from "../protocol/records.ts";
import type { FormerEpoch } from "./history.ts";

/** How far a spool is ingested; committed in the transaction of the records made from it (architecture §5, Exactly once). */
export interface Checkpoint {
  readonly worker_id: string;
  readonly incarnation: number;
  readonly stream: "stdout" | "stderr";
  /** Byte offset of the first byte that is not yet ingested. */
  readonly offset: number;
  /** Bytes already counted of a line over the limit that is being skipped; 0 when none. */
  readonly skipped_bytes: number;
  readonly decoder_version: number;
  /** JSON of the decoder's state after `offset`. */
  readonly decoder_state: string;
}

export interface AppendOptions {
  readonly checkpoint?: Checkpoint;
  /** More of the same waits behind it: all others go first. Whoever says so waits for it before handing over more. */
  readonly flood?: boolean;
  /** Durable although it holds output alone: what the checkpoint is past will be let go of. */
  readonly durable?: boolean;
  /** A stop, or what follows from one: on a full disk it is held, and recorded as soon as there is room (docs/decisions/0031). */
  readonly holds?: boolean;
  /** Records of what an agent printed, so that its spool has it, too: held in place of it, where much of that is held already. */
  readonly instead?: RecordDraft;
  /** Forget the checkpoints of an incarnation that has ended, in the same transaction. */
  readonly drop_checkpoints?: { readonly worker_id: string; readonly incarnation: number };
}

/**
 * Every list that is given must agree. `types` and `kinds` together name what is wanted: where kinds are given, an
 * AgentEvent counts by its kind and any other record by its type. A worker's records are those of its stream.
 */
export interface RecordFilter {
  readonly worker_ids?: readonly string[];
  /** By their names; with `worker_ids`, those too. */
  readonly streams?: readonly string[];
  readonly types?: readonly RecordType[];
  /** AgentEvent kinds, for `--kinds`. */
  readonly kinds?: readonly string[];
}

export interface EventLog {
  /** Made with the database; part of every marker. */
  readonly store_id: string;
  /** The epoch of this history of it: a cursor is a seq of an epoch. */
  readonly epoch: string;
  /** The epochs before it, oldest first, and why each ended. */
  readonly former: readonly FormerEpoch[];
  /** Sequence number of the newest record; 0 when empty. */
  head(): number;
  /** One synchronous transaction, durable (FULL) when it holds any lifecycle record or is asked to be. Throws HoldfastError. */
  append(drafts: readonly RecordDraft[], options?: AppendOptions): readonly LogRecord[];
  /**
   * Group commit: joins other callers' records in one transaction; resolves when durable. Same order per caller. A commit that holds resolves
   * on a full disk, too: every row says it then, and it is in the reserve as far as that goes.
   */
  commit(drafts: readonly RecordDraft[], options?: AppendOptions): Promise<readonly LogRecord[]>;
  /**
   * Records with seq > after, in order, at most `limit`. `scanned` is the seq up to which the filter has looked, and the
   * next `after`; one read looks at READ_SCAN_MAX_RECORDS at most, so a reader has caught up when `scanned` is `head()`.
   */
  read(
    after: number,
    limit: number,
    filter?: RecordFilter,
  ): { readonly records: readonly LogRecord[]; readonly scanned: number };
  /** The same as JSON lines without line ends, made without parsing payloads. */
  readLines(
    after: number,
    limit: number,
    filter?: RecordFilter,
  ): { readonly lines: readonly string[]; readonly seqs: readonly number[]; readonly scanned: number };
  /** First seq recorded at or after an instant (epoch ms); head + 1 when none. */
  seqAt(epochMs: number): number;
  /** Called after each commit with the new head. Returns the way to stop it. */
  onCommit(listener: (head: number) => void): () => void;
  /** The record with this id, if the log has it: how an idempotent request finds its first answer. */
  byId(id: string): LogRecord | undefined;
  checkpoints(workerId: string, incarnation: number): readonly Checkpoint[];
  /** Every record of one worker of the given types, in order: what the supervisor folds at boot. */
  stream(workerId: string, types?: readonly RecordType[]): readonly LogRecord[];
  /** The daemon's own records of the given types, in order. */
  daemonStream(types: readonly RecordType[]): readonly LogRecord[];
  /** Every record of one tree's own stream of the given types, in order. */
  treeStream(tree: string, types?: readonly RecordType[]): readonly LogRecord[];
  /** Why nothing is acknowledged now, or why the last write was refused. */
  trouble(): HoldfastError | undefined;
  /** How many callers' records wait for room on the disk. */
  held(): number;
}
