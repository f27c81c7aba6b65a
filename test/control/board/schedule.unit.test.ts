import { expect, it } from "vitest";
import { BOARD_DISPATCHES_PER_PASS_MAX } from "../../../src/base/limits.ts";
import { chosen, nextDueMs, roomFor } from "../../../src/control/board/schedule.ts";
import type { Card } from "../../../src/protocol/board.ts";
import { Subject, timeAt, WAY_TO } from "./support.ts";

const free = (seq: number): Card => ({ ...new Subject().takeAll(...WAY_TO.Todo).card!, seq });
/** Due 5 s after `ms`. */
const waiting = (seq: number, ms: number): Card => {
  const card = new Subject().takeAll(...WAY_TO.RetryQueued).card!;
  return { ...card, seq, retry: { ...card.retry!, clock: timeAt(ms).clock } };
};

it.each([
  [5, 0, 5],
  [5, 3, 2],
  [5, 9, 0],
  [100, 0, BOARD_DISPATCHES_PER_PASS_MAX],
])("%i slots, of which %i are taken, take %i more", (slots, busy, room) => {
  expect(roomFor(slots, busy)).toBe(room);
});

it("takes retries that are due first, the one that waits longest before the others, then free cards in their order", () => {
  const cards = [waiting(1, 4_000), waiting(2, 1_000), waiting(3, 9_000)];
  const taken = chosen(4, cards, [free(4), free(5), free(6)], timeAt(10_000));
  expect(taken.map(({ seq }) => seq)).toEqual([2, 1, 4, 5]);
  expect(nextDueMs(cards, timeAt(10_000))).toBe(0);
  expect(nextDueMs([cards[2]!], timeAt(10_000))).toBe(4_000);
  expect(nextDueMs([], timeAt(0))).toBeUndefined();
});

it("waits no longer than the whole delay after another boot", () => {
  const card = waiting(1, 50_000);
  expect(chosen(1, [card], [], timeAt(1_000, 0, "boot-2"))).toEqual([]);
  expect(chosen(1, [card], [], timeAt(5_000, 0, "boot-2"))).toEqual([card]);
});
