/** The state of the decoder between two lines: small, immutable, JSON. */
import type { WorkerError } from "../../../protocol/records.ts";

export interface RemoteState {
  readonly turns_started: number;
  readonly turns_ended: number;
  /** The part of the answer that is kept; null before it, and after a failure. */
  readonly text: string | null;
  readonly failed: WorkerError | null;
  /** A line over the limit was skipped, perhaps the end. */
  readonly skipped: boolean;
}

export const initial = (): RemoteState => ({
  turns_started: 0,
  turns_ended: 0,
  text: null,
  failed: null,
  skipped: false,
});
