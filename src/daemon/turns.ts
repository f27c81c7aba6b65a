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
  const queue: (() => void)[] = [];
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
    let at = 0;
    while (at < queue.length && !isOver()) queue[at++]?.();
    queue.splice(0, at);
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
