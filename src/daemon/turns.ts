/**
 * Bounds the time that requests of all connections may take in one turn of the event loop. Ten thousand at
 * once are answered in slices, so that the supervision's ticks and timers run in between (promise R15).
 * Connections take turns, one request each, so that one with hundreds of requests delays another by one
 * request. The requests of one connection keep their order.
 */
import { REQUESTS_SLICE_MS } from "../base/limits.ts";

/** The requests of one connection. */
export interface RequestLane {
  /** Runs `work` after the caller, in this turn of the loop if time is left. */
  add(work: () => void): void;
  /** No more work may begin in this turn. */
  isOver(): boolean;
}

export interface Turns {
  /** One lane for each connection. An empty lane costs nothing. */
  lane(): RequestLane;
}

type Queue = (() => void)[];

export const makeTurns = (nowMs: () => number, nextTurn: (work: () => void) => unknown): Turns => {
  /** Lanes with work, the next one first. */
  let busy: Queue[] = [];
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
    while (busy.length > 0 && !isOver()) {
      // One request of each lane is a round; work that a round adds is for the next round.
      const round = busy;
      busy = [];
      let at = 0;
      try {
        while (at < round.length && !isOver()) serveOne(round[at++]!);
      } finally {
        busy = [...round.slice(at), ...busy];
      }
    }
  };

  /**
   * The lane goes to the end of the queue before its work runs, so that work that throws is not repeated and
   * delays no other lane.
   */
  const serveOne = (queue: Queue): void => {
    const work = queue.shift();
    if (queue.length > 0) busy.push(queue);
    work?.();
  };

  return {
    lane: () => {
      const queue: Queue = [];
      return {
        isOver,
        add: (work) => {
          queue.push(work);
          if (queue.length === 1) busy.push(queue);
          if (scheduled || isOver()) return;
          scheduled = true;
          queueMicrotask(serve);
        },
      };
    },
  };
};
