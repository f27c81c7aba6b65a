/** Reads a worker's raw output slice by slice, over the socket or in a program that embeds the runtime. */

export interface RawPlace {
  /** Undefined: the newest incarnation at the time of the request. */
  readonly incarnation: number | undefined;
  readonly offset: number;
}

export interface RawAnswer {
  /** The incarnation that wrote the slice; 0 if none has begun. */
  readonly incarnation: number;
  /** The worker's newest incarnation. */
  readonly newest: number;
  readonly base64: string;
  /** The offset at which the next slice begins. */
  readonly next: number;
  /** This incarnation writes no more. */
  readonly ended: boolean;
  /** Bytes at this offset that are in the log but no longer on disk. The slice is then empty, and `next` is behind them. */
  readonly released?: number;
}

export interface RawStep {
  readonly bytes: Uint8Array;
  readonly released: number;
  /** Undefined at the end. */
  readonly next: RawPlace | undefined;
  /** The next slice is not there yet: ask again later. */
  readonly wait: boolean;
}

/** With `follow`, reading continues through later incarnations until the worker ends. */
export const rawStep = (answer: RawAnswer, follow: boolean): RawStep => {
  const { incarnation, newest, ended, next: offset, released = 0 } = answer;
  const bytes = Buffer.from(answer.base64, "base64");
  const isEmpty = bytes.length === 0 && released === 0;
  const isOver = isEmpty && (!follow || (ended && incarnation >= newest));
  const here = { incarnation: Math.max(1, incarnation), offset };
  const next = isEmpty && ended ? { incarnation: incarnation + 1, offset: 0 } : here;
  return { bytes, released, next: isOver ? undefined : next, wait: isEmpty && !ended };
};
