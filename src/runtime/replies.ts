/**
 * The answers of the runtime: the shapes that the daemon sends, the client renders and the library returns. Without Effect,
 * so that who imports the library needs none of its types.
 */

import type { MovedOutput } from "../actors/intake/moved.ts";
import type { RunFinding } from "../adapters/spawner.ts";
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
import type { Strategy, SupervisorPhase } from "../protocol/tree.ts";
import type { Budget, WorkerState, WorkerStatus } from "../protocol/worker.ts";
import type { SubtreeSum, UsageReport, UsageRow, UsageSum } from "../store/usage-report.ts";
import type { ApprovalRow, TurnRow, WorkerRow } from "../store/views.ts";
import type { DiskView } from "../supervisor/admission/disk.ts";
import type { QueuePlace } from "../supervisor/admission/seats.ts";
import type { SpentAmounts } from "../supervisor/budgets/budgets.ts";
import type { TreeChange } from "../supervisor/tree/diff.ts";

/** Why a worker stands still; lifted by `agent unpause`. */
export interface PauseView {
  readonly reason: PauseReason;
  readonly detail: string;
  readonly question_id?: string;
}

/** The question of a budget stands for all that the budget has paused. */
export interface QuestionView {
  readonly question_id: string;
  readonly about: "stall" | "budget" | "interrupted";
}

/** A budget, what was spent of it, and what may be. */
export interface BudgetView {
  /** Id of a worker, or path of a supervisor. */
  readonly owner: string;
  /** Spent: it waits for an answer, or everybody was stopped. */
  readonly state: "open" | "asked" | "stopped";
  readonly spent: SpentAmounts;
  readonly bounds: Budget;
  /** Some of it has neither a reported cost nor a price that is known: its dollars count as none. */
  readonly unpriced: boolean;
  /** Some of its dollars are estimates by the price list, because the agent reports none. */
  readonly estimated: boolean;
  readonly question_id?: string;
}

/** A row of `agent list`, with the field names of cli.md. */
export interface WorkerView {
  readonly id: string;
  readonly name: string | null;
  readonly kind: string;
  /** Its task: the command line, or the beginning of the prompt; one line, secrets masked. */
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
  /** When its process was last looked at; null where none was. A paused one is not looked at. */
  readonly heartbeat_at: string | null;
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly error: WorkerError | null;
  readonly turns: number;
  readonly usage: Usage;
  /** In turns that were completed. */
  readonly tool_calls: number;
  /** Calls of tools that were refused for want of a permission, by tool, over its whole life; absent where none was. */
  readonly denied?: readonly DeniedCalls[];
  /** The time of all its turns together. */
  readonly turn_ms: number;
  /** Turns with a part that has neither a reported cost nor an estimate. */
  readonly unpriced_turns: number;
  /** Its place among those that wait to be started. */
  readonly queue?: QueuePlace;
  /** Its question; answered by `agent answer`. */
  readonly question?: QuestionView;
  /** How many requests for permission wait for a person; absent where none does. */
  readonly approvals?: number;
  /** It stands still for these reasons, oldest first. */
  readonly paused?: readonly PauseView[];
}

export interface RunFindingView extends RunFinding {
  readonly incarnation: number;
}

export interface WorkerInfo extends WorkerView {
  readonly spec: WorkerRow["spec"];
  readonly completion: AgentCompletion | null;
  /** Those that it counts in: its own, those of the workers that asked for it, and of the supervisors above. */
  readonly budgets: readonly BudgetView[];
  /** It and all that its agent spawned, and those; left out where there is nobody else, null where they are over SUBTREE_SUMMED_MAX_WORKERS. */
  readonly subtree?: SubtreeSum | null;
  /** The newest ones, oldest first. */
  readonly turn_list: readonly TurnRow[];
  readonly run_dir: string | null;
  /** Files that its run directories had that the runtime has not put there, oldest first; absent where nothing was found. */
  readonly run_findings?: readonly RunFindingView[];
  /** Its own worktree, once it was started. */
  readonly workspace: WorkerWorkspace | null;
  readonly last_seq: number;
  readonly last_event_at: string | null;
  /** Output that retention has taken out of the log; null when it is all there. */
  readonly moved_output: MovedOutput | null;
  /** Restarts inside the window now, of how many, in how long. */
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
  /** With dry_run: what would be run, secrets masked. */
  readonly plan?: {
    readonly argv: readonly string[];
    readonly cwd: string;
    readonly env: Readonly<Record<string, string>>;
    readonly stdin: string;
    /** The commit that its worktree would be made from; a branch of null gets its name with the worker's id. */
    readonly worktree?: {
      readonly repository: string;
      readonly base_commit: string;
      readonly branch: string | null;
    };
    /** `WORKER-ID` stands for the id in the paths of the worktree that it would get. */
    readonly sandbox?: {
      readonly program: string;
      readonly net: "none" | "host";
      readonly writable: readonly string[];
    };
  };
}

/** The changes of a worker's agents in its worktree since it was made. */
export interface ChangesReply {
  readonly id: string;
  readonly workspace: WorkerWorkspace;
  readonly files: readonly ChangedFile[];
  /** More of them, which are not named. */
  readonly omitted: number;
  readonly totals: ChangeList["totals"];
  /** For `agent cas get`; null where nothing has changed, or it is larger than is kept. */
  readonly diff: {
    readonly digest: string;
    readonly size_bytes: number;
    /** Secrets in it are masked: there it cannot be applied. */
    readonly masked: boolean;
  } | null;
}

export interface PerWorker {
  readonly id: string;
  readonly name: string | null;
  readonly ok: boolean;
  readonly effect: EffectWord;
  readonly status: WorkerStatus | null;
  /** For a kill: where the sweep looked for what is left. Only `cgroup` means that nothing can have hidden. */
  readonly checked_by?: SweepReport["checked_by"];
  /** `suggestion`: what the caller does next. */
  readonly error: (WorkerError & { readonly suggestion?: string }) | null;
}

export interface TreeNode {
  readonly id: string;
  readonly name: string | null;
  readonly type: "supervisor" | "worker";
  readonly strategy?: Strategy;
  /** For a supervisor of a file: where it is in its life, and what it is doing. */
  readonly phase?: SupervisorPhase;
  readonly file?: string;
  /** Names of the children that it is stopping or starting, in start order. */
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
  /** The budget of a supervisor, where it has one. */
  readonly budget?: BudgetView;
  readonly window?: { readonly used: number; readonly max: number; readonly period_ms: number };
  /** The id of its fiber in the daemon, where it has one: a worker that has ended has none, nor a supervisor that never had a worker. */
  readonly fiber?: number;
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
  /** The step that lets it go on where it is paused; null where nothing is to be done. */
  readonly suggestion: string | null;
  /** For a worker, as in its view. */
  readonly denied?: readonly DeniedCalls[];
  readonly records: readonly LogRecord[];
  /** Older ones that are not shown. */
  readonly omitted: number;
  /** Names of the workers that the records are about, by id. */
  readonly names: Readonly<Record<string, string>>;
}

export interface WaitReply {
  readonly id: string;
  readonly name: string | null;
  readonly status: WorkerStatus;
  /** Why it stays as it is: its policy, the supervisor that gave up, a kill. */
  readonly reason: string;
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly error: WorkerError | null;
  /** Calls of tools that were refused for want of a permission, by tool, over its whole life; absent where none was. */
  readonly denied?: readonly DeniedCalls[];
  /** Why no further incarnation follows; null where something else than its own end decided. A daemon of an earlier version leaves it out. */
  readonly end_cause?: EndCause | null;
  /** Incarnations that there were; and, of more than one, how far they are apart. */
  readonly attempts?: number;
  readonly backoff?: string;
  /** For a provider's limit, where its reset was told: seconds from now. */
  readonly retry_after_s?: number;
}

export interface RuntimeStatus {
  readonly version: string;
  readonly pid: number;
  readonly node: string;
  readonly store_id: string;
  /** The epoch of the log's history: with a seq it is a cursor, `EPOCH:SEQ`. */
  readonly epoch: string;
  /** When the epoch before this one ended, and why: an older copy of the log was put back. Null where it is the first. */
  readonly restored: { readonly at: string; readonly sentence: string } | null;
  readonly state_dir: string;
  readonly started_at: string;
  readonly head: number;
  /** Why the event log takes no records now; null while it does. */
  readonly store_error: (WorkerError & { readonly suggestion: string }) | null;
  /**
   * `polled`: of the living, those whose output is looked for on a timer, for want of file events (inotify). `tampered`: of the living,
   * those in whose run directory this daemon has found something (`agent why`). `heartbeats.late`: of the living, those that nobody has
   * looked at for three of their heartbeats, and at least 10 s; `oldest_ms`: the age of the oldest newest one.
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

/** In the order in which they were accepted. */
export interface MessagesReply {
  readonly messages: readonly MessageRow[];
  /** For the page of those before them, where there are some. */
  readonly cursor?: string;
}

/** A request for permission as it is shown. */
export interface ApprovalView extends Omit<ApprovalRow, "reply"> {
  /** The worker's name. */
  readonly worker: string | null;
  /** When it answers itself, and how; null where it is not open, or its agent stands still. */
  readonly expires_at: string | null;
  readonly otherwise: "deny" | "allow";
}

export interface ApprovalsReply {
  readonly approvals: readonly ApprovalView[];
  readonly cursor?: string;
}

/** A hold as it is shown. */
export interface HoldView {
  /** As `answer` takes it: the id of a request for permission; else `WORKER:HOLD`, or `SUPERVISOR:HOLD`. */
  readonly id: string;
  readonly reason: HoldReason;
  /** Null for the budget of a supervisor. */
  readonly worker_id: string | null;
  /** The worker's name. */
  readonly worker: string | null;
  /** Its path, for the budget of a supervisor. */
  readonly supervisor: string | null;
  readonly incarnation: number | null;
  /** A sentence for a person. */
  readonly question: string;
  /** The words that `answer` takes. None: it ends without a person. */
  readonly answers: readonly HoldAnswer[];
  readonly since: string;
  /** When it answers itself, and how; null where it waits for ever, or its agent stands still. */
  readonly expires_at: string | null;
  readonly otherwise: "allow" | "deny" | "stop" | null;
  /** For a request for permission: as in `ApprovalView`. */
  readonly tool?: string | null;
  readonly input?: JsonValue;
}

export interface Answered {
  readonly id: string;
  readonly question_id: string;
  readonly answer: HoldAnswer;
  /** `noop`: it had this answer already. */
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
  /** The tool's input, or the agent's words for it. */
  readonly what: string;
  readonly effect: "updated" | "noop";
}

export interface MessageReply {
  readonly message_id: string;
  /** How far it has come by now: accepted (no agent runs), delivered, or further where it was sent before. */
  readonly state: MessageState;
  readonly effect: "created" | "noop";
}

/** The turn that answered a message, or the reply out of a mailbox. */
export interface AnswerReply {
  readonly id: string;
  readonly message_id: string;
  /** Null for a reply, as its usage. */
  readonly turn: number | null;
  /** The payload of a reply, as JSON where it is no text. */
  readonly text: string;
  readonly truncated: boolean;
  readonly usage: Usage | null;
  readonly duration_ms: number | null;
  /** Digest of an artifact that comes with a reply. */
  readonly artifact?: string;
}

/** `agent usage`. Days are those of UTC. */
export interface UsageReply extends UsageReport {
  /** As it was asked for: `day`, `kind`, `model`, `worker`, `label:KEY`. */
  readonly by: string;
  /** RFC 3339: turns that were completed since then; null is all. */
  readonly since: string | null;
}

export interface OutputReply {
  readonly id: string;
  /** The first 16 MiB of it, or as much as was asked for. */
  readonly text: string;
  /** `text` is not all of it: it goes on, or lines over the limit were left out. */
  readonly truncated: boolean;
  /** Bytes that are missing in `text`. */
  readonly omitted_bytes: number;
  /** Digest of the whole answer, where it was over the inline limit when its incarnation ended. */
  readonly artifact?: string;
}

export type RawStream = "stdout" | "stderr";

export type { DiskView, RawAnswer, TreeChange };
