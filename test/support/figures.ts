/** Figures that a test of a promise has measured, for docs/reference/reliability.md; told only where HOLDFAST_FIGURES names a file. */
import { appendFileSync } from "node:fs";

/** The full figures of the promises, where CI runs them scaled down. */
export const full = process.env.HOLDFAST_FULL === "1";

export interface Figure {
  readonly rounds: number;
  readonly failures: number;
  readonly p50_ms?: number;
  readonly p99_ms?: number;
  /** The meaning of a round, and whatever else was measured, in a few words. */
  readonly note: string;
}

export const figure = (promise: `R${number}`, measured: Figure): void => {
  const file = process.env.HOLDFAST_FIGURES;
  if (file !== undefined && file !== "")
    appendFileSync(file, `${JSON.stringify({ promise, full, ...measured })}\n`);
};
