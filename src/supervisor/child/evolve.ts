/** Folds a child's records into the supervisor's memory of it: the same at run time and after a crash. */

import { RATE_LIMIT_DONE_MS } from "../../base/limits.ts";
import { askedSession } from "../../protocol/asked-session.ts";
import { foldHolds, NO_HOLDS } from "../../protocol/holds.ts";
import type { LogRecord, RecordDraft, RecordPayloads, RecordType } from "../../protocol/records.ts";
import {
  RESTART_BY_USER,
  RESTART_ENDED,
  RESTART_RATE_LIMITED,
  restartCause,
} from "../../protocol/restart-cause.ts";
import type { WorkerSpec } from "../../protocol/worker.ts";
import { deadlineOf } from "../clocks/deadline.ts";
import { FOOT, foldLadder, LADDER_RECORDS } from "../clocks/ladder.ts";
import { foldPausedTime, NEVER_PAUSED, PAUSE_RECORDS } from "../holds/pause.ts";
import { inWindow } from "../restart/window.ts";
import type { ChildState } from "./inputs.ts";

const UNSPAWNED = { spawned: false, processes: null, runtime: null, ref: null } as const;

export const newChild = (workerId: string, spec: WorkerSpec): ChildState => ({
  worker_id: workerId,
  policy: spec.restart,
  // Missing in the spec of an early log.
  on_unfixable: spec.on_unfixable ?? "end",
  max_restarts: spec.max_restarts,
  period_ms: spec.restart_period_ms,
  backoff: { min_ms: spec.backoff_min_ms, max_ms: spec.backoff_max_ms },
  state: "pending",
  incarnation: 0,
  open: false,
  ...UNSPAWNED,
  awaits_ready: spec.ready !== undefined,
  ready: false,
  tombstone: false,
  restarts: [],
  stop: null,
  started_ms: null,
  due_ms: null,
  deadline_ms: deadlineOf(spec),
  rate_limits: 0,
  spent_ms: 0,
  on_interrupted: spec.on_interrupted ?? null,
  asked_session: askedSession(spec) ?? null,
  resumes: null,
  ladder: FOOT,
  holds: NO_HOLDS,
  pause: NEVER_PAUSED,
});

/** The records that are folded. */
export const LIFECYCLE: readonly RecordType[] = [
  "worker_spawn_requested",
  "worker_state_changed",
  "worker_spawned",
  "worker_ready",
  "worker_spec_changed",
  "worker_cancel_requested",
  "worker_limit_reached",
  "session_conflict",
  "worker_exited",
  "worker_restart_scheduled",
  "worker_ended",
  ...LADDER_RECORDS,
  ...PAUSE_RECORDS,
];

/** `at` is the time of the record in monotonic milliseconds of this boot (see `monotonicOf`). */
export const evolve = (child: ChildState, record: RecordDraft, at: number): ChildState => {
  const ladder = foldLadder(child.ladder, record, at);
  const holds = foldHolds(child.holds, record);
  const pause = foldPausedTime(child.pause, holds, record, at);
  const same = ladder === child.ladder && pause === child.pause && holds === child.holds;
  return evolveLife(same ? child : { ...child, ladder, holds, pause }, record, at);
};

/** A reload gives the worker another spec. */
const withSpec = (child: ChildState, spec: WorkerSpec): ChildState => {
  const made = newChild(child.worker_id, spec);
  const { policy, on_unfixable, max_restarts, period_ms, backoff } = made;
  const { awaits_ready, on_interrupted, asked_session, deadline_ms } = made;
  const restarting = { policy, on_unfixable, max_restarts, period_ms, backoff, on_interrupted };
  // Nothing checks readiness any more when the condition is gone, so the agent counts as ready, as one that started
  // without a condition.
  const ready = child.ready || (child.spawned && !awaits_ready);
  return { ...child, ...restarting, awaits_ready, ready, asked_session, deadline_ms };
};

const evolveLife = (child: ChildState, record: RecordDraft, at: number): ChildState => {
  switch (record.type) {
    case "worker_spawn_requested": {
      const ago = record.payload.spec.placed?.brought?.restarts_ago_ms ?? [];
      return ago.length === 0 ? child : { ...child, restarts: ago.map((ms) => at - ms).reverse() };
    }
    case "worker_state_changed": {
      const { to } = record.payload;
      // Its supervisor holds it: the stop is over.
      if (to === "pending") return { ...child, state: to, stop: null, due_ms: null };
      if (to === "waiting") return { ...child, state: to, stop: null };
      if (to !== "starting") return { ...child, state: to };
      return {
        ...child,
        state: to,
        ready: false,
        tombstone: false,
        incarnation: record.incarnation ?? child.incarnation,
        open: true,
        ...UNSPAWNED,
        started_ms: at,
        due_ms: null,
        resumes: record.payload.resumes ?? null,
      };
    }
    case "worker_spawned": {
      const { agent, launcher, runtime = null, ref = null } = record.payload;
      const processes = agent && launcher ? { agent, launcher } : null;
      return { ...child, spawned: true, processes, runtime, ref, ready: !child.awaits_ready };
    }
    case "worker_ready":
      return { ...child, ready: true };
    case "worker_spec_changed":
      return withSpec(child, record.payload.spec);
    case "worker_cancel_requested": {
      const { tombstone, by, reason, grace_ms, signal, purpose = "restart" } = record.payload;
      return {
        ...child,
        tombstone: tombstone || child.tombstone,
        stop: tombstone
          ? { kind: "kill", by, reason, grace_ms, signal }
          : { kind: purpose, by, grace_ms, signal },
      };
    }
    case "session_conflict": {
      const { session_id, holder } = record.payload;
      return { ...child, stop: { kind: "session", session_id, holder } };
    }
    case "worker_limit_reached":
      return { ...child, stop: { kind: "limit", ...limitOf(record.payload) } };
    case "worker_exited": {
      const { duration_ms, paused_ms = 0 } = record.payload;
      const ran_ms = Math.max(0, duration_ms - paused_ms);
      const rate_limits = ran_ms < RATE_LIMIT_DONE_MS ? child.rate_limits : 0;
      return { ...child, open: false, rate_limits, spent_ms: child.spent_ms + ran_ms };
    }
    case "worker_restart_scheduled": {
      const cause = restartCause(record.payload);
      // A start by name begins with an empty window.
      const before = cause === RESTART_BY_USER ? [] : child.restarts;
      const counted = cause === RESTART_ENDED ? [...before, at] : before;
      return {
        ...child,
        state: "backing_off",
        tombstone: false,
        stop: null,
        rate_limits: cause === RESTART_RATE_LIMITED ? child.rate_limits + 1 : 0,
        restarts: inWindow(counted, at, child.period_ms),
        due_ms: at + record.payload.delay_ms,
      };
    }
    case "worker_ended":
      return { ...child, state: record.payload.state, stop: null, due_ms: null };
    default:
      return child;
  }
};

const limitOf = ({ limit, bound, owner, unpausable }: RecordPayloads["worker_limit_reached"]) => ({
  limit,
  bound,
  owner,
  unpausable,
});

export interface Instant {
  readonly boot_id: string;
  readonly mono_ms: number;
  readonly wall_ms: number;
}

/**
 * The time of a record on today's monotonic clock (architecture §4, Time). In the same boot it is the record's stamp. After
 * another boot only the wall clock remains, which may have jumped, so its difference is clamped to the period.
 */
export const monotonicOf = (record: LogRecord, now: Instant, periodMs: number): number => {
  const clock = "clock" in record.payload ? record.payload.clock : undefined;
  if (clock?.boot_id === now.boot_id)
    return Math.min(now.mono_ms, Number(BigInt(clock.mono_ns) / 1_000_000n));
  const ago = now.wall_ms - Date.parse(record.recorded_at);
  // A worker that waits for a reset may wait longer than a restart counts in any window.
  const longest = record.type === "worker_restart_scheduled" ? record.payload.delay_ms : 0;
  return now.mono_ms - Math.min(Math.max(ago, 0), Math.max(periodMs, longest));
};
