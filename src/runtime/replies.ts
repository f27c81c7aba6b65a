/**
 * The answers of the runtime: the shapes that the daemon sends, the client renders and the library returns. They do not use
 * Effect, so that users of the library need none of its types.
 */

import type { MovedOutput } from "../actors/intake/moved.ts";
import type { RunFinding } from "../adapters/posix.ts";
import type { ChangedFile, ChangeList } from "../protocol/change-list.ts";
import type { AgentCompletion } from "../protocol/completion.ts";
import type { DeniedCalls } from "../protocol/denied.ts";
import type { HoldAnswer, HoldReason } from "../protocol/holds.ts";
import type { MessageRow, MessageState } from "../protocol/message-row.ts";
import type { RawAnswer } from "../protocol/raw.ts";
import type {
  EndCause,
  JsonValue,
  LogRecord,
  PauseReason,
  SweepReport,
  Usage,
  WorkerError,
  WorkerWorkspace,
} from "../protocol/records.ts";
import type { ScheduleLine } from "../protocol/replies/schedules.ts";
import type { Strategy, SupervisorPhase } from "../protocol/tree.ts";
import type { Budget, WorkerState, WorkerStatus } from "../protocol/worker.ts";
import type { SubtreeSum, UsageReport, UsageRow, UsageSum } from "../store/usage-report.ts";
import type { ApprovalRow, TurnRow, WorkerRow } from "../store/views.ts";
import type { DiskView } from "../supervisor/admission/disk.ts";
import type { QueuePlace } from "../supervisor/admission/seats.ts";
import type { SpentAmounts } from "../supervisor/budgets/budgets.ts";
import type { TreeChange } from "../supervisor/tree/diff.ts";

/** A reason why a worker is paused; lifted by `agent unpause`. */
export interface PauseView {
  readonly reason: PauseReason;
  readonly detail: string;
  readonly question_id?: string;
}

/** An open question. That of a budget applies to every worker that the budget has paused. */
export interface QuestionView {
  readonly question_id: string;
  readonly about: "stall" | "budget" | "interrupted";
}

/** A budget: its spending and its bounds. */
export interface BudgetView {
  /** The id of a worker, or the path of a supervisor. */
  readonly owner: string;
  /** `asked`: it is spent and waits for an answer. `stopped`: it is spent and its workers were stopped. */
  readonly state: "open" | "asked" | "stopped";
  readonly spent: SpentAmounts;
  readonly bounds: Budget;
  /** True if some usage has neither a reported cost nor a known price: it counts no dollars. */
  readonly unpriced: boolean;
  /** True if some dollars are estimates by the price list, because the agent reports none. */
  readonly estimated: boolean;
  readonly question_id?: string;
}

/** A row of `agent list`, with the field names of cli.md. */
export interface WorkerView {
  readonly id: string;
  readonly name: string | null;
  readonly kind: string;
  /** The command line, or the beginning of the prompt: one line, secrets masked. */
  readonly task: string;
  readonly status: WorkerStatus;
  readonly state: WorkerState;
  readonly reason: string;
  readonly incarnation: number;
  readonly restarts: number;
  readonly pid: number | null;
  readonly pgid: number | null;
  readonly supervisor: string;
  readonly parent: string | null;
  readonly session_id: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  /** When its process was last checked; null if it never was. A paused one is not checked. */
  readonly heartbeat_at: string | null;
  /** True for an archived worker, which only the list of archived workers shows. */
  readonly archived?: true;
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly error: WorkerError | null;
  readonly turns: number;
  readonly usage: Usage;
  /** Tool calls in completed turns. */
  readonly tool_calls: number;
  /** Tool calls refused for lack of a permission, by tool, over its whole life; absent if there were none. */
  readonly denied?: readonly DeniedCalls[];
  /** Milliseconds of all its turns together. */
  readonly turn_ms: number;
  /** Turns in which some usage has neither a reported cost nor an estimate. */
  readonly unpriced_turns: number;
  /** Its place in the start queue; absent if it does not wait. */
  readonly queue?: QueuePlace;
  /** Its open question, answered by `agent answer`. */
  readonly question?: QuestionView;
  /** The number of requests for permission that wait for a person; absent if there are none. */
  readonly approvals?: number;
  /** The reasons for its pause, oldest first; absent if it is not paused. */
  readonly paused?: readonly PauseView[];
}

export interface RunFindingView extends RunFinding {
  readonly incarnation: number;
}

export interface WorkerInfo extends WorkerView {
  readonly spec: WorkerRow["spec"];
  readonly completion: AgentCompletion | null;
  /** The budgets that it counts in: its own, those of its ancestors, and those of the supervisors above. */
  readonly budgets: readonly BudgetView[];
  /**
   * The usage of the worker and everything below it; absent if nothing is below it, null for more than
   * SUBTREE_SUMMED_MAX_WORKERS.
   */
  readonly subtree?: SubtreeSum | null;
  /** The newest turns, oldest first. */
  readonly turn_list: readonly TurnRow[];
  readonly run_dir: string | null;
  /** Files in its run directories that the runtime has not put there, oldest first; absent if there were none. */
  readonly run_findings?: readonly RunFindingView[];
  /** Its own worktree; null if it has none or was never started. */
  readonly workspace: WorkerWorkspace | null;
  readonly last_seq: number;
  readonly last_event_at: string | null;
  /** Output that retention moved out of the log; null if all of it is there. */
  readonly moved_output: MovedOutput | null;
  /** Restarts in the current window, their bound, and the length of the window in milliseconds. */
  readonly window: { readonly used: number; readonly max: number; readonly period_ms: number };
}

export type EffectWord =
  | "created"
  | "updated"
  | "deleted"
  | "noop"
  | "would_create"
  | "would_update"
  | "would_delete";

export interface SpawnReply {
  readonly id: string;
  readonly name: string | null;
  readonly kind: string;
  readonly status: WorkerStatus;
  readonly effect: EffectWord;
  /** With dry_run: the launch that would follow, secrets masked. */
  readonly plan?: {
    readonly argv: readonly string[];
    readonly cwd: string;
    readonly env: Readonly<Record<string, string>>;
    readonly stdin: string;
    /** The commit that its worktree would be made from. A null branch is named after the worker's id later. */
    readonly worktree?: {
      readonly repository: string;
      readonly base_commit: string;
      readonly branch: string | null;
    };
    /** In its paths, `WORKER-ID` stands for the id that the worker would get. */
    readonly sandbox?: {
      readonly program: string;
      readonly net: "none" | "host";
      readonly writable: readonly string[];
    };
  };
}

/** The changes of a worker's agents in its worktree since its creation. */
export interface ChangesReply {
  readonly id: string;
  readonly workspace: WorkerWorkspace;
  readonly files: readonly ChangedFile[];
  /** The number of further files that are not listed. */
  readonly omitted: number;
  readonly totals: ChangeList["totals"];
  /** The artifact for `agent cas get`; null if nothing has changed or the diff is too large to be kept. */
  readonly diff: {
    readonly digest: string;
    readonly size_bytes: number;
    /** True if secrets in it are masked: those parts cannot be applied. */
    readonly masked: boolean;
  } | null;
}

export interface PerWorker {
  readonly id: string;
  readonly name: string | null;
  readonly ok: boolean;
  readonly effect: EffectWord;
  readonly status: WorkerStatus | null;
  /** For a kill: how the sweep searched for remaining processes. Only `cgroup` means that none can have hidden. */
  readonly checked_by?: SweepReport["checked_by"];
  /** `suggestion`: the next step for the caller. */
  readonly error: (WorkerError & { readonly suggestion?: string }) | null;
}

export interface TreeNode {
  readonly id: string;
  readonly name: string | null;
  readonly type: "supervisor" | "worker";
  readonly strategy?: Strategy;
  /** For a supervisor of a file: its phase. */
  readonly phase?: SupervisorPhase;
  readonly file?: string;
  /** Names of the children being stopped or started, in start order. */
  readonly scope?: readonly string[];
  readonly tombstone?: boolean;
  readonly kind?: string;
  readonly task?: string;
  readonly status?: WorkerStatus;
  readonly state?: WorkerState;
  readonly reason?: string;
  readonly pid?: number | null;
  readonly incarnation?: number;
  readonly restarts?: number;
  readonly paused?: readonly PauseView[];
  readonly question?: QuestionView;
  /** The budget of a supervisor; absent if it has none. */
  readonly budget?: BudgetView;
  readonly window?: { readonly used: number; readonly max: number; readonly period_ms: number };
  /** The id of its fiber in the daemon. Absent for an ended worker, and for a supervisor that never had a worker. */
  readonly fiber?: number;
  /** The schedules of its file; for the root, those that commands added. */
  readonly schedules?: readonly ScheduleLine[];
  readonly children: readonly TreeNode[];
}

export interface AppliedReply {
  readonly tree: string;
  readonly changes: readonly TreeChange[];
  readonly state: SupervisorPhase;
}

/** The decisions about a worker or a supervisor, oldest first. */
export interface WhyReply {
  readonly id: string;
  readonly name: string | null;
  readonly type: "worker" | "supervisor";
  /** The state of a worker, or the phase of a supervisor. */
  readonly state: WorkerState | SupervisorPhase;
  readonly reason: string;
  /** The step that continues it if it is paused; null if nothing is to be done. */
  readonly suggestion: string | null;
  /** For a worker: as in `WorkerView`. */
  readonly denied?: readonly DeniedCalls[];
  readonly records: readonly LogRecord[];
  /** The number of older records that are not shown. */
  readonly omitted: number;
  /** Names of the workers in the records, by id. */
  readonly names: Readonly<Record<string, string>>;
}

export interface WaitReply {
  readonly id: string;
  readonly name: string | null;
  readonly status: WorkerStatus;
  /** Why it ended for good: its policy, a supervisor that gave up, or a kill. */
  readonly reason: string;
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly error: WorkerError | null;
  /** Tool calls refused for lack of a permission, by tool, over its whole life; absent if there were none. */
  readonly denied?: readonly DeniedCalls[];
  /**
   * Why no further incarnation follows; null if something other than its own end decided. Absent from a daemon of an
   * earlier version.
   */
  readonly end_cause?: EndCause | null;
  /** The number of incarnations, and for more than one, the delays between them. */
  readonly attempts?: number;
  readonly backoff?: string;
  /** For a provider's limit with a known reset: seconds until then. */
  readonly retry_after_s?: number;
}

export interface RuntimeStatus {
  readonly version: string;
  readonly pid: number;
  readonly node: string;
  readonly store_id: string;
  /** The epoch of the log's history. With a seq it makes a cursor, `EPOCH:SEQ`. */
  readonly epoch: string;
  /** When and why the last epoch ended: an older copy of the log was put back. Null in the first epoch. */
  readonly restored: { readonly at: string; readonly sentence: string } | null;
  readonly state_dir: string;
  readonly started_at: string;
  readonly head: number;
  /** Why the event log takes no records now; null if it does. */
  readonly store_error: (WorkerError & { readonly suggestion: string }) | null;
  /**
   * All but `total` count living workers. `polled`: their output is checked on a timer because file events (inotify) are
   * missing. `tampered`: this daemon found something in their run directory (`agent why`). `heartbeats.late`: not checked
   * for three of their heartbeats and at least 10 s; `oldest_ms`: the age of the oldest of the newest checks.
   */
  readonly workers: {
    readonly live: number;
    readonly total: number;
    readonly polled: number;
    readonly tampered: number;
    readonly heartbeats: { readonly late: number; readonly oldest_ms: number | null };
  };
  readonly disk: DiskView;
  readonly rss_bytes: number;
  readonly heap_bytes: number;
}

export type { MessageRow, SubtreeSum, UsageReport, UsageRow, UsageSum };

/** Messages in the order in which they were accepted. */
export interface MessagesReply {
  readonly messages: readonly MessageRow[];
  /** The cursor of the page before these; absent if there is none. */
  readonly cursor?: string;
}

/** A request for permission. */
export interface ApprovalView extends Omit<ApprovalRow, "reply"> {
  /** The worker's name. */
  readonly worker: string | null;
  /** The deadline, and the answer at that time. Null if it is not open or its agent is paused. */
  readonly expires_at: string | null;
  readonly otherwise: "deny" | "allow";
}

export interface ApprovalsReply {
  readonly approvals: readonly ApprovalView[];
  readonly cursor?: string;
}

/** A hold. */
export interface HoldView {
  /** The id for `answer`: that of a request for permission, else `WORKER:HOLD` or `SUPERVISOR:HOLD`. */
  readonly id: string;
  readonly reason: HoldReason;
  /** Null for the budget of a supervisor. */
  readonly worker_id: string | null;
  /** The worker's name. */
  readonly worker: string | null;
  /** The supervisor's path, for the budget of a supervisor; else null. */
  readonly supervisor: string | null;
  readonly incarnation: number | null;
  /** The question, for a person. */
  readonly question: string;
  /** The answers that `answer` takes. Empty: it ends without a person. */
  readonly answers: readonly HoldAnswer[];
  readonly since: string;
  /** The deadline, and the answer at that time. Null if it waits for ever or its agent is paused. */
  readonly expires_at: string | null;
  readonly otherwise: "allow" | "deny" | "stop" | null;
  /** For a request for permission, as in `ApprovalView`. */
  readonly tool?: string | null;
  readonly input?: JsonValue;
}

export interface Answered {
  readonly id: string;
  readonly question_id: string;
  readonly answer: HoldAnswer;
  /** `noop`: it already had this answer. */
  readonly effect: "updated" | "noop";
}

export interface InboxReply {
  readonly holds: readonly HoldView[];
  readonly cursor?: string;
}

export interface ApprovedReply {
  readonly approval_id: string;
  readonly worker_id: string;
  readonly decision: "allow" | "deny";
  readonly tool: string | null;
  /** The tool's input, or the agent's description of it. */
  readonly what: string;
  readonly effect: "updated" | "noop";
}

export interface MessageReply {
  readonly message_id: string;
  /** Its state by now: accepted (no agent runs), delivered, or later if it was sent before. */
  readonly state: MessageState;
  readonly effect: "created" | "noop";
}

/** The turn that answered a message, or the reply from a mailbox. */
export interface AnswerReply {
  readonly id: string;
  readonly message_id: string;
  /** Null for a reply, as is `usage`. */
  readonly turn: number | null;
  /** The answer. A reply's payload is JSON unless it is a string. */
  readonly text: string;
  readonly truncated: boolean;
  readonly usage: Usage | null;
  readonly duration_ms: number | null;
  /** Digest of an artifact that came with a reply. */
  readonly artifact?: string;
}

/** `agent usage`. Days are those of UTC. */
export interface UsageReply extends UsageReport {
  /** The grouping as requested: `day`, `kind`, `model`, `worker`, `label:KEY`. */
  readonly by: string;
  /** Turns completed since this time (RFC 3339); null for all. */
  readonly since: string | null;
}

export interface OutputReply {
  readonly id: string;
  /** The answer, up to 16 MiB or the requested bound. */
  readonly text: string;
  /** True if `text` is not the whole answer: it goes on, or lines over the limit were left out. */
  readonly truncated: boolean;
  /** Bytes missing in `text`. */
  readonly omitted_bytes: number;
  /** Digest of the whole answer, if it was over the inline limit when its incarnation ended. */
  readonly artifact?: string;
}

export type RawStream = "stdout" | "stderr";

export type { DiskView, RawAnswer, TreeChange };
