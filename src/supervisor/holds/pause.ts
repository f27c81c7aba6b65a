/**
 * Pauses: holds of one incarnation in which no clock counts. This file computes how long an incarnation was paused, and what
 * that means for its clocks. Pure. The incarnation continues once no reason is left. A stop, and the end of the incarnation,
 * remove all reasons.
 */

import type { ClockStamp } from "../../protocol/clock-stamp.ts";
import { type Hold, pausesIn } from "../../protocol/holds.ts";
import {
  type PauseReason,
  type RecordDraft,
  type RecordPayloads,
  workerStream,
} from "../../protocol/records.ts";

export interface PauseCause {
  readonly reason: PauseReason;
  /** A sentence for people; empty if the reason says it all. */
  readonly detail: string;
  readonly question_id?: string;
}

/** The paused time of one incarnation, folded from records, in monotonic milliseconds. */
export interface PausedTime {
  /** It is paused now. */
  readonly isOn: boolean;
  /** When it was last paused or continued; before all time if it was never paused. */
  readonly since_ms: number;
  /** The time of earlier pauses of this incarnation. */
  readonly before_ms: number;
}

export const NEVER_PAUSED: PausedTime = { isOn: false, since_ms: Number.NEGATIVE_INFINITY, before_ms: 0 };

export type PauseInput =
  /** `pids`: its agent, if it runs; the agent's descendants are stopped too. */
  | ({ readonly type: "pause"; readonly pids: readonly number[]; readonly by?: string } & PauseCause)
  /** Without a reason: removes all reasons. */
  | { readonly type: "unpause"; readonly by: string; readonly reason?: PauseReason };

interface Pausable {
  readonly worker_id: string;
  readonly incarnation: number;
  readonly open: boolean;
  readonly stop: unknown;
  readonly holds: readonly Hold[];
}

const NONE: readonly PauseCause[] = [];

/** The reasons for the pause, oldest first, each once; empty if it is not paused. */
export const causesOf = ({ holds }: { readonly holds: readonly Hold[] }): readonly PauseCause[] =>
  holds.length === 0
    ? NONE
    : pausesIn(holds).map(({ reason: _, id, ...cause }) => ({ reason: id, ...cause }));

export const isPaused = ({ pause }: { readonly pause: PausedTime }): boolean => pause.isOn;

/** It was paused in this incarnation, but no longer is. */
export const wasPaused = ({ pause }: { readonly pause: PausedTime }): boolean =>
  !pause.isOn && pause.since_ms > NEVER_PAUSED.since_ms;

/** The paused time of this incarnation. */
export const pausedMs = ({ isOn, since_ms, before_ms }: PausedTime, now: number): number =>
  before_ms + (isOn ? Math.max(0, now - since_ms) : 0);

/** Nothing if nothing changes. A command to its processes follows only the first reason, and the removal of the last one. */
export const decidePause = (
  child: Pausable,
  input: PauseInput,
  clock: ClockStamp,
): {
  readonly events: readonly RecordDraft[];
  readonly commands: readonly { readonly type: PauseInput["type"] }[];
} => {
  const events = recordsOf(child, input, clock);
  const { length } = causesOf(child);
  const left = input.type === "pause" ? length : length - events.length;
  return { events, commands: events.length > 0 && left === 0 ? [{ type: input.type }] : [] };
};

/** A worker that is being stopped cannot be paused. */
const recordsOf = (
  { worker_id, incarnation, open, stop, holds }: Pausable,
  input: PauseInput,
  clock: ClockStamp,
): readonly RecordDraft[] => {
  if (!open || stop !== null) return [];
  const of = { stream: workerStream(worker_id), worker_id, incarnation };
  if (input.type === "pause") {
    if (causesOf({ holds }).some(({ reason }) => reason === input.reason)) return [];
    const { type: _, ...cause } = input;
    return [{ ...of, type: "worker_paused", payload: { ...cause, clock } }];
  }
  return causesOf({ holds })
    .filter(({ reason }) => input.reason === undefined || reason === input.reason)
    .map(({ reason }) => ({ ...of, type: "worker_unpaused", payload: { by: input.by, reason, clock } }));
};

/** Time limits that may have been reached just before the pause: none counts while the worker is paused. */
const OF_TIME: readonly RecordPayloads["worker_limit_reached"]["limit"][] = [
  "timeout",
  "stall",
  "tool",
  "ready",
];

export const isForgiven = (
  child: { readonly pause: PausedTime },
  input: {
    readonly type: string;
    readonly limit?: RecordPayloads["worker_limit_reached"]["limit"];
  },
): boolean =>
  isPaused(child) &&
  (input.type === "stalled" ||
    input.type === "ask" ||
    (input.limit !== undefined && OF_TIME.includes(input.limit)));

/** `holds`: the open holds after the record. `at` is its time in monotonic milliseconds of this boot. */
export const foldPausedTime = (
  time: PausedTime,
  holds: readonly Hold[],
  record: RecordDraft,
  at: number,
): PausedTime => {
  if (record.type === "worker_state_changed" && record.payload.to === "starting") return NEVER_PAUSED;
  const isOn = pausesIn(holds).length > 0;
  if (isOn === time.isOn) return time;
  return { isOn, since_ms: at, before_ms: pausedMs(time, at) };
};

/** The reasons as a sentence for people. */
export const pauseSentence = (causes: readonly PauseCause[]): string =>
  `paused: ${causes.map(({ reason, detail }) => detail || reason).join("; ")}`;

export const PAUSE_RECORDS = ["worker_paused", "worker_unpaused"] as const;
