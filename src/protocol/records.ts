/**
 * Every record type of the log, as one union. A record is a durable fact; statuses and tables are folded from records.
 * Worker event kinds are those of protocol-v1 notes 2.6; the others belong to supervision (docs/reference/records.md).
 */

import type { AgentEvent } from "./agent-event.ts";
import type {
  ItemClaimed,
  ItemExpired,
  ItemExtended,
  ItemPosted,
  ItemReleased,
} from "./blackboard-records.ts";
import type { BoardRecords } from "./board-records.ts";
import type { EndCause, ExitCause, ExitReason, PauseReason, StartKind, WorkerLimit } from "./causes.ts";
import type { ClockStamp } from "./clock-stamp.ts";
import type { AgentCompletion, AnswerArtifact, FailedIncarnation, WorkerError } from "./completion.ts";
import type { DeniedCalls } from "./denied.ts";
import type { LogGap } from "./log-gap.ts";
import type { MailRecords } from "./mail-records.ts";
import type { PeerRecords } from "./peer-records.ts";
import type { ProcessIdentity, SweepReport } from "./process-records.ts";
import type { RestartCause } from "./restart-cause.ts";
import type { ScheduleRecords } from "./schedule-records.ts";
import type { SkillRecords } from "./skill-records.ts";
import type { SpawnRecords } from "./spawn-records.ts";
import type {
  ApprovalAnswered,
  ApprovalRequested,
  JsonValue,
  LinePurpose,
  MessageStep,
} from "./talk-records.ts";
import type { ModelUsage, TokenCounts, Usage } from "./token-counts.ts";
import type { TokenRecords } from "./token-records.ts";
import type { SupervisorPhase } from "./tree.ts";
import type { SupervisorOperation, TreeSupervisorRef } from "./tree-records.ts";
import type { Budget, Priority, Ready, WorkerSpec, WorkerState } from "./worker.ts";
import type { WorkerWorkspace } from "./workspace.ts";

export type {
  EndCause,
  ExitCause,
  ExitReason,
  JsonValue,
  LinePurpose,
  MessageStep,
  ModelUsage,
  PauseReason,
  ProcessIdentity,
  StartKind,
  SweepReport,
  TokenCounts,
  Usage,
  WorkerError,
  WorkerWorkspace,
};

export interface RecordPayloads
  extends ScheduleRecords,
    SkillRecords,
    BoardRecords,
    MailRecords,
    SpawnRecords,
    TokenRecords,
    PeerRecords {
  /** The first record of a worker's stream. Secrets are masked; the launch spec is in the run directory (0600). */
  worker_spawn_requested: { readonly spec: WorkerSpec; readonly by?: string; readonly clock: ClockStamp };
  /** The worker may not start yet. Its place in the queue changes; `agent list` has the current one. */
  worker_queued: {
    readonly place: number;
    readonly priority: Priority;
    readonly waits_for: "slot" | "memory" | "disk";
  };
  /** A change to `starting` opens an incarnation, before its process exists. */
  worker_state_changed: {
    readonly from: WorkerState;
    readonly to: WorkerState;
    readonly reason: string;
    /** With the start of an incarnation: the session that it continues. */
    readonly resumes?: string;
    readonly clock: ClockStamp;
  };
  worker_spawned: {
    /** Its process; these four are absent for a run that is no process of this machine. */
    readonly pid?: number;
    readonly pgid?: number;
    readonly agent?: ProcessIdentity;
    readonly launcher?: ProcessIdentity;
    /** The kind of runtime that runs it; absent in early records, which are of `subprocess`. */
    readonly backend_kind?: string;
    /** The name of that runtime, unless it is the built-in one. */
    readonly runtime?: string;
    /** The runtime's own name for the run. */
    readonly ref?: string;
    readonly argv: readonly string[];
    readonly clock: ClockStamp;
  };
  /** The agent runs: its first sign of life, or its exec. */
  worker_started: { readonly clock: ClockStamp };
  /** Recorded when the process state changes: the letter of /proc (R, S, T, Z). */
  worker_heartbeat: { readonly process: "running" | "stopped" | "zombie" | "dead"; readonly idle_ms: number };
  worker_cancel_requested: {
    readonly by: string;
    readonly reason: string;
    readonly tombstone: boolean;
    readonly grace_ms: number;
    readonly signal: string;
    /** Without a tombstone: what follows the stop. `shutdown` is the supervisor's stop; after `passivate` the worker waits for a message. */
    readonly purpose?: "restart" | "shutdown" | "passivate";
  };
  /** The readiness condition of the worker holds. A worker without a condition is ready when it has started. */
  worker_ready: { readonly condition: keyof Ready; readonly after_ms: number };
  /** The worker's spec changes with its next incarnation. Secrets are masked. */
  worker_spec_changed: {
    readonly spec: WorkerSpec;
    readonly fields: readonly string[];
    readonly by?: string;
  };
  /** Recorded before the worktree is made, and valid for all incarnations, so that a worktree found there later is known as the worker's own. */
  worker_workspace_assigned: WorkerWorkspace;
  /** The worker has another name from now on. */
  worker_renamed: { readonly name: string; readonly before: string | null; readonly by: string };
  /** An ended worker is in no list any more; with `undone` it is again. */
  worker_archived: { readonly by: string; readonly undone: boolean };
  /** Its run directory, and its worktree if it had one without changes, are removed: it can not be started again. */
  worker_pruned: { readonly by: string; readonly freed_bytes: number; readonly worktree: boolean };
  worker_signal_sent: { readonly signal: string; readonly pids: readonly number[]; readonly reason: string };
  /** Exactly one for each incarnation that has begun. */
  worker_exited: {
    readonly exit_code: number | null;
    readonly signal: string | null;
    readonly signal_inferred: boolean;
    readonly raw_status: number | null;
    readonly reason: ExitReason;
    readonly cause?: ExitCause;
    readonly error?: WorkerError;
    readonly duration_ms: number;
    /** Bytes of its output in the log; absent if it wrote nothing. */
    readonly output_bytes?: number;
    /** Usage of the turn that was open at the end, as far as the agent reported it; absent if no turn was open or nothing was reported. */
    readonly unfinished?: Usage;
    /** The time that it was paused, which no time budget counts. */
    readonly paused_ms?: number;
    readonly sweep?: SweepReport;
    readonly clock: ClockStamp;
  };
  /** Terminal for an incarnation: exactly one of the three follows worker_exited. */
  worker_completed: { readonly completion: AgentCompletion; readonly artifact?: AnswerArtifact };
  worker_failed: FailedIncarnation;
  worker_cancelled: FailedIncarnation;
  /** An incarnation will follow this one. */
  worker_restart_scheduled: {
    readonly delay_ms: number;
    readonly restarts_in_window: number;
    readonly max_restarts: number;
    readonly period_ms: number;
    /** Decides whether a window counts the restart; absent in early logs (`restartCause`). */
    readonly cause?: RestartCause;
    /** For people. */
    readonly reason: string;
    /** With a rate limit: why the wait is not as long as the provider said. */
    readonly note?: string;
    readonly clock: ClockStamp;
  };
  /** The worker stays as it ended, because of its policy, its restart window or a tombstone. */
  worker_ended: {
    readonly state: "completed" | "failed" | "cancelled" | "parked";
    readonly reason: string;
    readonly cause?: EndCause;
  };
  /** The restart window was passed, so the supervisor gives up. A worker's private supervisor ends with its worker; the root parks and never ends. */
  supervisor_escalated: {
    readonly supervisor: string;
    readonly restarts: number;
    readonly max_restarts: number;
    readonly period_ms: number;
    /** With a supervisor of a file: the child whose end passed the window, and the supervisor's action. */
    readonly child?: string;
    readonly action?: "escalate" | "park";
  };
  /** The wanted state of a file's tree from now on. */
  tree_applied: {
    readonly tree: string;
    readonly file: string;
    readonly root: TreeSupervisorRef;
    /** Paths of children to restart (those that live are stopped first), by the path of their supervisor. */
    readonly restart: Readonly<Record<string, readonly string[]>>;
    readonly by: string;
    readonly clock: ClockStamp;
  };
  /** The tree was taken down, so its name is free. */
  tree_removed: { readonly tree: string; readonly by: string };
  supervisor_state_changed: {
    readonly supervisor: string;
    readonly from: SupervisorPhase;
    readonly to: SupervisorPhase;
    readonly reason: string;
    readonly operation?: SupervisorOperation;
    readonly clock: ClockStamp;
  };
  /** The end of a child counts in the supervisor's window, and these children are restarted. */
  supervisor_restart_scheduled: {
    readonly supervisor: string;
    readonly child: string;
    readonly scope: readonly string[];
    readonly delay_ms: number;
    readonly restarts_in_window: number;
    readonly max_restarts: number;
    readonly period_ms: number;
    readonly reason: string;
    readonly clock: ClockStamp;
  };
  /** A person or program asked for this by name. A kill is a tombstone until a start by name. */
  supervisor_asked: {
    readonly supervisor: string;
    readonly what: "kill" | "restart" | "down";
    readonly by: string;
    readonly reason: string;
  };
  worker_adopted: { readonly agent: ProcessIdentity | null; readonly clock: ClockStamp };
  /** The worker has made no progress for its stall time, with no tool running. */
  worker_stalled: {
    readonly stage: "warn";
    readonly idle_ms: number;
    readonly bound_ms: number;
    readonly clock: ClockStamp;
  };
  /** A question for a person or program. A budget's question is asked once, in the stream of its owner, for all workers that it paused. */
  worker_question:
    | {
        /** Without an answer, the worker is stopped and its restart policy decides. */
        readonly question_id: string;
        readonly about: "stall";
        readonly idle_ms: number;
        readonly answers: readonly ("wait" | "restart" | "kill")[];
        readonly answer_within_ms: number;
        readonly clock: ClockStamp;
      }
    | {
        readonly question_id: string;
        readonly about: "budget";
        /** The id of a worker, or the path of a supervisor. */
        readonly owner: string;
        readonly limit: RecordPayloads["worker_limit_reached"]["limit"];
        readonly value: number;
        readonly bound: number;
        readonly answers: readonly ("continue" | "stop")[];
        readonly clock: ClockStamp;
      }
    | {
        /** The agent ended during a turn. The worker waits without a process until an answer, or a restart by name. */
        readonly question_id: string;
        readonly about: "interrupted";
        /** The open tools, except those that only read. */
        readonly tools: readonly string[];
        /** The session that it would continue; null if the agent reported none. */
        readonly session_id: string | null;
        readonly answers: readonly ("continue" | "fresh" | "stop")[];
        readonly clock: ClockStamp;
      };
  worker_answered: {
    readonly question_id: string;
    readonly answer: "wait" | "restart" | "kill" | "continue" | "fresh" | "stop";
    readonly by: string;
    /** With `continue`: the budget from now on. */
    readonly budget?: Budget;
    readonly clock: ClockStamp;
  };
  /** The question needs no answer any more: the worker made progress, or its file allows more. */
  worker_question_withdrawn: {
    readonly question_id: string;
    readonly reason: "progress" | "raised";
    readonly clock: ClockStamp;
  };
  /** The worker is paused from now on, or from its start on. Its processes are stopped after this record. Its clocks stand still meanwhile. */
  worker_paused: {
    readonly reason: PauseReason;
    readonly detail: string;
    /** With a pause that somebody asked for. */
    readonly by?: string;
    readonly question_id?: string;
    /** Its agent, if it runs; the agent's descendants are stopped too. */
    readonly pids: readonly number[];
    readonly clock: ClockStamp;
  };
  /** Removes one reason for the pause; without reasons, the worker continues. A stop or the incarnation's end removes all without a record. */
  worker_unpaused: { readonly by: string; readonly reason: PauseReason; readonly clock: ClockStamp };
  worker_limit_reached: {
    readonly limit: WorkerLimit;
    /** For a deadline, both are epoch milliseconds. */
    readonly value: number;
    readonly bound: number;
    /** The owner of a shared budget: the worker above this one, or the supervisor. */
    readonly owner?: string;
    /** The budget asks, and the run's runtime cannot pause it until the answer: it was ended instead. */
    readonly unpausable?: true;
  };
  /**
   * Output that is missing from the log: a line over the limit (`bytes` long), the bytes that a spool lost in a power
   * failure, the unread output of a stopped worker except its end, or output in a log that an older copy has replaced, after
   * its disk space was freed.
   */
  worker_log_chunk: {
    readonly stream: "stdout" | "stderr";
    readonly truncated: true;
    readonly reason: "line_too_long" | "spool_shrunk" | "stopped" | "released";
    readonly bytes: number;
    readonly limit_bytes: number;
  };
  /** One step of a message to the agent. The prompt of a kind that acknowledges messages is also a message, whose id is that of its worker. */
  worker_message: { readonly message_id: string } & MessageStep;
  /** The agent asks whether it may call a tool. Open until an answer, a withdrawal, or the end of the incarnation. */
  approval_requested: ApprovalRequested;
  approval_answered: ApprovalAnswered;
  /** The agent no longer wants an answer. */
  approval_withdrawn: { readonly approval_id: string };
  /** An item is on the blackboard. The namespace is that of the stream. */
  bb_posted: ItemPosted;
  /** One claimer holds it. The fencing token is the seq of this record. */
  bb_claimed: ItemClaimed;
  /** Its lease begins again; the token stays. */
  bb_extended: ItemExtended;
  /** Its holder gave it back, or is done with it: then it is gone. */
  bb_released: ItemReleased;
  /** Its lease is over, so that others may claim it; or its time to live is, and it is gone. */
  bb_expired: ItemExpired;
  session_started: { readonly session_id: string };
  /** The agent reported a session that another living worker continues, so the agent is ended at once. */
  session_conflict: { readonly session_id: string; readonly holder: string; readonly clock: ClockStamp };
  /** The next incarnation does not continue this session: it is gone or damaged, or a user wants a fresh start. */
  session_abandoned: { readonly session_id: string; readonly reason: string; readonly clock: ClockStamp };
  turn_started: { readonly turn: number };
  turn_completed: {
    readonly turn: number;
    readonly usage: Usage;
    /** As the agent reports it; null if it does not. */
    readonly duration_ms: number | null;
    readonly error?: WorkerError;
    /** The model with the most output first. Early records have neither this nor the next member. */
    readonly models?: readonly ModelUsage[];
    /** Tool calls since the previous turn ended, including those of sub-agents. */
    readonly tool_calls?: number;
    /** The denied ones among those calls; absent if there are none. */
    readonly denied?: readonly DeniedCalls[];
  };
  "agent.event": AgentEvent;
  /** Replaces output records that retention has removed: `records` of this stream, from this seq and version on. It is never appended. */
  log_gap: LogGap;
  daemon_started: {
    readonly start: StartKind;
    readonly version: string;
    readonly pid: number;
    readonly node: string;
    readonly clock: ClockStamp;
  };
  daemon_stopped: {
    readonly reason: string;
    /** With a stop that somebody asked for. */
    readonly by?: string;
  };
  /** The log is not the one that was there before. From here on its seqs belong to another history than those after `up_to` did. */
  log_epoch_began: {
    readonly epoch: string;
    readonly former_epoch: string;
    /** `older`: an older copy was restored. `other`: another history. `copied`: another file with all records. */
    readonly why: "older" | "other" | "copied";
    readonly up_to: number;
    /** How many durable records after `up_to` are gone, at least; null if unknown. */
    readonly lost: number | null;
    readonly clock: ClockStamp;
  };
  /** Processes of a run without a supervisor were found. The records after this one are about their end. */
  run_orphaned: {
    readonly worker_id: string;
    readonly incarnation: number;
    readonly pids: readonly number[];
    readonly why: "no_record" | "ended";
    readonly clock: ClockStamp;
  };
  /**
   * A file of the run directory is not the one that the runtime wrote, or contradicts the log or the process table. The file
   * was not used. Each daemon records each finding once.
   */
  worker_run_finding: {
    readonly file: string;
    readonly what: "not_a_file" | "contradicts_the_log" | "forged";
    readonly detail: string;
  };
  /** An unexpected error was caught and contained. `error` is its name; its message is in daemon.log. */
  daemon_defect: { readonly where: string; readonly error: string; readonly clock: ClockStamp };
  /** The machine slept, or the daemon was stopped. Every clock starts again, so that no worker stalls or times out because of it. */
  daemon_resumed: {
    readonly kind: "suspended" | "stopped";
    readonly gap_ms: number;
    /** The part of the gap that the monotonic clock counted: it does not count a sleep of the machine. */
    readonly counted_ms: number;
    readonly clock: ClockStamp;
  };
}

export type RecordType = keyof RecordPayloads;

/** A record as it is handed to the log, which adds seq, version, recorded_at and, if missing, id. */
export type RecordDraft = {
  [T in RecordType]: {
    readonly type: T;
    readonly stream: string;
    readonly payload: RecordPayloads[T];
    /** Idempotency key: the log ignores a record whose id it already has. */
    readonly id?: string;
    readonly worker_id?: string;
    readonly incarnation?: number;
    readonly correlation_id?: string;
    readonly causation_id?: string;
  };
}[RecordType];

/** One row of the event log (architecture §1). */
export type LogRecord = RecordDraft & {
  readonly seq: number;
  readonly id: string;
  readonly version: number;
  /** RFC 3339, UTC, milliseconds. */
  readonly recorded_at: string;
  readonly correlation_id: string;
  readonly causation_id: string;
};

const WORKER_STREAM = "worker:";
export const workerStream = (workerId: string): string => `${WORKER_STREAM}${workerId}`;
/** The inverse of `workerStream`; undefined for another stream. */
export const workerOf = (stream: string): string | undefined =>
  stream.startsWith(WORKER_STREAM) ? stream.slice(WORKER_STREAM.length) : undefined;
export const treeStream = (tree: string): string => `tree:${tree}`;
export const DAEMON_STREAM = "daemon";
/** A power failure may take output records from the log, because the spool still has the output (architecture §4). */
export const isOutput = (type: RecordType): boolean => type === "agent.event" || type === "worker_log_chunk";

/** The reason of a worker that its supervisor stopped and that only the supervisor starts again. */
export const HELD = "held by its supervisor";
