/**
 * What the runtime answers: the shapes that the daemon sends, the client renders and the library returns. Without Effect,
 * so that who imports the library needs none of its types.
 */
import type { ChangedFile, Changes } from "../adapters/worktree/changes.ts";
import type { AgentCompletion } from "../protocol/completion.ts";
import type { LogRecord, PauseReason, Usage, WorkerError, WorkerWorkspace } from "../protocol/records.ts";
import type { Strategy, SupervisorPhase } from "../protocol/tree.ts";
import type { Budget, WorkerState, WorkerStatus } from "../protocol/worker.ts";
import type { ApprovalRow, MessageRow, MessageState, TurnRow, WorkerRow } from "../store/port.ts";
import type { SubtreeSum, UsageReport, UsageRow, UsageSum } from "../store/usage.ts";
import type { DiskView } from "./admission/disk.ts";
import type { QueuePlace } from "./admission/seats.ts";
import type { Spent } from "./budgets/budgets.ts";
import type { MovedOutput } from "./output/moved.ts";

/** Why a worker stands still; lifted by `agent unpause`. */
export interface PauseView {
  readonly reason: PauseReason;
  readonly detail: string;
  readonly question_id?: string;
}

/** Of a budget it stands for all that the budget has paused. */
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
  readonly spent: Spent;
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
  /** What it was given to do: the command line, or the beginning of the prompt; one line, secrets masked. */
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
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly error: WorkerError | null;
  readonly turns: number;
  readonly usage: Usage;
  /** In turns that were completed. */
  readonly tool_calls: number;
  /** Of all its turns together. */
  readonly turn_ms: number;
  /** Turns of which some part has neither a reported cost nor an estimate. */
  readonly unpriced_turns: number;
  /** Its place among those that wait to be started. */
  readonly queue?: QueuePlace;
  /** What it asks; answered by `agent answer`. */
  readonly question?: QuestionView;
  /** How many requests for permission wait for a person; absent where none does. */
  readonly approvals?: number;
  /** It stands still for these reasons, oldest first. */
  readonly paused?: readonly PauseView[];
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
  /** Its own worktree, once it was started. */
  readonly workspace: WorkerWorkspace | null;
  readonly last_seq: number;
  readonly last_event_at: string | null;
  /** What retention has taken out of the log; null when it is all there. */
  readonly moved_output: MovedOutput | null;
  /** Restarts inside the window now, of how many, in how long. */
  readonly window: { readonly used: number; readonly max: number; readonly period_ms: number };
}

export type Effected =
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
  readonly effect: Effected;
  /** With dry_run: what would be run, secrets masked. */
  readonly plan?: {
    readonly argv: readonly string[];
    readonly cwd: string;
    readonly env: Readonly<Record<string, string>>;
    readonly stdin: string;
    /** What its worktree would be made from; a branch of null gets its name with the worker's id. */
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

/** What a worker's agents have changed in its worktree since it was made. */
export interface ChangesReply {
  readonly id: string;
  readonly workspace: WorkerWorkspace;
  readonly files: readonly ChangedFile[];
  /** More of them, which are not named. */
  readonly omitted: number;
  readonly totals: Changes["totals"];
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
  readonly effect: Effected;
  readonly status: WorkerStatus | null;
  /** `suggestion`: what the caller does next. */
  readonly error: (WorkerError & { readonly suggestion?: string }) | null;
}

export interface TreeNode {
  readonly id: string;
  readonly name: string | null;
  readonly type: "supervisor" | "worker";
  readonly strategy?: Strategy;
  /** Of a supervisor of a file: where it is in its life, and what it is doing. */
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
  /** Of a supervisor, where it has one. */
  readonly budget?: BudgetView;
  readonly window?: { readonly used: number; readonly max: number; readonly period_ms: number };
  readonly children: readonly TreeNode[];
}

/** What `up` did, or `diff` would do, to one node of a tree. */
export interface TreeChange {
  readonly path: string;
  readonly action: "create" | "update" | "restart" | "remove" | "start" | "unchanged" | "kept_dead";
  readonly reason: string;
  /** Fields of its spec or configuration that differ. */
  readonly fields?: readonly string[];
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
  /** Of a worker its state, of a supervisor its phase. */
  readonly state: WorkerState | SupervisorPhase;
  readonly reason: string;
  /** What lets it go on where it is paused; null where nothing is to be done. */
  readonly suggestion: string | null;
  readonly records: readonly LogRecord[];
  /** Older ones that are not shown. */
  readonly omitted: number;
  /** Of the workers that the records are about, by id. */
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
}

export interface RuntimeStatus {
  readonly version: string;
  readonly pid: number;
  readonly node: string;
  readonly store_id: string;
  /** Of the log's history: with a seq it is a cursor, `EPOCH:SEQ`. */
  readonly epoch: string;
  /** When the epoch before this one ended, and why: an older copy of the log was put back. Null where it is the first. */
  readonly restored: { readonly at: string; readonly sentence: string } | null;
  readonly state_dir: string;
  readonly started_at: string;
  readonly head: number;
  /** Why the event log takes no records now; null while it does. */
  readonly store_error: (WorkerError & { readonly suggestion: string }) | null;
  /** `polled`: of the living, those whose output is looked for on a timer, for want of file events (inotify). */
  readonly workers: { readonly live: number; readonly total: number; readonly polled: number };
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

export interface ApprovedReply {
  readonly approval_id: string;
  readonly worker_id: string;
  readonly decision: "allow" | "deny";
  readonly tool: string | null;
  /** What the tool is called with, or the agent's words for it. */
  readonly what: string;
  readonly effect: "updated" | "noop";
}

export interface MessageReply {
  readonly message_id: string;
  /** How far it has come by now: accepted (no agent runs), delivered, or further where it was sent before. */
  readonly state: MessageState;
  readonly effect: "created" | "noop";
}

/** The turn that answered a message. */
export interface AnswerReply {
  readonly id: string;
  readonly message_id: string;
  readonly turn: number;
  readonly text: string;
  readonly truncated: boolean;
  readonly usage: Usage;
  readonly duration_ms: number | null;
}

/** `agent usage`. Days are those of UTC. */
export interface UsageReply extends UsageReport {
  /** As it was asked for: `day`, `kind`, `model`, `worker`, `label:KEY`. */
  readonly by: string;
  /** RFC 3339: turns that were completed since then; null is all. */
  readonly since: string | null;
}
