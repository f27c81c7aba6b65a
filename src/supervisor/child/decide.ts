/**
 * The supervisor's decision about one worker: (child, input, now) → (records, commands). Pure and total. The restart table is
 * OTP's (supervisor.erl): permanent always, transient after an abnormal end, temporary never; a kill is a tombstone.
 *
 * `step` is what holds for every worker. When an incarnation is over, it leaves a verdict, and who supervises the worker says
 * what comes next: here its private supervisor (`decide`), for a worker of a file the tree (tree/decide.ts).
 */

import type { AgentEvent } from "../../protocol/agent-event.ts";
import { truncateMessage } from "../../protocol/bounds.ts";
import type { RecordDraft, RecordPayloads, WorkerError } from "../../protocol/records.ts";
import {
  RESTART_BY_USER,
  RESTART_NEVER_STARTED,
  RESTART_SESSION_LOST,
} from "../../protocol/restart-cause.ts";
import { isEnded } from "../../protocol/worker.ts";
import { decideLadder } from "../clocks/ladder.ts";
import type { Now } from "../clocks/now.ts";
import { decidePause, isForgiven, pausedMs } from "../holds/pause.ts";
import type { ChildState, Command, Decision, Input, Spawned } from "./inputs.ts";
import { isInterruptedAnswer, policyFor } from "./interruption.ts";
import { type Recorder, recorder } from "./recorder.ts";
import {
  type Answered,
  decideInterrupted,
  decidePassivate,
  decideTaken,
  decideWake,
  lostSession,
  type Step,
} from "./session-decisions.ts";
import { limitError, stopError } from "./stop-errors.ts";
import { privately, uncounted, type Verdict } from "./verdict.ts";

type Exited = Extract<Input, { type: "exited" }>;

/** For a worker under a private supervisor of its own. */
export const decide = (child: ChildState, input: Input, now: Now): Decision => {
  const { events, commands, verdict } = step(child, input, now);
  if (verdict === undefined) return { events, commands };
  const next = privately(child, verdict, now);
  return {
    events: [...events, ...next.events],
    // The machine of an abandoned worker is broken: there is nobody to tell.
    commands: input.type === "abandoned" ? [] : [...commands, ...next.commands],
  };
};

export const step = (child: ChildState, input: Input, now: Now): Step => {
  const record = recorder(child);
  // A worker that has ended is begun again by name and by nothing else: not by a timer that rang, not by a start on its way.
  if (isEnded(child.state) && input.type !== "restart") return nothing;
  // An input that is told twice, or too late, changes nothing: there is one end for each beginning.
  if (isOutOfTurn(child, input) || isForgiven(child, input)) return nothing;
  switch (input.type) {
    case "begin":
      return {
        events: [
          record(
            "worker_state_changed",
            {
              from: child.state,
              to: "starting",
              reason: input.reason,
              ...(input.resumes === undefined ? {} : { resumes: input.resumes }),
              clock: now.clock,
            },
            input.incarnation,
          ),
        ],
        commands: [],
      };
    case "launched":
      return { events: launched(child, input.spawned, record, now), commands: [] };
    case "adopted":
      return {
        events: [
          record("worker_adopted", { agent: input.spawned.agent, clock: now.clock }),
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
      // A stop that is under way goes on; its supervisor waits for the same end.
      if (!child.open || child.stop?.kind === "shutdown" || child.stop?.kind === "kill") return nothing;
      return {
        events: [
          record("worker_cancel_requested", {
            by: input.by,
            reason: input.reason,
            tombstone: false,
            grace_ms: input.grace_ms,
            signal: input.signal,
            purpose: "shutdown",
          }),
          record("worker_state_changed", {
            from: child.state,
            to: "stopping",
            reason: input.reason,
            clock: now.clock,
          }),
        ],
        commands: [{ type: "stop", grace_ms: input.grace_ms, signal: input.signal }],
      };
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

const isOutOfTurn = (child: ChildState, { type }: Input): boolean =>
  type === "begin"
    ? child.open
    : type === "launched"
      ? !child.open || child.spawned
      : (type === "adopted" || type === "exited") && !child.open;

const nothing: Decision = { events: [], commands: [] };

const launched = (
  child: ChildState,
  spawned: Spawned,
  record: Recorder,
  now: Now,
): readonly RecordDraft[] => [
  record("worker_spawned", { ...spawned, clock: now.clock }),
  record("worker_started", { clock: now.clock }),
  // Stopped while it started: it is already on its way down.
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
  input: Extract<Input, { type: "kill" }>,
  record: Recorder,
  now: Now,
): Decision => {
  const stop: Command = { type: "stop", grace_ms: input.grace_ms, signal: input.signal };
  // A second kill means now: the machine skips the rest of the grace. The first one's record stands.
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
  input: Extract<Input, { type: "restart" }>,
  record: Recorder,
  now: Now,
): Decision => {
  if (child.open) {
    // A kill is final; a limit that is being carried out is overruled.
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
  // A user who restarts it has answered.
  const { interrupted } = child;
  const answered =
    interrupted === null
      ? []
      : [
          record("worker_answered", {
            question_id: interrupted.question_id,
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
  { limit, value, bound, owner, waiting, grace_ms }: Extract<Input, { type: "limit" }>,
  record: Recorder,
  now: Now,
): Step => {
  if (child.stop !== null || (!child.open && waiting !== true)) return nothing;
  const reason = limitError(limit, bound, owner).message;
  const of = owner === undefined ? {} : { owner };
  const reached = record("worker_limit_reached", { limit, value, bound, ...of });
  if (!child.open)
    return { events: [reached], commands: [], verdict: { type: "end", state: "failed", reason } };
  const stopping = { from: child.state, to: "stopping", reason, clock: now.clock } as const;
  return {
    events: [reached, record("worker_state_changed", stopping)],
    commands: [{ type: "stop", grace_ms, signal: "SIGTERM" }],
  };
};

/** An answer to a question that nobody asks any more changes nothing. */
const decideAnswer = (child: ChildState, input: Answered, record: Recorder, now: Now): Step => {
  const { ladder, interrupted } = child;
  const { question_id, answer, by, grace_ms } = input;
  if (interrupted?.question_id === question_id)
    return decideInterrupted({ child, session_id: interrupted.session_id }, input, record, now);
  if (ladder.stage !== "asked" || ladder.question_id !== question_id) return nothing;
  if (isInterruptedAnswer(answer)) return nothing;
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

const decideExit = (child: ChildState, input: Exited, record: Recorder, now: Now): Step => {
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
 * The one Error event of a failure, with the very message of its completion (agent-event notes A.4). A run that we stopped for a limit has had no other error; one that was cancelled has none: what its agent says of its own death is overridden.
 */
const faultEvent = (
  { stop }: ChildState,
  { fault, agent_kind, error }: Exited,
  { code, message }: WorkerError,
): AgentEvent | undefined => {
  const said = truncateMessage(message);
  if (fault !== undefined)
    return fault.message === said ? fault : { ...fault, message: said, data: { code } };
  // Whatever else its adapter knows, it has told: at the end of a turn.
  const isOurs = stop?.kind === "limit" || error !== undefined;
  if (agent_kind === undefined || !isOurs) return undefined;
  return { agent_kind, kind: "Error", channel: "error", message: said, data: { code } };
};

const MAY_DO_BETTER: readonly RecordPayloads["worker_limit_reached"]["limit"][] = ["stall", "tool", "ready"];

const verdictOf = (
  { stop, on_interrupted }: ChildState,
  { exit, interrupted }: Exited,
  completed: boolean,
  failure: WorkerError | undefined,
  lost: ReturnType<typeof lostSession>,
): Verdict => {
  if (stop?.kind === "kill") return { type: "end", state: "cancelled", reason: stop.reason };
  if (stop?.kind === "shutdown") return { type: "held" };
  if (stop?.kind === "passivate") return { type: "passivated" };
  if (stop?.kind === "restart") return { type: "again", cause: RESTART_BY_USER };
  // The daemon died between the record of the start and the start: nothing ran, and what was asked for is still owed.
  if (stop === null && exit.reason === "start_failed" && failure?.code === "WORKER_LOST")
    return { type: "again", cause: RESTART_NEVER_STARTED };
  if (stop?.kind === "session")
    return { type: "end", state: "failed", reason: `worker ${stop.holder} goes on in its session` };
  // Once: the fresh incarnation goes on in no session that could be lost.
  if (typeof lost === "string") return { type: "again", cause: RESTART_SESSION_LOST };
  if (lost === null) return { type: "end", state: "failed", reason: failure?.message ?? "" };
  // If it is started, somebody else goes on in its session.
  if (stop === null && exit.reason === "start_failed" && failure?.code === "SESSION_IN_USE")
    return { type: "end", state: "failed", reason: failure.message };
  // A worker that ran out of time or money would spend the same again; one that is stuck or did not get ready may do better.
  if (stop?.kind === "limit" && !MAY_DO_BETTER.includes(stop.limit))
    return { type: "end", state: "failed", reason: failure?.message ?? stop.limit };
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
  input: Pick<Exited, "exit" | "error" | "duration_ms" | "output_bytes" | "unfinished" | "sweep">,
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

/** No policy is asked: what failed was not the agent, and would fail again. */
const decideAbandoned = (
  child: ChildState,
  input: Extract<Input, { type: "abandoned" }>,
  record: Recorder,
  now: Now,
): Step => {
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
