/** All inputs of the supervisor's decision about one child, and all commands that it can give. */

import type { AgentEvent } from "../../protocol/agent-event.ts";
import type { AnswerArtifact } from "../../protocol/completion.ts";
import type { Hold } from "../../protocol/holds.ts";
import type { IncarnationOutcome, RecordedProcesses, RunExit } from "../../protocol/incarnation.ts";
import type { RecordDraft, RecordPayloads, SweepReport, Usage, WorkerError } from "../../protocol/records.ts";
import type { StopHow } from "../../protocol/tree-records.ts";
import type { OnInterrupted, OnUnfixable, Ready, RestartPolicy, WorkerState } from "../../protocol/worker.ts";
import type { Ladder, LadderInput, StallAnswer } from "../clocks/ladder.ts";
import type { PausedTime, PauseInput } from "../holds/pause.ts";
import type { InterruptedAnswer, InterruptedTurn } from "./interruption.ts";

/** The states in which a worker has ended or is stopped. `held`: stopped by its supervisor, which may start it again. */
export type WorkerEnd = "completed" | "failed" | "cancelled" | "parked" | "held";

/** The supervisor's memory of a child: folded from its records by `evolve`, never stored. */
export interface ChildState {
  readonly worker_id: string;
  readonly policy: RestartPolicy;
  /** The step after a failure that no restart can fix. */
  readonly on_unfixable: OnUnfixable;
  readonly max_restarts: number;
  readonly period_ms: number;
  readonly backoff: { readonly min_ms: number; readonly max_ms: number };
  /** The state of the worker machine as records tell it. */
  readonly state: WorkerState;
  readonly incarnation: number;
  /** An incarnation has begun and its exit is not recorded. */
  readonly open: boolean;
  /** Its process is on record. */
  readonly spawned: boolean;
  /** The processes of its newest incarnation, as recorded. */
  readonly processes: RecordedProcesses | null;
  /** The runtime of its newest incarnation, unless it is the built-in one, and that runtime's own name for the run. */
  readonly runtime: string | null;
  readonly ref: string | null;
  /** Whether it has a condition for readiness; and whether it is ready, in this incarnation. */
  readonly awaits_ready: boolean;
  readonly ready: boolean;
  /** Killed by name: only a start by name revives it. */
  readonly tombstone: boolean;
  /** The counted restarts, in monotonic milliseconds. */
  readonly restarts: readonly number[];
  /** Why it is being stopped; null if it is not. */
  readonly stop: StopReason | null;
  /** Monotonic milliseconds of the newest start, and of the end of the newest restart's delay. */
  readonly started_ms: number | null;
  readonly due_ms: number | null;
  /** The end of its life, on the wall clock in epoch milliseconds; null without a deadline. */
  readonly deadline_ms: number | null;
  /** Waits in a row for a provider's rate limit. */
  readonly rate_limits: number;
  /** The run time of its ended incarnations together. */
  readonly spent_ms: number;
  /** Null: the tools that were open decide. */
  readonly on_interrupted: OnInterrupted | null;
  /** The session that its spec names; no other session may replace it. */
  readonly asked_session: string | null;
  /** The session of an earlier incarnation that the newest one continues. */
  readonly resumes: string | null;
  /** The stage of the stall ladder. */
  readonly ladder: Ladder;
  /** Its open holds, except permission requests, which `approving` keeps. */
  readonly holds: readonly Hold[];
  readonly pause: PausedTime;
}

/** Grace and signal are required so that the next daemon can finish the stop unchanged. */
type Stopping = Required<StopHow>;

export type StopReason =
  /** A user ended it: a tombstone until a start by name. */
  | ({ readonly kind: "kill"; readonly by: string; readonly reason: string } & Stopping)
  | ({ readonly kind: "restart"; readonly by: string } & Stopping)
  /** Its supervisor stops it, and will decide what comes next. */
  | ({ readonly kind: "shutdown"; readonly by: string } & Stopping)
  /** It has nothing to do, and will wait for a message without a process. */
  | ({ readonly kind: "passivate"; readonly by: string } & Stopping)
  | { readonly kind: "session"; readonly session_id: string; readonly holder: string }
  | {
      readonly kind: "limit";
      readonly limit: RecordPayloads["worker_limit_reached"]["limit"];
      readonly bound: number;
      /** The owner of a shared budget. */
      readonly owner?: string | undefined;
      /** The budget asks, and the run's runtime cannot pause it until the answer. */
      readonly unpausable?: true | undefined;
    };

export type ChildInput =
  | {
      readonly type: "begin";
      readonly incarnation: number;
      readonly reason: string;
      /** The session of an earlier incarnation that it continues. */
      readonly resumes?: string;
    }
  | { readonly type: "launched"; readonly spawned: SpawnedProcess }
  /** A boot found its agent alive. */
  | { readonly type: "adopted"; readonly spawned: SpawnedProcess }
  | {
      readonly type: "exited";
      readonly exit: RunExit;
      readonly outcome: IncarnationOutcome;
      readonly duration_ms: number;
      readonly output_bytes?: number;
      readonly unfinished?: Usage;
      /** The turn that was open at the end. */
      readonly interrupted?: InterruptedTurn;
      readonly sweep?: SweepReport;
      readonly artifact?: AnswerArtifact;
      readonly error?: WorkerError;
      /** The adapter's final error event. Its record depends on the final failure. */
      readonly fault?: AgentEvent;
      /** The agent kind for the event of a failure that no adapter reports. */
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
  /** Its readiness condition holds. */
  | { readonly type: "ready"; readonly condition: keyof Ready; readonly after_ms: number }
  | {
      readonly type: "limit";
      readonly limit: RecordPayloads["worker_limit_reached"]["limit"];
      readonly value: number;
      readonly bound: number;
      readonly grace_ms: number;
      readonly owner?: string;
      readonly unpausable?: true;
      /** The limit also stops it while it waits to be started. */
      readonly waiting?: true;
    }
  /** Another worker holds the session that its agent uses. */
  | { readonly type: "session_taken"; readonly session_id: string; readonly holder: string }
  /** It has waited long enough for a message, or a message has come. */
  | { readonly type: "passivate"; readonly grace_ms: number }
  | { readonly type: "wake" }
  | LadderInput
  | PauseInput
  /** The answer to its question. */
  | {
      readonly type: "answer";
      readonly question_id: string;
      readonly answer: StallAnswer | InterruptedAnswer;
      readonly by: string;
      readonly grace_ms: number;
    }
  /** Holdfast itself failed at this worker (an unexpected error). Its processes are gone, and nothing more is tried. */
  | {
      readonly type: "abandoned";
      readonly error: WorkerError;
      readonly exit: RunExit;
      readonly duration_ms: number;
      readonly sweep?: SweepReport;
    };

export type SpawnedProcess = Omit<RecordPayloads["worker_spawned"], "clock">;

export type ChildCommand =
  | { readonly type: "start" }
  | { readonly type: "stop"; readonly grace_ms: number; readonly signal: string }
  /** Stop or continue its processes, as its records say. */
  | { readonly type: "pause" | "unpause" }
  | { readonly type: "restart_after"; readonly delay_ms: number }
  /** Wait without a process until the next command. */
  | { readonly type: "wait" }
  | { readonly type: "end"; readonly state: WorkerEnd };

export interface Decision {
  readonly events: readonly RecordDraft[];
  readonly commands: readonly ChildCommand[];
}
