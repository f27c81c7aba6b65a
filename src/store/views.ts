/** The views that the store folds from the log: rows of workers, turns, messages, approvals and trees, and the blackboard. */
import type { BlackboardItem } from "../protocol/blackboard.ts";
import type { AgentCompletion } from "../protocol/completion.ts";
import type { DeniedCalls } from "../protocol/denied.ts";
import type { Hold } from "../protocol/holds.ts";
import type { MailMessage } from "../protocol/mail.ts";
import type { MessageRow } from "../protocol/message-row.ts";
import type { EndCause, JsonValue, ModelUsage, Usage, WorkerError } from "../protocol/records.ts";
import type { WorkerSpec, WorkerState } from "../protocol/worker.ts";
import type { SubtreeSum, UsageQuery, UsageReport } from "./usage-report.ts";

/** How a worker stands by its records alone. */
export interface WorkerStanding {
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
  readonly input: JsonValue;
  /** For the adapter alone. */
  readonly reply: JsonValue;
  readonly state: ApprovalState;
  readonly by: string | null;
  readonly message: string | null;
  readonly requested_at: string;
  readonly answered_at: string | null;
}

/** A worker's process was looked at. */
export interface Heartbeat {
  readonly worker_id: string;
  readonly incarnation: number;
  /** Milliseconds since 1970. */
  readonly at_ms: number;
}

/** A hold that is open. */
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

/** A message that is in a mailbox, with its payload. */
export interface MailRow extends MailMessage {
  readonly payload: JsonValue;
  /** The digest of content that was too large for it. */
  readonly artifact: string | null;
}

/** One file's tree that was not taken down. */
export interface TreeRow {
  readonly name: string;
  /** Absolute path of the file that owns it. */
  readonly file: string;
}

/** Items of one namespace that have all of this, oldest first. */
export interface ItemQuery {
  readonly ns: string;
  /** Words of its title, body, data or tags; one with a star at its end is the beginning of a word. */
  readonly text?: string | undefined;
  readonly tags: readonly string[];
  readonly state?: "free" | "claimed" | undefined;
  /** Posted after the record with this seq. */
  readonly after: number;
  readonly limit: number;
}

export interface Views {
  worker(id: string): WorkerRow | undefined;
  /** By its records, whatever its row says. */
  standing(id: string): WorkerStanding | undefined;
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
  /** The newest heartbeat that was written; undefined for a worker that never ran. */
  heartbeat(workerId: string): Heartbeat | undefined;
  /** Open holds of one stream, oldest first. */
  holdsOf(stream: string): readonly HoldRow[];
  /** Open holds of all streams that were opened after the record `after`, oldest first. */
  holds(after: number, limit: number): readonly HoldRow[];
  /** Messages of all mailboxes whose ids begin so, at most `limit`. */
  mail(prefix: string, limit: number): readonly MailRow[];
  /** Messages of one mailbox that were sent after the record `after`, oldest first: the dead letters, or all others. */
  mailIn(box: string, dead: boolean, after: number, limit: number): readonly MailRow[];
  /** Every message that is in a mailbox: what a boot takes over. */
  allMail(): readonly MailMessage[];
  /** Whether the worker has ever polled a message out of its mailbox. */
  isMailReader(box: string): boolean;
  /** Requests for permission of one worker that wait for an answer, oldest first. */
  openApprovals(workerId: string): readonly ApprovalRow[];
  approval(approvalId: string): ApprovalRow | undefined;
  /** Those whose ids begin so, newest first. */
  approvalsWithPrefix(prefix: string, limit: number): readonly ApprovalRow[];
  /** For all workers or one, those asked after the record `after`, oldest first; open ones only, or all. */
  approvals(after: number, limit: number, isOpen: boolean, workerId?: string): readonly ApprovalRow[];
  /** The trees that were applied and not taken down, oldest first. */
  trees(): readonly TreeRow[];
  /** One of the blackboard, of whichever namespace; undefined where it is gone. */
  item(itemId: string): BlackboardItem | undefined;
  items(query: ItemQuery): readonly BlackboardItem[];
  /** Ids that begin so, newest first. */
  itemsWithPrefix(prefix: string, limit: number): readonly string[];
  /** Items of all namespaces, posted after the record `after`, oldest first. */
  itemsAfter(after: number, limit: number): readonly BlackboardItem[];
  /** Those of one namespace, counted up to `limit`. */
  countItems(ns: string, limit: number): number;
  /** With items, in their order. */
  namespaces(limit: number): readonly string[];
}
