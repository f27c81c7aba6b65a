/** All that goes into the supervisor's decision about one child, and all that it may command. Read this file to know what it can do. */

import type { AgentEvent } from "../../protocol/agent-event.ts";
import type { AnswerArtifact } from "../../protocol/completion.ts";
import type { IncarnationOutcome, RecordedProcesses, RunExit } from "../../protocol/incarnation.ts";
import type { RecordDraft, RecordPayloads, SweepReport, Usage, WorkerError } from "../../protocol/records.ts";
import type { StopHow } from "../../protocol/tree-records.ts";
import type { OnInterrupted, OnUnfixable, Ready, RestartPolicy, WorkerState } from "../../protocol/worker.ts";
import type { Answer, Ladder, LadderInput } from "../clocks/ladder.ts";
import type { Pause, PauseInput } from "../holds/pause.ts";
import type { Interrupted, InterruptedAnswer, InterruptedQuestion } from "./interruption.ts";

/** The states in which a worker stands still or has ended. */
/** `held`: stopped by its supervisor, which may start it again. */
export type WorkerEnd = "completed" | "failed" | "cancelled" | "parked" | "held";

/** The supervisor's memory of a child: folded from its records by `evolve`, never stored. */
export interface ChildState {
  readonly worker_id: string;
  readonly policy: RestartPolicy;
  /** The error of a failure that no restart can mend. */
  readonly on_unfixable: OnUnfixable;
  readonly max_restarts: number;
  readonly period_ms: number;
  readonly backoff: { readonly min_ms: number; readonly max_ms: number };
  /** The state of the worker machine as records tell it. */
  readonly state: WorkerState;
  readonly incarnation: number;
  /** An incarnation was begun and its exit is not recorded. */
  readonly open: boolean;
  /** Its process is on record. */
  readonly spawned: boolean;
  /** The processes of its newest incarnation, as the record names them. */
  readonly processes: RecordedProcesses | null;
  /** It waits for a condition before it counts as started; and whether that holds, in this incarnation. */
  readonly awaits_ready: boolean;
  readonly ready: boolean;
  /** Killed by name: only a start by name lifts it. */
  readonly tombstone: boolean;
  /** Monotonic milliseconds of the restarts that count. */
  readonly restarts: readonly number[];
  /** Why it is being stopped; null while nobody stops it. */
  readonly stop: StopReason | null;
  /** Monotonic milliseconds of the newest start and of the newest restart decision, with its delay. */
  readonly started_ms: number | null;
  readonly due_ms: number | null;
  /** Waits for a provider's rate limit, in a row. */
  readonly rate_limits: number;
  /** The sum that its ended incarnations took. */
  readonly spent_ms: number;
  /** Null: the tools that were open decide. */
  readonly on_interrupted: OnInterrupted | null;
  /** It waits for an answer: its turn was interrupted. */
  readonly interrupted: InterruptedQuestion | null;
  /** The session that its spec asks for by its id: no other one takes its place. */
  readonly asked_session: string | null;
  /** The session of an earlier incarnation in which the newest one goes on. */
  readonly resumes: string | null;
  /** How far it has been found stuck. */
  readonly ladder: Ladder;
  readonly pause: Pause;
}

/** So that the next daemon goes on as this one has begun. */
type Stopping = Required<StopHow>;

export type StopReason =
  /** Somebody ended it: a tombstone, until it is started by name. */
  | ({ readonly kind: "kill"; readonly by: string; readonly reason: string } & Stopping)
  | ({ readonly kind: "restart"; readonly by: string } & Stopping)
  /** Its supervisor stops it, and will say what comes next. */
  | ({ readonly kind: "shutdown"; readonly by: string } & Stopping)
  /** It has nothing to do: it will wait for a message without a process. */
  | ({ readonly kind: "passivate"; readonly by: string } & Stopping)
  | { readonly kind: "session"; readonly session_id: string; readonly holder: string }
  | {
      readonly kind: "limit";
      readonly limit: RecordPayloads["worker_limit_reached"]["limit"];
      readonly bound: number;
      /** The owner of a budget that is not its own. */
      readonly owner?: string | undefined;
    };

export type Input =
  | {
      readonly type: "begin";
      readonly incarnation: number;
      readonly reason: string;
      /** The session of an earlier incarnation, in which it goes on. */
      readonly resumes?: string;
    }
  | { readonly type: "launched"; readonly spawned: Spawned }
  /** A boot found its agent alive. */
  | { readonly type: "adopted"; readonly spawned: Spawned }
  | {
      readonly type: "exited";
      readonly exit: RunExit;
      readonly outcome: IncarnationOutcome;
      readonly duration_ms: number;
      readonly output_bytes?: number;
      readonly unfinished?: Usage;
      /** Its turn is open. */
      readonly interrupted?: Interrupted;
      readonly sweep?: SweepReport;
      readonly artifact?: AnswerArtifact;
      readonly error?: WorkerError;
      /** The last word of its adapter on a failure. The record depends on what the failure is in the end. */
      readonly fault?: AgentEvent;
      /** Whose events they are, for a failure of which no adapter knows. */
      readonly agent_kind?: string;
    }
  | {
      readonly type: "kill";
      readonly by: string;
      readonly reason: string;
      readonly grace_ms: number;
      readonly signal: string;
    }
  | { readonly type: "restart"; readonly by: string; readonly grace_ms: number }
  | {
      readonly type: "shutdown";
      readonly by: string;
      readonly reason: string;
      readonly grace_ms: number;
      readonly signal: string;
    }
  /** Its condition for readiness holds. */
  | { readonly type: "ready"; readonly condition: keyof Ready; readonly after_ms: number }
  | {
      readonly type: "limit";
      readonly limit: RecordPayloads["worker_limit_reached"]["limit"];
      readonly value: number;
      readonly bound: number;
      readonly grace_ms: number;
      readonly owner?: string;
      /** Also where it waits to be started. */
      readonly waiting?: true;
    }
  /** It is in a session that another one holds. */
  | { readonly type: "session_taken"; readonly session_id: string; readonly holder: string }
  /** It has waited long enough for a message, or one has come. */
  | { readonly type: "passivate"; readonly grace_ms: number }
  | { readonly type: "wake" }
  | LadderInput
  | PauseInput
  /** To the question that it was asked about. */
  | {
      readonly type: "answer";
      readonly question_id: string;
      readonly answer: Answer | InterruptedAnswer;
      readonly by: string;
      readonly grace_ms: number;
    }
  /** Holdfast itself failed at this worker (a throw where none may be): its processes are gone and nothing more is tried. */
  | {
      readonly type: "abandoned";
      readonly error: WorkerError;
      readonly exit: RunExit;
      readonly duration_ms: number;
      readonly sweep?: SweepReport;
    };

export type Spawned = Omit<RecordPayloads["worker_spawned"], "clock">;

export type Command =
  | { readonly type: "start" }
  | { readonly type: "stop"; readonly grace_ms: number; readonly signal: string }
  /** Its processes shall be as its records say: stopped, or going on. */
  | { readonly type: "pause" | "unpause" }
  | { readonly type: "restart_after"; readonly delay_ms: number }
  /** It waits to be told to start, without a process. */
  | { readonly type: "wait" }
  | { readonly type: "end"; readonly state: WorkerEnd };

export interface Decision {
  readonly events: readonly RecordDraft[];
  readonly commands: readonly Command[];
}
