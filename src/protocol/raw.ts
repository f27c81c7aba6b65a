/** The reading of a worker's raw output, a slice at a time: over the socket, or in a program that embeds the runtime. */

export interface RawPlace {
  /** Undefined: the newest one, when it is asked for. */
  readonly incarnation: number | undefined;
  readonly offset: number;
}

export interface RawAnswer {
  /** The incarnation that has written it; 0: none has begun yet. */
  readonly incarnation: number;
  /** The worker's newest one. */
  readonly newest: number;
  readonly base64: string;
  /** The offset at which the next slice begins. */
  readonly next: number;
  /** Nothing more is written by this incarnation. */
  readonly ended: boolean;
  /** Bytes from the offset on that are in the log and no longer kept; the slice is empty then, and `next` is behind them. */
  readonly released?: number;
}

export interface RawStep {
  readonly bytes: Uint8Array;
  readonly released: number;
  /** Undefined: this is the end. */
  readonly next: RawPlace | undefined;
  /** There is nothing yet: ask again in a while. */
  readonly wait: boolean;
}

/** With `follow` it goes on to the end of the worker, through its later incarnations. */
export const rawStep = (answer: RawAnswer, follow: boolean): RawStep => {
  const { incarnation, newest, ended, next: offset, released = 0 } = answer;
  const bytes = Buffer.from(answer.base64, "base64");
  const isEmpty = bytes.length === 0 && released === 0;
  const isOver = isEmpty && (!follow || (ended && incarnation >= newest));
  const here = { incarnation: Math.max(1, incarnation), offset };
  const next = isEmpty && ended ? { incarnation: incarnation + 1, offset: 0 } : here;
  return { bytes, released, next: isOver ? undefined : next, wait: isEmpty && !ended };
};
