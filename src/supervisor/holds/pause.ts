/**
 * Standing still on purpose: why a worker is paused, for how long it was, and what of its clocks that forgives. Pure, as the
 * ladder. A pause is of one incarnation, and has a reason; it goes on once no reason is left. A stop lifts them all, and so
 * does the end of the incarnation.
 */

import type { ClockStamp } from "../../protocol/clock-stamp.ts";
import {
  type PauseReason,
  type RecordDraft,
  type RecordPayloads,
  workerStream,
} from "../../protocol/records.ts";

export interface PauseCause {
  readonly reason: PauseReason;
  /** A sentence for people; empty where the reason says all. */
  readonly detail: string;
  readonly question_id?: string;
}

/** Folded from records. Monotonic milliseconds. */
export interface Pause {
  /** Oldest first, one of each reason; none: it goes on. */
  readonly causes: readonly PauseCause[];
  /** Since when it stands still, or goes on again; before all time where it never stood still. */
  readonly since_ms: number;
  /** The time that earlier pauses of this incarnation took. */
  readonly before_ms: number;
}

export const NO_PAUSE: Pause = { causes: [], since_ms: Number.NEGATIVE_INFINITY, before_ms: 0 };

export type PauseInput =
  /** `pids`: of the agent, where it runs already; what descends from it is stopped with it. */
  | ({ readonly type: "pause"; readonly pids: readonly number[] } & PauseCause)
  /** Without a reason: whatever it was paused for. */
  | { readonly type: "unpause"; readonly by: string; readonly reason?: PauseReason };

interface Pausable {
  readonly worker_id: string;
  readonly incarnation: number;
  readonly open: boolean;
  readonly stop: unknown;
  readonly pause: Pause;
}

export const isPaused = ({ pause }: { readonly pause: Pause }): boolean => pause.causes.length > 0;

/** In this incarnation; it goes on again. */
export const wasPaused = ({ pause }: { readonly pause: Pause }): boolean =>
  pause.causes.length === 0 && pause.since_ms > NO_PAUSE.since_ms;

/** How long this incarnation has stood still. */
export const pausedMs = ({ causes, since_ms, before_ms }: Pause, now: number): number =>
  before_ms + (causes.length === 0 ? 0 : Math.max(0, now - since_ms));

/** Nothing where it changes nothing; its processes are told where the last reason goes, or the first one comes. */
export const decidePause = (
  child: Pausable,
  input: PauseInput,
  clock: ClockStamp,
): {
  readonly events: readonly RecordDraft[];
  readonly commands: readonly { readonly type: PauseInput["type"] }[];
} => {
  const events = recordsOf(child, input, clock);
  const left = input.type === "pause" ? child.pause.causes.length : child.pause.causes.length - events.length;
  return { events, commands: events.length > 0 && left === 0 ? [{ type: input.type }] : [] };
};

/** A worker that is being stopped is not paused any more. */
const recordsOf = (
  { worker_id, incarnation, open, stop, pause }: Pausable,
  input: PauseInput,
  clock: ClockStamp,
): readonly RecordDraft[] => {
  if (!open || stop !== null) return [];
  const of = { stream: workerStream(worker_id), worker_id, incarnation };
  if (input.type === "pause") {
    if (pause.causes.some(({ reason }) => reason === input.reason)) return [];
    const { type: _, ...cause } = input;
    return [{ ...of, type: "worker_paused", payload: { ...cause, clock } }];
  }
  return pause.causes
    .filter(({ reason }) => input.reason === undefined || reason === input.reason)
    .map(({ reason }) => ({ ...of, type: "worker_unpaused", payload: { by: input.by, reason, clock } }));
};

/** Bounds of time that somebody saw passed just before it was paused: none of them counts while it stands still. */
const OF_TIME: readonly RecordPayloads["worker_limit_reached"]["limit"][] = [
  "timeout",
  "stall",
  "tool",
  "ready",
];

export const isForgiven = (
  child: { readonly pause: Pause },
  input: {
    readonly type: string;
    readonly limit?: RecordPayloads["worker_limit_reached"]["limit"];
  },
): boolean =>
  isPaused(child) &&
  (input.type === "stalled" ||
    input.type === "ask" ||
    (input.limit !== undefined && OF_TIME.includes(input.limit)));

/** `at` is the record's instant in monotonic milliseconds of this boot. */
export const foldPause = (pause: Pause, record: RecordDraft, at: number): Pause => {
  switch (record.type) {
    case "worker_paused": {
      const { clock: _, pids: __, ...cause } = record.payload;
      const since_ms = pause.causes.length === 0 ? at : pause.since_ms;
      return { ...pause, causes: [...pause.causes, cause], since_ms };
    }
    case "worker_unpaused": {
      const causes = pause.causes.filter(({ reason }) => reason !== record.payload.reason);
      return causes.length === 0 ? lifted(pause, at) : { ...pause, causes };
    }
    case "worker_state_changed":
      if (record.payload.to === "starting") return NO_PAUSE;
      return record.payload.to === "stopping" ? lifted(pause, at) : pause;
    case "worker_exited":
      return lifted(pause, at);
    default:
      return pause;
  }
};

const lifted = (pause: Pause, at: number): Pause =>
  pause.causes.length === 0 ? pause : { causes: [], since_ms: at, before_ms: pausedMs(pause, at) };

/** As people read it. */
export const pauseSentence = ({ causes }: Pause): string =>
  `paused: ${causes.map(({ reason, detail }) => detail || reason).join("; ")}`;

export const PAUSE_RECORDS = ["worker_paused", "worker_unpaused"] as const;
