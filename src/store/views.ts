/**
 * The views that the store folds from the log: rows of workers, turns, messages, mail, approvals, holds and trees, the
 * blackboard and boards.
 */
import type { AuditHead } from "../protocol/audit.ts";
import type { BlackboardItem } from "../protocol/blackboard.ts";
import type { Card } from "../protocol/board.ts";
import type { BoardConfigured } from "../protocol/board-records.ts";
import type { AgentCompletion } from "../protocol/completion.ts";
import type { DeniedCalls } from "../protocol/denied.ts";
import type { Hold } from "../protocol/holds.ts";
import type { MailMessage } from "../protocol/mail.ts";
import type { MessageRow } from "../protocol/message-row.ts";
import type { FederatedPeer } from "../protocol/peer.ts";
import type { EndCause, JsonValue, Usage, WorkerError } from "../protocol/records.ts";
import type { TurnRow } from "../protocol/replies/usage.ts";
import type { Schedule } from "../protocol/schedule.ts";
import type { Token } from "../protocol/token.ts";
import type { CardLane } from "../protocol/words.ts";
import type { WorkerSpec, WorkerState } from "../protocol/worker.ts";
import type { SearchPage, SearchQuery } from "./search.ts";
import type { SubtreeSum, UsageQuery, UsageReport } from "./usage-report.ts";

/** The state of a worker by its records alone. */
export interface WorkerStanding {
  readonly incarnation: number;
  /** Null if the record with the state cannot be read. */
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
  /** Restarts by the supervisor over the worker's whole life. */
  readonly restarts: number;
  readonly pid: number | null;
  readonly pgid: number | null;
  /** The kind of its runtime; null for a worker of a runtime of yours that was never started. */
  readonly backend_kind: string | null;
  readonly parent: string | null;
  readonly supervisor: string;
  readonly session_id: string | null;
  readonly tombstone: boolean;
  /** True for an archived worker, which has ended and is in no list. */
  readonly archived: boolean;
  /** True if its run directory was removed: it cannot be started again. */
  readonly pruned: boolean;
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly error: WorkerError | null;
  readonly completion: AgentCompletion | null;
  /**
   * Why nothing follows its last incarnation; null while one may follow, and if something other than its own end decided.
   */
  readonly end_cause: EndCause | null;
  /** The number of completed turns. `usage` is their sum. */
  readonly turns: number;
  readonly usage: Usage;
  /** Turns in which some usage has neither a reported cost nor an estimate. */
  readonly unpriced_turns: number;
  readonly tool_calls: number;
  /** Tool calls refused for lack of a permission, by tool. */
  readonly denied: readonly DeniedCalls[];
  /** Milliseconds of all those turns together, pauses included. */
  readonly turn_ms: number;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  readonly last_seq: number;
  readonly last_event_at: string | null;
  /** The version of the worker's stream. */
  readonly version: number;
}

export type { TurnRow };

export type ApprovalState = "open" | "allowed" | "denied" | "withdrawn";

/** An agent's request to use a tool, and its state. */
export interface ApprovalRow {
  readonly worker_id: string;
  readonly approval_id: string;
  /** The seq of the record of the request. */
  readonly seq: number;
  readonly incarnation: number;
  readonly tool: string | null;
  readonly tool_use_id: string | null;
  readonly title: string;
  /** The tool's input, with secrets masked; null if it was not told or is over its bound. */
  readonly input: JsonValue;
  /** Data for the adapter only. */
  readonly reply: JsonValue;
  readonly state: ApprovalState;
  readonly by: string | null;
  readonly message: string | null;
  readonly requested_at: string;
  readonly answered_at: string | null;
}

/** A check of a worker's process. */
export interface Heartbeat {
  readonly worker_id: string;
  readonly incarnation: number;
  /** Milliseconds since 1970. */
  readonly at_ms: number;
}

/** An open hold. */
export interface HoldRow {
  /** The stream of its worker, or of its tree. */
  readonly stream: string;
  readonly id: string;
  /** The seq of the record that opened it. */
  readonly seq: number;
  readonly incarnation: number;
  readonly hold: Hold;
  /** RFC 3339. */
  readonly since: string;
}

/** A message in a mailbox, with its payload. */
export interface MailRow extends MailMessage {
  readonly payload: JsonValue;
  /** The digest of content that is too large for the payload; null if there is none. */
  readonly artifact: string | null;
}

/** The tree of one file that was not taken down. */
export interface TreeRow {
  readonly name: string;
  /** Absolute path of the file that owns it. */
  readonly file: string;
}

/** A query for items of one namespace that match every condition, oldest first. */
export interface ItemQuery {
  readonly ns: string;
  /** Words in the title, body, data or tags. A word with a star at its end matches as a prefix. */
  readonly text?: string | undefined;
  readonly tags: readonly string[];
  readonly state?: "free" | "claimed" | undefined;
  /** Items posted after the record with this seq. */
  readonly after: number;
  readonly limit: number;
}

/** The dispatcher of a board, as it was set last. */
export interface BoardSetting extends Omit<BoardConfigured, "clock"> {
  readonly board: string;
  readonly configured_at: string;
}

/** Cards of one board, in the order of their discovery. */
export interface CardQuery {
  readonly board: string;
  /** Empty: all lanes. */
  readonly lanes: readonly CardLane[];
  /** Discovered after the record with this seq. */
  readonly after: number;
  readonly limit: number;
}

export interface Views {
  worker(id: string): WorkerRow | undefined;
  /** The state by the records, whatever the row says. */
  standing(id: string): WorkerStanding | undefined;
  workers(): readonly WorkerRow[];
  /** Workers that have not ended, which a boot takes over. Fast, however many have ended. */
  living(): readonly WorkerRow[];
  /** Workers under these supervisors, by path, living or ended. */
  workersUnder(supervisors: readonly string[]): readonly WorkerRow[];
  /** Ids of the workers that this worker's agent spawned. */
  spawnedBy(workerId: string): readonly string[];
  countWorkers(): number;
  /** All workers that have or had the name, newest first. */
  named(name: string): readonly WorkerRow[];
  /** Names of the newest workers, living or ended, at most `workers` of them. */
  newestNames(workers: number): readonly string[];
  /** Workers whose ids begin with the prefix, newest first, at most `limit`. */
  withPrefix(prefix: string, limit: number): readonly WorkerRow[];
  /** The newest turns, in order, at most `limit`. */
  turns(workerId: string, limit: number): readonly TurnRow[];
  /** The sum of a worker and everything below it; undefined for more than `max` workers. */
  subtree(workerId: string, max: number): SubtreeSum | undefined;
  /** Sums usage in a worker thread, one query at a time. Nothing else waits for it. */
  usageAside(query: UsageQuery): Promise<UsageReport>;
  /**
   * Finds records by their words, among everything committed before. Creates or updates the index first. One search at a
   * time.
   */
  search(query: SearchQuery): Promise<SearchPage>;
  message(workerId: string, messageId: string): MessageRow | undefined;
  /** The newest messages of a worker that were accepted before the record `before`, in the order of acceptance. */
  messages(workerId: string, before: number, limit: number): readonly MessageRow[];
  /** The byte up to which the stdin of an incarnation has recorded messages; undefined if it has none. */
  messagesEnd(workerId: string, incarnation: number): number | undefined;
  /** Messages with steps still to come, of one worker or of all. */
  openMessages(workerId?: string): readonly MessageRow[];
  /** The newest written heartbeat; undefined for a worker that never ran. */
  heartbeat(workerId: string): Heartbeat | undefined;
  /** Open holds of one stream, oldest first. */
  holdsOf(stream: string): readonly HoldRow[];
  /** Open holds of all streams, opened after the record `after`, oldest first. */
  holds(after: number, limit: number): readonly HoldRow[];
  /** Messages in all mailboxes whose ids begin with the prefix, at most `limit`. */
  mail(prefix: string, limit: number): readonly MailRow[];
  /** Messages in one mailbox, sent after the record `after`, oldest first: the dead letters, or all others. */
  mailIn(box: string, dead: boolean, after: number, limit: number): readonly MailRow[];
  /** Every message in a mailbox, for a boot. */
  allMail(): readonly MailMessage[];
  /** True if the worker has ever polled a message from its mailbox. */
  isMailReader(box: string): boolean;
  /** Open requests for permission of one worker, oldest first. */
  openApprovals(workerId: string): readonly ApprovalRow[];
  approval(approvalId: string): ApprovalRow | undefined;
  /** Requests whose ids begin with the prefix, newest first. */
  approvalsWithPrefix(prefix: string, limit: number): readonly ApprovalRow[];
  /** Requests made after the record `after`, of all workers or one, oldest first. `isOpen`: only open ones. */
  approvals(after: number, limit: number, isOpen: boolean, workerId?: string): readonly ApprovalRow[];
  /** Trees that were applied and not taken down, oldest first. */
  trees(): readonly TreeRow[];
  /** An item of the blackboard in any namespace; undefined if it is gone. */
  item(itemId: string): BlackboardItem | undefined;
  items(query: ItemQuery): readonly BlackboardItem[];
  /** Item ids that begin with the prefix, newest first. */
  itemsWithPrefix(prefix: string, limit: number): readonly string[];
  /** Items of all namespaces, posted after the record `after`, oldest first. */
  itemsAfter(after: number, limit: number): readonly BlackboardItem[];
  /** The number of items in one namespace, counted up to `limit`. */
  countItems(ns: string, limit: number): number;
  /** Namespaces with items, in alphabetical order. */
  namespaces(limit: number): readonly string[];
  schedule(name: string): Schedule | undefined;
  /** Schedules whose names come after `name`, in the order of their names. */
  schedulesAfter(name: string, limit: number): readonly Schedule[];
  card(board: string, issueId: string): Card | undefined;
  cards(query: CardQuery): readonly Card[];
  /** Eligible cards in Todo: by priority, then in the order of their discovery. */
  freeCards(board: string, limit: number): readonly Card[];
  /** Cards in RetryQueued, by the wall clock's time of their next try. */
  waitingCards(board: string, limit: number): readonly Card[];
  /** How many cards of a board are in each lane; a lane without cards is left out. */
  lanesOf(board: string): Readonly<Partial<Record<CardLane, number>>>;
  /** Boards with cards, in their order. */
  boards(limit: number): readonly string[];
  /** Dispatchers of all boards that have one. */
  boardSettings(): readonly BoardSetting[];
  /** All hubs with which this one federates, by name. */
  peers(): readonly FederatedPeer[];
  /** The end of the audit chain. */
  auditHead(): AuditHead;
  /** All tokens with names, by name. */
  tokens(): readonly Token[];
}
