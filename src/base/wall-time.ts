/** A time as a wall shows it; of the day where it has no date, of the machine where it has no zone (IANA). */
export type WallTime = {
  readonly year?: number;
  readonly month?: number;
  readonly day?: number;
  readonly hour: number;
  readonly minute: number;
  readonly zone?: string;
};
