/**
 * How much of one turn of the event loop requests may take, all connections together: ten thousand at once are answered in
 * slices, and the supervision's ticks and timers come in between (promise R15). Connections take turns, a request each, so that
 * one with hundreds of requests delays another by one of them; the requests of one connection are done in their order.
 */
import { REQUESTS_SLICE_MS } from "../base/limits.ts";

/** The requests of one connection. */
export interface RequestLane {
  /** Done after the caller, in this turn where it has time left. */
  add(work: () => void): void;
  /** Nothing more is begun in this turn. */
  isOver(): boolean;
}

export interface Turns {
  /** One for each connection. A lane with nothing to do costs nothing. */
  lane(): RequestLane;
}

type Queue = (() => void)[];

export const makeTurns = (nowMs: () => number, nextTurn: (work: () => void) => unknown): Turns => {
  /** Lanes that have something to do, the next one first. */
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
      // One request of each lane is a round; what a round adds comes in the next one.
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

  /** The lane goes to the end of the line before its work is done: work that throws is not done again, and holds up nobody. */
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
