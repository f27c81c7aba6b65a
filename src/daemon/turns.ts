/**
 * How much of one turn of the event loop requests may take, all connections together: ten thousand at once are answered in
 * slices, and the supervision's ticks and timers come in between (promise R15). In the order in which they came.
 */
import { REQUESTS_SLICE_MS } from "../protocol/limits.ts";

export interface Turns {
  /** Done after the caller, in this turn where it has time left. */
  add(work: () => void): void;
  /** Nothing more is begun in this turn. */
  isOver(): boolean;
}

export const makeTurns = (nowMs: () => number, nextTurn: (work: () => void) => unknown): Turns => {
  let queue: (() => void)[] = [];
  /** How far the queue has been served. */
  let served = 0;
  let begun: number | undefined;
  let scheduled = false;

  const isOver = (): boolean => {
    if (begun === undefined) {
      begun = nowMs();
      nextTurn(() => {
        begun = undefined;
        serve();
      });
      return false;
    }
    return nowMs() - begun > REQUESTS_SLICE_MS;
  };

  const serve = (): void => {
    scheduled = false;
    while (served < queue.length && !isOver()) {
      // Counted before it begins: one that throws is not done again, and the next turn goes on behind it.
      served += 1;
      queue[served - 1]?.();
    }
    queue = queue.slice(served);
    served = 0;
  };

  return {
    isOver,
    add: (work) => {
      queue.push(work);
      if (scheduled || isOver()) return;
      scheduled = true;
      queueMicrotask(serve);
    },
  };
};
