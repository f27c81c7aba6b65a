/** A time as a clock on a wall shows it. Without a date it is a time of any day; without a zone (IANA) it is the machine's time. */
export type WallTime = {
  readonly year?: number;
  readonly month?: number;
  readonly day?: number;
  readonly hour: number;
  readonly minute: number;
  readonly zone?: string;
};
