/**
 * The supervisor's decision about one worker: (child, input, now) → (records, commands). Pure and total. The restart table
 * is OTP's (supervisor.erl): permanent always, transient after an abnormal end, temporary never; a kill is a tombstone.
 *
 * `step` holds for every worker. At the end of an incarnation it returns a verdict, and the worker's supervisor decides what
 * comes next: here its private supervisor (`decide`), for a worker of a file the tree (tree/decide.ts).
 */

import type { AgentEvent } from "../../protocol/agent-event.ts";
import { truncateMessage } from "../../protocol/bounds.ts";
import { holdOf } from "../../protocol/holds.ts";
import type { RecordDraft, RecordPayloads, WorkerError } from "../../protocol/records.ts";
import {
  RESTART_BY_USER,
  RESTART_NEVER_STARTED,
  RESTART_SESSION_LOST,
} from "../../protocol/restart-cause.ts";
import { isEnded } from "../../protocol/worker.ts";
import { deadlineReached } from "../clocks/deadline.ts";
import { decideLadder } from "../clocks/ladder.ts";
import type { Now } from "../clocks/now.ts";
import { decidePause, isForgiven, pausedMs } from "../holds/pause.ts";
import type { ChildCommand, ChildInput, ChildState, Decision, SpawnedProcess } from "./inputs.ts";
import { isInterruptedAnswer, policyFor } from "./interruption.ts";
import { type Recorder, recorder } from "./recorder.ts";
import {
  type AnswerInput,
  decideInterrupted,
  decidePassivate,
  decideTaken,
  decideWake,
  lostSession,
  type SessionDecision,
} from "./session-decisions.ts";
import { limitError, stopError } from "./stop-errors.ts";
import { privately, uncounted, type Verdict } from "./verdict.ts";

type ExitInput = Extract<ChildInput, { type: "exited" }>;

/** The decision for a worker with a private supervisor. */
export const decide = (child: ChildState, input: ChildInput, now: Now): Decision => {
  const { events, commands, verdict } = step(child, input, now);
  if (verdict === undefined) return { events, commands };
  const next = privately(child, verdict, now);
  return {
    events: [...events, ...next.events],
    // The machine of an abandoned worker is broken, so it gets no commands.
    commands: input.type === "abandoned" ? [] : [...commands, ...next.commands],
  };
};

export const step = (child: ChildState, input: ChildInput, now: Now): SessionDecision => {
  const record = recorder(child);
  // Only a restart by name begins an ended worker again, not a late timer or a start on its way.
  if (isEnded(child.state) && input.type !== "restart") return nothing;
  // A repeated or late input changes nothing: each beginning has exactly one end.
  if (isOutOfTurn(child, input) || isForgiven(child, input)) return nothing;
  switch (input.type) {
    case "begin":
      return decideBegin(child, input, record, now);
    case "launched":
      return { events: launched(child, input.spawned, record, now), commands: [] };
    case "adopted":
      return {
        events: [
          record("worker_adopted", { agent: input.spawned.agent ?? null, clock: now.clock }),
          // The last daemon died between the spawn and its record.
          ...(child.spawned ? [] : launched(child, input.spawned, record, now)),
        ],
        commands: [],
      };
    case "kill":
      return decideKill(child, input, record, now);
    case "restart":
      return decideRestart(child, input, record, now);
    case "shutdown":
      return decideShutdown(child, input, record, now);
    case "ready":
      if (!child.open || child.ready || child.stop !== null) return nothing;
      return {
        events: [record("worker_ready", { condition: input.condition, after_ms: input.after_ms })],
        commands: [],
      };
    case "limit":
      return decideLimit(child, input, record, now);
    case "session_taken":
      return decideTaken(child, input, record, now);
    case "passivate":
      return decidePassivate(child, input.grace_ms, record, now);
    case "wake":
      return decideWake(child, record, now);
    case "stalled":
    case "ask":
    case "withdraw":
      if (child.stop !== null || !child.open) return nothing;
      return { events: decideLadder(child, input, now.clock), commands: [] };
    case "pause":
    case "unpause":
      return decidePause(child, input, now.clock);
    case "answer":
      return decideAnswer(child, input, record, now);
    case "exited":
      return decideExit(child, input, record, now);
    case "abandoned":
      return decideAbandoned(child, input, record, now);
  }
};

const isOutOfTurn = (child: ChildState, { type }: ChildInput): boolean =>
  type === "begin"
    ? child.open
    : type === "launched"
      ? !child.open || child.spawned
      : (type === "adopted" || type === "exited") && !child.open;

const nothing: Decision = { events: [], commands: [] };

const decideBegin = (
  child: ChildState,
  { reason, resumes, incarnation }: Extract<ChildInput, { type: "begin" }>,
  record: Recorder,
  now: Now,
): SessionDecision => {
  // A daemon that was away, or a restart that came late.
  const late = deadlineReached(child.deadline_ms, now.wall.ms, 0);
  if (late !== undefined) return decideLimit(child, late, record, now);
  const { clock } = now;
  const resumed = resumes === undefined ? {} : { resumes };
  const begun = { from: child.state, to: "starting", reason, ...resumed, clock } as const;
  return { events: [record("worker_state_changed", begun, incarnation)], commands: [] };
};

/** A stop in progress continues; its supervisor waits for the same end. */
const decideShutdown = (
  { open, stop, state }: ChildState,
  { by, reason, grace_ms, signal }: Extract<ChildInput, { type: "shutdown" }>,
  record: Recorder,
  { clock }: Now,
): Decision => {
  if (!open || stop?.kind === "shutdown" || stop?.kind === "kill") return nothing;
  const asked = { by, reason, tombstone: false, grace_ms, signal, purpose: "shutdown" } as const;
  return {
    events: [
      record("worker_cancel_requested", asked),
      record("worker_state_changed", { from: state, to: "stopping", reason, clock }),
    ],
    commands: [{ type: "stop", grace_ms, signal }],
  };
};

const launched = (
  child: ChildState,
  spawned: SpawnedProcess,
  record: Recorder,
  now: Now,
): readonly RecordDraft[] => [
  record("worker_spawned", { ...spawned, clock: now.clock }),
  record("worker_started", { clock: now.clock }),
  // A worker that was stopped while it started is already being stopped.
  ...(child.stop === null
    ? [
        record("worker_state_changed", {
          from: "starting",
          to: "running",
          reason: "the agent runs",
          clock: now.clock,
        }),
      ]
    : []),
];

const decideKill = (
  child: ChildState,
  input: Extract<ChildInput, { type: "kill" }>,
  record: Recorder,
  now: Now,
): Decision => {
  const stop: ChildCommand = { type: "stop", grace_ms: input.grace_ms, signal: input.signal };
  // A second kill skips the rest of the grace. The record of the first kill stands.
  if (child.stop?.kind === "kill") return { events: [], commands: [stop] };
  const requested = record("worker_cancel_requested", {
    by: input.by,
    reason: input.reason,
    tombstone: true,
    grace_ms: input.grace_ms,
    signal: input.signal,
  });
  if (!child.open) {
    return {
      events: [requested, record("worker_ended", { state: "cancelled", reason: input.reason })],
      commands: [{ type: "end", state: "cancelled" }],
    };
  }
  return {
    events: [
      requested,
      record("worker_state_changed", {
        from: child.state,
        to: "stopping",
        reason: input.reason,
        clock: now.clock,
      }),
    ],
    commands: [stop],
  };
};

const decideRestart = (
  child: ChildState,
  input: Extract<ChildInput, { type: "restart" }>,
  record: Recorder,
  now: Now,
): Decision => {
  if (child.open) {
    // A kill is final; a stop for a limit is overruled.
    if (child.stop?.kind === "kill" || child.stop?.kind === "restart") return nothing;
    return {
      events: [
        record("worker_cancel_requested", {
          by: input.by,
          reason: "restart",
          tombstone: false,
          grace_ms: input.grace_ms,
          signal: "SIGTERM",
        }),
        record("worker_state_changed", {
          from: child.state,
          to: "stopping",
          reason: "restart",
          clock: now.clock,
        }),
      ],
      commands: [{ type: "stop", grace_ms: input.grace_ms, signal: "SIGTERM" }],
    };
  }
  // A restart by a user also answers the question.
  const interrupted = holdOf(child.holds, "interrupted");
  const answered =
    interrupted === undefined
      ? []
      : [
          record("worker_answered", {
            question_id: interrupted.id,
            answer: "continue",
            by: input.by,
            clock: now.clock,
          }),
        ];
  return {
    events: [...answered, uncounted(child, RESTART_BY_USER, record, now)],
    commands: [{ type: "start" }],
  };
};

const decideLimit = (
  child: ChildState,
  { limit, value, bound, owner, unpausable, waiting, grace_ms }: Extract<ChildInput, { type: "limit" }>,
  record: Recorder,
  now: Now,
): SessionDecision => {
  if (child.stop !== null || (!child.open && waiting !== true)) return nothing;
  const reason = limitError({ limit, bound, owner, unpausable }).message;
  const of = { ...(owner === undefined ? {} : { owner }), ...(unpausable === true ? { unpausable } : {}) };
  const reached = record("worker_limit_reached", { limit, value, bound, ...of });
  if (!child.open) return { events: [reached], commands: [], verdict: { ...ofLimit(limit), reason } };
  const stopping = { from: child.state, to: "stopping", reason, clock: now.clock } as const;
  return {
    events: [reached, record("worker_state_changed", stopping)],
    commands: [{ type: "stop", grace_ms, signal: "SIGTERM" }],
  };
};

/** An answer to a closed question changes nothing. */
const decideAnswer = (child: ChildState, input: AnswerInput, record: Recorder, now: Now): SessionDecision => {
  const { question_id, answer, by, grace_ms } = input;
  const interrupted = holdOf(child.holds, "interrupted");
  if (interrupted?.id === question_id)
    return decideInterrupted({ child, session_id: interrupted.session_id }, input, record, now);
  if (holdOf(child.holds, "stall")?.id !== question_id || isInterruptedAnswer(answer)) return nothing;
  const answered = record("worker_answered", { question_id, answer, by, clock: now.clock });
  const done: Decision =
    answer === "wait"
      ? nothing
      : answer === "restart"
        ? decideRestart(child, { type: "restart", by, grace_ms }, record, now)
        : decideKill(
            child,
            { type: "kill", by, reason: "it was stuck", grace_ms, signal: "SIGTERM" },
            record,
            now,
          );
  return { events: [answered, ...done.events], commands: done.commands };
};

const decideExit = (child: ChildState, input: ExitInput, record: Recorder, now: Now): SessionDecision => {
  const { outcome } = input;
  const exited = exitRecord(child, input, record, now);
  const { completion } = outcome;
  const said = { completion, ...(input.artifact === undefined ? {} : { artifact: input.artifact }) };
  const failure = stopError(child.stop) ?? outcome.error ?? input.error;
  const terminal =
    child.stop !== null && child.stop.kind !== "limit" && child.stop.kind !== "session"
      ? record("worker_cancelled", { error: failure ?? noError, ...said })
      : outcome.status === "completed" && child.stop === null
        ? record("worker_completed", said)
        : record("worker_failed", { error: failure ?? noError, ...said });
  const lost = terminal.type === "worker_failed" ? lostSession(child, failure) : undefined;
  const abandoned = (session_id: string) =>
    record("session_abandoned", { session_id, reason: failure?.message ?? "", clock: now.clock });
  const fault = terminal.type === "worker_failed" ? faultEvent(child, input, failure ?? noError) : undefined;
  return {
    events: [
      ...(fault === undefined ? [] : [record("agent.event", fault)]),
      exited,
      terminal,
      ...(typeof lost === "string" ? [abandoned(lost)] : []),
    ],
    commands: [],
    verdict: verdictOf(child, input, terminal.type === "worker_completed", failure, lost),
  };
};

/**
 * The single Error event of a failure, with the message of its completion (agent-event notes A.4). A run that we stopped for
 * a limit has no other error. A cancelled run has none: our verdict overrides the agent's own account of its death.
 */
const faultEvent = (
  { stop }: ChildState,
  { fault, agent_kind, error }: ExitInput,
  { code, message }: WorkerError,
): AgentEvent | undefined => {
  const said = truncateMessage(message);
  if (fault !== undefined)
    return fault.message === said ? fault : { ...fault, message: said, data: { code } };
  // Otherwise the adapter has already reported the error, at the end of a turn.
  const isOurs = stop?.kind === "limit" || error !== undefined;
  if (agent_kind === undefined || !isOurs) return undefined;
  return { agent_kind, kind: "Error", channel: "error", message: said, data: { code } };
};

const MAY_DO_BETTER: readonly RecordPayloads["worker_limit_reached"]["limit"][] = ["stall", "tool", "ready"];

const ofLimit = (limit: RecordPayloads["worker_limit_reached"]["limit"]) => ({
  type: "end" as const,
  state: "failed" as const,
  ...(limit === "deadline" ? { cause: "deadline" as const } : {}),
});

const verdictOf = (
  { stop, on_interrupted }: ChildState,
  { exit, interrupted }: ExitInput,
  completed: boolean,
  failure: WorkerError | undefined,
  lost: ReturnType<typeof lostSession>,
): Verdict => {
  if (stop?.kind === "kill") return { type: "end", state: "cancelled", reason: stop.reason };
  if (stop?.kind === "shutdown") return { type: "held" };
  if (stop?.kind === "passivate") return { type: "passivated" };
  if (stop?.kind === "restart") return { type: "again", cause: RESTART_BY_USER };
  // The daemon died between the record of the start and the start itself: nothing ran, so the start is still due.
  if (stop === null && exit.reason === "start_failed" && failure?.code === "WORKER_LOST")
    return { type: "again", cause: RESTART_NEVER_STARTED };
  if (stop?.kind === "session")
    return { type: "end", state: "failed", reason: `worker ${stop.holder} goes on in its session` };
  // Only once: the fresh incarnation continues no session that could be lost.
  if (typeof lost === "string") return { type: "again", cause: RESTART_SESSION_LOST };
  if (lost === null) return { type: "end", state: "failed", reason: failure?.message ?? "" };
  // When it was to start, another worker already used its session.
  if (stop === null && exit.reason === "start_failed" && failure?.code === "SESSION_IN_USE")
    return { type: "end", state: "failed", reason: failure.message };
  // A worker that ran out of time or money would only spend the same again. One that was stuck or not ready in time may do
  // better.
  if (stop?.kind === "limit" && !MAY_DO_BETTER.includes(stop.limit))
    return { ...ofLimit(stop.limit), reason: failure?.message ?? stop.limit };
  if (failure?.code === "SECRET_UNAVAILABLE" && !completed)
    return { type: "end", state: "parked", reason: "secret_unavailable" };
  const { cause } = exit;
  const isExcused = !completed && cause !== undefined && cause !== "out_of_memory";
  const then = interrupted === undefined ? "continue" : policyFor(on_interrupted, interrupted);
  return {
    type: "over",
    completed,
    failure,
    ...(isExcused ? { excused: cause } : {}),
    ...(interrupted === undefined || then === "continue" ? {} : { interrupted: { ...interrupted, then } }),
  };
};

const exitRecord = (
  { pause }: ChildState,
  input: Pick<ExitInput, "exit" | "error" | "duration_ms" | "output_bytes" | "unfinished" | "sweep">,
  record: Recorder,
  now: Now,
): RecordDraft => {
  const { exit, error, duration_ms, output_bytes = 0, unfinished, sweep } = input;
  const paused_ms = pausedMs(pause, now.mono_ms);
  return record("worker_exited", {
    ...exit,
    ...(error === undefined ? {} : { error }),
    duration_ms,
    ...(output_bytes === 0 ? {} : { output_bytes }),
    ...(unfinished === undefined ? {} : { unfinished }),
    ...(paused_ms === 0 ? {} : { paused_ms }),
    ...(sweep === undefined ? {} : { sweep }),
    clock: now.clock,
  });
};

/** No policy applies: the failure was not the agent's, and would repeat. */
const decideAbandoned = (
  child: ChildState,
  input: Extract<ChildInput, { type: "abandoned" }>,
  record: Recorder,
  now: Now,
): SessionDecision => {
  const killed = child.stop?.kind === "kill" ? stopError(child.stop) : undefined;
  const verdict: Verdict = {
    type: "end",
    state: killed === undefined ? "failed" : "cancelled",
    reason: input.error.message,
  };
  const terminal =
    killed === undefined
      ? record("worker_failed", { error: input.error })
      : record("worker_cancelled", { error: killed });
  return {
    events: child.open ? [exitRecord(child, input, record, now), terminal] : [],
    commands: [],
    verdict,
  };
};

const noError: WorkerError = { code: "AGENT_FAILED", message: "The agent failed and did not say why." };
