/** Which cards a pass of the scheduler dispatches: retries that are due first, then free cards, as far as there are slots. Pure. */
import { BOARD_DISPATCHES_PER_PASS_MAX } from "../../base/limits.ts";
import type { Card } from "../../protocol/board.ts";
import type { TimeOfDay } from "../lease.ts";
import { dueOf } from "./decide.ts";

/** Cards that one pass may dispatch. `busy`: cards that run or are being dispatched. */
export const roomFor = (slots: number, busy: number): number =>
  Math.max(0, Math.min(slots - busy, BOARD_DISPATCHES_PER_PASS_MAX));

/** `waiting`: cards in RetryQueued. `free`: eligible cards in Todo, in their order. */
export const chosen = (
  room: number,
  waiting: readonly Card[],
  free: readonly Card[],
  now: TimeOfDay,
): readonly Card[] => {
  const due = waiting
    .filter((card) => dueOf(card, now) <= now.mono_ms)
    .sort((a, b) => dueOf(a, now) - dueOf(b, now) || a.seq - b.seq);
  return [...due, ...free].slice(0, room);
};

/** Milliseconds until the first of them is due; undefined where none waits. */
export const nextDueMs = (waiting: readonly Card[], now: TimeOfDay): number | undefined => {
  const dues = waiting.map((card) => dueOf(card, now) - now.mono_ms);
  return dues.length === 0 ? undefined : Math.max(0, Math.min(...dues));
};
