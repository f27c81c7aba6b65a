/**
 * Every record type of the log, one union. A record is a durable fact; statuses and tables are folded from records.
 * Worker event kinds are those of protocol-v1 notes 2.6; the rest is what a supervisor adds (cli.md, One record).
 */

import type { AgentEvent } from "./agent-event.ts";
import type { ClockStamp } from "./clock-stamp.ts";
import type { AgentCompletion, AnswerArtifact, FailedIncarnation, WorkerError } from "./completion.ts";
import type { DeniedCalls } from "./denied.ts";
import type { LogGap } from "./log-gap.ts";
import type { RestartCause } from "./restart-cause.ts";
import type { ApprovalAnswered, ApprovalRequested, Json, LinePurpose, MessageStep } from "./talk-records.ts";
import type { SupervisorPhase } from "./tree.ts";
import type { SupervisorOperation, TreeSupervisorRef } from "./tree-records.ts";
import type { Budget, Priority, Ready, WorkerSpec, WorkerState } from "./worker.ts";
import type { WorkerWorkspace } from "./workspace.ts";

/** Identity of a process: read again immediately before each signal (architecture §5). */
export interface ProcessIdentity {
  readonly pid: number;
  /** Field 22 of /proc/PID/stat, in clock ticks since boot. */
  readonly start_time: string;
  readonly boot_id: string;
  readonly pid_ns: string;
}

export type { Json, LinePurpose, MessageStep, WorkerError, WorkerWorkspace };

/** Tokens as the agent's CLI counts them: its own meaning. In one meaning for all kinds they are in `ModelUsage`. */
export interface Usage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cached_tokens: number;
  readonly reasoning_tokens: number;
  /** Dollars as the agent reported them; null where it reports none. */
  readonly cost_usd: number | null;
  /** Dollars by the price list, for what the agent reported no cost of; left out where nothing was estimated. */
  readonly estimated_usd?: number;
}

/** Tokens in one meaning for all kinds (`protocol/usage.ts`): no token is in two of the first four counts. */
export interface TokenCounts {
  /** Neither read from the provider's cache nor written to it. */
  readonly input_tokens: number;
  /** Read from the provider's cache. */
  readonly cached_tokens: number;
  /** Written to it; 0 where the CLI counts them as input. */
  readonly cache_write_tokens: number;
  /** With the reasoning tokens, which are paid as output. */
  readonly output_tokens: number;
  readonly reasoning_tokens: number;
}

/** Tokens that one model took in a turn. */
export interface ModelUsage extends TokenCounts {
  /** As the agent's CLI names it, or as it was asked for; null where nobody tells. */
  readonly model: string | null;
  readonly cost_usd: number | null;
  readonly estimated_usd?: number;
  /** The date of the price that was taken: the day on which it was looked up. */
  readonly price_as_of?: string;
}

/** The cause that ended an agent that neither ended by itself nor was ended by anybody who wanted it. */
export type ExitCause = "supervisor_died" | "machine_restarted" | "out_of_memory";
/**
 * Why no incarnation follows one that has ended by itself: its policy restarts no such end, no restart could mend it, the restart window
 * was passed, or the provider's rate limit was reached too often in a row. Absent where something else ended it, and in early records.
 */
export type EndCause = "policy" | "unfixable" | "gave_up" | "rate_limited";
/** The side that wants it to stand still: a person, its budget, the quota of its output, the floor of free disk. */
export type PauseReason = "operator" | "budget" | "output" | "disk";

export type ExitReason = "exited" | "signalled" | "start_failed" | "unknown";

/** How a daemon begins: by what the one before it came to. */
export type StartKind = "first" | "after_stop" | "after_crash" | "after_reboot";

export interface SweepReport {
  readonly method: "marker" | "cgroup" | "pid_namespace";
  /** Processes whose environment could not be read (other users'). */
  readonly unreadable: number;
  /** Pids of this run still alive after the last pass. */
  readonly survivors: readonly number[];
  /** Processes ended by the sweep. */
  readonly killed: number;
  /** Places at which it looked; a record of an early version has it not. */
  readonly checked_by?: readonly ("cgroup" | "group" | "marker" | "output" | "descent")[];
}

export interface RecordPayloads {
  /** Version 1 of a worker's stream. Secrets are masked; the launch spec is in the run directory (0600). */
  worker_spawn_requested: { readonly spec: WorkerSpec; readonly clock: ClockStamp };
  /** It may not start yet. Its place changes; the newest is in `agent list`. */
  worker_queued: {
    readonly place: number;
    readonly priority: Priority;
    readonly waits_for: "slot" | "memory" | "disk";
  };
  /** to `starting` is the row of an incarnation, written before its process is made. */
  worker_state_changed: {
    readonly from: WorkerState;
    readonly to: WorkerState;
    readonly reason: string;
    /** For an incarnation that begins: the session of an earlier one, in which it goes on. */
    readonly resumes?: string;
    readonly clock: ClockStamp;
  };
  worker_spawned: {
    readonly pid: number;
    readonly pgid: number;
    readonly agent: ProcessIdentity;
    readonly launcher: ProcessIdentity;
    readonly argv: readonly string[];
    readonly clock: ClockStamp;
  };
  /** The agent runs: its first sign of life, or its exec. */
  worker_started: { readonly clock: ClockStamp };
  /** A change of liveness only: the process state letter of /proc (R, S, T, Z). */
  worker_heartbeat: { readonly process: "running" | "stopped" | "zombie" | "dead"; readonly idle_ms: number };
  worker_cancel_requested: {
    readonly by: string;
    readonly reason: string;
    readonly tombstone: boolean;
    readonly grace_ms: number;
    readonly signal: string;
    /** Without a tombstone: what comes after. `shutdown` is its supervisor's stop; after `passivate` it waits for a message. */
    readonly purpose?: "restart" | "shutdown" | "passivate";
  };
  /** Its condition for readiness holds; a worker without one is ready when it has started. */
  worker_ready: { readonly condition: keyof Ready; readonly after_ms: number };
  /** Its spec is another one from its next incarnation on. Secrets are masked. */
  worker_spec_changed: { readonly spec: WorkerSpec; readonly fields: readonly string[] };
  /** On record before its worktree is made, and the same for all its incarnations: what is found there later is its own. */
  worker_workspace_assigned: WorkerWorkspace;
  worker_signal_sent: { readonly signal: string; readonly pids: readonly number[]; readonly reason: string };
  /** Exactly one for each incarnation that was begun. */
  worker_exited: {
    readonly exit_code: number | null;
    readonly signal: string | null;
    readonly signal_inferred: boolean;
    readonly raw_status: number | null;
    readonly reason: ExitReason;
    readonly cause?: ExitCause;
    readonly error?: WorkerError;
    readonly duration_ms: number;
    /** Its output, as far as that is in the log; left out where it wrote nothing. */
    readonly output_bytes?: number;
    /** Usage of the turn that ended with it, as far as its agent told that; left out where none was open, or nothing was told. */
    readonly unfinished?: Usage;
    /** How much of it it was paused: no budget of time counts that. */
    readonly paused_ms?: number;
    readonly sweep?: SweepReport;
    readonly clock: ClockStamp;
  };
  /** Terminal for (worker, incarnation): exactly one of the three follows worker_exited. */
  worker_completed: { readonly completion: AgentCompletion; readonly artifact?: AnswerArtifact };
  worker_failed: FailedIncarnation;
  worker_cancelled: FailedIncarnation;
  /** An incarnation will follow this one. */
  worker_restart_scheduled: {
    readonly delay_ms: number;
    readonly restarts_in_window: number;
    readonly max_restarts: number;
    readonly period_ms: number;
    /** Decides whether a window counts it; an early log has none (`restartCause`). */
    readonly cause?: RestartCause;
    /** For people. */
    readonly reason: string;
    /** For a rate limit: why it does not wait as long as the provider said. */
    readonly note?: string;
    readonly clock: ClockStamp;
  };
  /** The worker stays as it ended: its policy, its window or a tombstone says so. */
  worker_ended: {
    readonly state: "completed" | "failed" | "cancelled" | "parked";
    readonly reason: string;
    readonly cause?: EndCause;
  };
  /** The restart window was passed: the supervisor gives up. The private one of a worker ends with it; the root parks and never ends. */
  supervisor_escalated: {
    readonly supervisor: string;
    readonly restarts: number;
    readonly max_restarts: number;
    readonly period_ms: number;
    /** For a supervisor of a file: whose end passed the window, and what it does. */
    readonly child?: string;
    readonly action?: "escalate" | "park";
  };
  /** A file's tree, as it shall be from now on. */
  tree_applied: {
    readonly tree: string;
    readonly file: string;
    readonly root: TreeSupervisorRef;
    /** Paths of children to stop (where they live) and start, by the path of their supervisor. */
    readonly restart: Readonly<Record<string, readonly string[]>>;
    readonly by: string;
    readonly clock: ClockStamp;
  };
  /** It was taken down: its name is free. */
  tree_removed: { readonly tree: string; readonly by: string };
  supervisor_state_changed: {
    readonly supervisor: string;
    readonly from: SupervisorPhase;
    readonly to: SupervisorPhase;
    readonly reason: string;
    readonly operation?: SupervisorOperation;
    readonly clock: ClockStamp;
  };
  /** A child's end counts in the supervisor's window, and these children are started anew. */
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
  /** Somebody asked for it by name: a kill is a tombstone until it is started by name. */
  supervisor_asked: {
    readonly supervisor: string;
    readonly what: "kill" | "restart" | "down";
    readonly by: string;
    readonly reason: string;
  };
  worker_adopted: { readonly agent: ProcessIdentity | null; readonly clock: ClockStamp };
  /** It has made no progress for its stall time, with no tool in flight. */
  worker_stalled: {
    readonly stage: "warn";
    readonly idle_ms: number;
    readonly bound_ms: number;
    readonly clock: ClockStamp;
  };
  /** For a person or a program. A budget's is asked once, in the stream of its worker or of its tree, and stands for all that it paused. */
  worker_question:
    | {
        /** Unanswered, the worker is stopped and its restart policy decides. */
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
        /** Id of a worker, or path of a supervisor. */
        readonly owner: string;
        readonly limit: RecordPayloads["worker_limit_reached"]["limit"];
        readonly value: number;
        readonly bound: number;
        readonly answers: readonly ("continue" | "stop")[];
        readonly clock: ClockStamp;
      }
    | {
        /** Its turn was open when its agent ended. It waits without a process until it is answered, or restarted by name. */
        readonly question_id: string;
        readonly about: "interrupted";
        /** The open tools, but only those that do not only read. */
        readonly tools: readonly string[];
        /** In which it would go on; null where its agent told none. */
        readonly session_id: string | null;
        readonly answers: readonly ("continue" | "fresh" | "stop")[];
        readonly clock: ClockStamp;
      };
  worker_answered: {
    readonly question_id: string;
    readonly answer: "wait" | "restart" | "kill" | "continue" | "fresh" | "stop";
    readonly by: string;
    /** With `continue`: what may be spent from now on. */
    readonly budget?: Budget;
    readonly clock: ClockStamp;
  };
  /** It needs no answer any more: the worker has gone on by itself, or its file allows more. */
  worker_question_withdrawn: {
    readonly question_id: string;
    readonly reason: "progress" | "raised";
    readonly clock: ClockStamp;
  };
  /** It shall stand still, from now or from its start on; its processes are stopped after this. No clock counts meanwhile. */
  worker_paused: {
    readonly reason: PauseReason;
    readonly detail: string;
    readonly question_id?: string;
    /** Its agent, where it runs already; what descends from it is stopped with it. */
    readonly pids: readonly number[];
    readonly clock: ClockStamp;
  };
  /** One reason less: it goes on once none is left. A stop, and the end of its incarnation, lift all of them without a word. */
  worker_unpaused: { readonly by: string; readonly reason: PauseReason; readonly clock: ClockStamp };
  worker_limit_reached: {
    readonly limit:
      | "timeout"
      | "stall"
      | "tool"
      | "ready"
      | "turns"
      | "tokens"
      | "usd"
      | "wall"
      | "restarts"
      | "output"
      | "output_bytes";
    readonly value: number;
    readonly bound: number;
    /** The owner of a budget that is not its own: the worker above it, or the supervisor. */
    readonly owner?: string;
  };
  /**
   * Output that is not in the log: a line over the limit (`bytes` long), a spool that lost its last bytes (power loss), what a
   * worker that was stopped had written and nobody had read, but for the end of it, or what was in a log that an older copy has replaced,
   * so that its spool was let go of.
   */
  worker_log_chunk: {
    readonly stream: "stdout" | "stderr";
    readonly truncated: true;
    readonly reason: "line_too_long" | "spool_shrunk" | "stopped" | "released";
    readonly bytes: number;
    readonly limit_bytes: number;
  };
  /** A message to the agent and how far it has come. The prompt of a kind that acknowledges is one, with its worker's id. */
  worker_message: { readonly message_id: string } & MessageStep;
  /** The agent may not call a tool unless it is allowed to. Open until it is answered, withdrawn, or its incarnation has ended. */
  approval_requested: ApprovalRequested;
  approval_answered: ApprovalAnswered;
  /** The agent wants no answer any more. */
  approval_withdrawn: { readonly approval_id: string };
  session_started: { readonly session_id: string };
  /** Its agent told a session in which another living worker goes on: it is ended before it does anything more. */
  session_conflict: { readonly session_id: string; readonly holder: string; readonly clock: ClockStamp };
  /** The next incarnation does not go on in this session: it is gone or damaged, or somebody wants a fresh start. */
  session_abandoned: { readonly session_id: string; readonly reason: string; readonly clock: ClockStamp };
  turn_started: { readonly turn: number };
  turn_completed: {
    readonly turn: number;
    readonly usage: Usage;
    /** As the agent reports it; null where it does not. */
    readonly duration_ms: number | null;
    readonly error?: WorkerError;
    /** The one with the most output first. A record of an early version has none of these two. */
    readonly models?: readonly ModelUsage[];
    /** Calls since the turn before was completed, those of sub-agents too. */
    readonly tool_calls?: number;
    /** Among those, the calls that were refused for want of a permission; absent where none was. */
    readonly denied?: readonly DeniedCalls[];
  };
  "agent.event": AgentEvent;
  /** In the place of output records that retention has removed: `records` of this stream, from this seq and version on. Never appended. */
  log_gap: LogGap;
  daemon_started: {
    readonly start: StartKind;
    readonly version: string;
    readonly pid: number;
    readonly node: string;
    readonly clock: ClockStamp;
  };
  daemon_stopped: { readonly reason: string };
  /** The log is not the one that was there before: from here on its seqs are of another history than those after `up_to` were. */
  log_epoch_began: {
    readonly epoch: string;
    readonly former_epoch: string;
    /** `older`: an older copy was put back. `other`: another history. `copied`: another file with all records. */
    readonly why: "older" | "other" | "copied";
    readonly up_to: number;
    /** Records after it that were durable and are gone, at least; null where nobody can tell. */
    readonly lost: number | null;
    readonly clock: ClockStamp;
  };
  /** Processes of a run that nobody supervises were found; what follows is their end. */
  run_orphaned: {
    readonly worker_id: string;
    readonly incarnation: number;
    readonly pids: readonly number[];
    readonly why: "no_record" | "ended";
    readonly clock: ClockStamp;
  };
  /**
   * A file of the run directory is not what the runtime has put there, or says something else than the log or the process table. It was
   * not used. Each daemon records each of them once.
   */
  worker_run_finding: {
    readonly file: string;
    readonly what: "not_a_file" | "contradicts_the_log" | "forged";
    readonly detail: string;
  };
  /** Something was thrown where nothing may be; it was contained. `error` is its name: its words stand in daemon.log. */
  daemon_defect: { readonly where: string; readonly error: string; readonly clock: ClockStamp };
  /** The machine slept, or the daemon was stopped: every clock begins anew, nobody is stalled or out of time by it. */
  daemon_resumed: {
    readonly kind: "suspended" | "stopped";
    readonly gap_ms: number;
    /** How much of it the monotonic clock counted: a sleep of the machine it leaves out. */
    readonly counted_ms: number;
    readonly clock: ClockStamp;
  };
}

export type RecordType = keyof RecordPayloads;

/** A record as it is handed to the log; the log adds seq, version, recorded_at and, where it is missing, id. */
export type RecordDraft = {
  [T in RecordType]: {
    readonly type: T;
    readonly stream: string;
    readonly payload: RecordPayloads[T];
    /** Idempotency key: an id that the log has already is not appended again. */
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

export const workerStream = (workerId: string): string => `worker:${workerId}`;
export const treeStream = (tree: string): string => `tree:${tree}`;
export const DAEMON_STREAM = "daemon";
/** Output is what a power loss may take from the log, because the spool still has it (architecture §4). */
export const isOutput = (type: RecordType): boolean => type === "agent.event" || type === "worker_log_chunk";

/** Held by its supervisor: stopped, and started again by nobody else. */
export const HELD = "held by its supervisor";
