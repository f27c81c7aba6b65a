/** The event log as the layers above see it. `log.ts` implements it on SQLite. */

import type { AgentCompletion } from "../protocol/completion.ts";
import type { DeniedCalls } from "../protocol/denied.ts";
import type { HoldfastError } from "../protocol/errors.ts";
import type { MessageRow } from "../protocol/message-row.ts";
import type {
  EndCause,
  Json,
  LogRecord,
  ModelUsage,
  RecordDraft,
  RecordType,
  Usage,
  WorkerError,
} from "../protocol/records.ts";
import type { WorkerSpec, WorkerState } from "../protocol/worker.ts";
import type { GcOptions, GcReport } from "./gc-report.ts";
import type { FormerEpoch } from "./history.ts";
import type { SubtreeSum, UsageQuery, UsageReport } from "./usage-report.ts";

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
  readonly types?: readonly RecordType[];
  /** AgentEvent kinds, for `--kinds`. */
  readonly kinds?: readonly string[];
}

/** How a worker stands by its records alone. */
export interface Standing {
  readonly incarnation: number;
  /** Null where the record that says it cannot be read. */
  readonly state: WorkerState | null;
}

/** One worker as projected from its records; `agent list` and `agent info` are views of it. */
export interface WorkerRow {
  readonly id: string;
  readonly name: string | null;
  readonly kind: string;
  readonly state: WorkerState;
  readonly reason: string;
  readonly spec: WorkerSpec;
  readonly incarnation: number;
  /** Restarts by the supervisor, over the worker's whole life. */
  readonly restarts: number;
  readonly pid: number | null;
  readonly pgid: number | null;
  readonly parent: string | null;
  readonly supervisor: string;
  readonly session_id: string | null;
  readonly tombstone: boolean;
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly error: WorkerError | null;
  readonly completion: AgentCompletion | null;
  /** Why nothing follows its last incarnation; null while something may, and where something else than its own end decided. */
  readonly end_cause: EndCause | null;
  /** Exactly: `turns` turns completed, their usage summed. */
  readonly turns: number;
  readonly usage: Usage;
  /** The turns of which some part has neither a reported cost nor an estimate. */
  readonly unpriced_turns: number;
  readonly tool_calls: number;
  /** Calls that were refused for want of a permission, by tool. */
  readonly denied: readonly DeniedCalls[];
  /** The time of all those turns together, the pauses in them too. */
  readonly turn_ms: number;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  readonly last_seq: number;
  readonly last_event_at: string | null;
  /** Epoch milliseconds to monotonic stamps of restarts live in records; the supervisor reads those. */
  readonly version: number;
}

export interface TurnRow {
  readonly worker_id: string;
  readonly incarnation: number;
  readonly turn: number;
  readonly started_at: string;
  readonly ended_at: string | null;
  /** As its agent says, else between its records; null while it lasts. */
  readonly duration_ms: number | null;
  readonly usage: Usage | null;
  /** Null while it lasts, and of an early version. */
  readonly models: readonly ModelUsage[] | null;
  readonly tool_calls: number | null;
  readonly error: WorkerError | null;
}

export type ApprovalState = "open" | "allowed" | "denied" | "withdrawn";

/** A request of an agent to use a tool, and what has become of it. */
export interface ApprovalRow {
  readonly worker_id: string;
  readonly approval_id: string;
  /** The seq of the record that asked. */
  readonly seq: number;
  readonly incarnation: number;
  readonly tool: string | null;
  readonly tool_use_id: string | null;
  readonly title: string;
  /** The tool's input, secrets masked; null where it was not told, or is over its bound. */
  readonly input: Json;
  /** For the adapter alone. */
  readonly reply: Json;
  readonly state: ApprovalState;
  readonly by: string | null;
  readonly message: string | null;
  readonly requested_at: string;
  readonly answered_at: string | null;
}

/** One file's tree that was not taken down. */
export interface TreeRow {
  readonly name: string;
  /** Absolute path of the file that owns it. */
  readonly file: string;
}

export interface CheckReport {
  readonly ok: boolean;
  readonly records: number;
  readonly head: number;
  /** One sentence a finding: a gap in seq, a wrong checksum, a projection that differs from its fold, … */
  readonly findings: readonly string[];
  /** Notes that are no damage: that an older copy was put back. */
  readonly notes: readonly string[];
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
  worker(id: string): WorkerRow | undefined;
  /** By its records, whatever its row says. */
  standing(id: string): Standing | undefined;
  workers(): readonly WorkerRow[];
  /** Those that have not ended: what a boot takes over, however many there were. */
  living(): readonly WorkerRow[];
  /** Under these supervisors, by their paths; living or ended. */
  workersUnder(supervisors: readonly string[]): readonly WorkerRow[];
  /** Ids of those that the agent of this worker has asked for. */
  spawnedBy(workerId: string): readonly string[];
  countWorkers(): number;
  /** Every worker that has or had the name, newest first. */
  named(name: string): readonly WorkerRow[];
  /** Names of the newest so many workers, living or ended. */
  newestNames(workers: number): readonly string[];
  /** Those whose ids begin so, newest first, at most `limit`. */
  withPrefix(prefix: string, limit: number): readonly WorkerRow[];
  /** The newest ones, oldest first. */
  turns(workerId: string, limit: number): readonly TurnRow[];
  /** The sum of a worker and all that its agent asked for, and those; undefined where they are more than `max`. */
  subtree(workerId: string, max: number): SubtreeSum | undefined;
  /** In a worker thread: one at a time, and nothing else waits for it. */
  usageAside(query: UsageQuery): Promise<UsageReport>;
  message(workerId: string, messageId: string): MessageRow | undefined;
  /** For one worker, the newest of those accepted before the record `before`, in the order in which they were accepted. */
  messages(workerId: string, before: number, limit: number): readonly MessageRow[];
  /** The byte up to which the stdin of an incarnation has messages on record; undefined where it has none. */
  messagesEnd(workerId: string, incarnation: number): number | undefined;
  /** Those of which more is to come: of one worker, or of all. */
  openMessages(workerId?: string): readonly MessageRow[];
  /** Requests for permission of one worker that wait for an answer, oldest first. */
  openApprovals(workerId: string): readonly ApprovalRow[];
  approval(approvalId: string): ApprovalRow | undefined;
  /** Those whose ids begin so, newest first. */
  approvalsWithPrefix(prefix: string, limit: number): readonly ApprovalRow[];
  /** For all workers or one, those asked after the record `after`, oldest first; open ones only, or all. */
  approvals(after: number, limit: number, isOpen: boolean, workerId?: string): readonly ApprovalRow[];
  /** Every record of one worker of the given types, in order: what the supervisor folds at boot. */
  stream(workerId: string, types?: readonly RecordType[]): readonly LogRecord[];
  /** The daemon's own records of the given types, in order. */
  daemonStream(types: readonly RecordType[]): readonly LogRecord[];
  /** The trees that were applied and not taken down, oldest first. */
  trees(): readonly TreeRow[];
  /** Every record of one tree's own stream of the given types, in order. */
  treeStream(tree: string, types?: readonly RecordType[]): readonly LogRecord[];
  /** Throw all projections away and fold them again from the log. */
  rebuild(): { readonly records: number };
  check(): CheckReport;
  /** The same in a worker thread: nothing else waits for it. */
  checkAside(): Promise<CheckReport>;
  rebuildAside(): Promise<{ readonly records: number }>;
  /** Moves old output to archives, and its space back to the disk, in small steps. */
  gc(options: GcOptions): Promise<GcReport>;
  /** On the tick: are the files still in their places, and has the write-ahead log its size? Rows that can be put right are. */
  look(): void;
  /** Why nothing is acknowledged now, or why the last write was refused. */
  trouble(): HoldfastError | undefined;
  /** How many callers' records wait for room on the disk. */
  held(): number;
  close(): void;
}
