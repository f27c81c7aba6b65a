/**
 * Whether other agents have output while one floods. Alone, a flood is read in large batches, which cost the least; beside others
 * in small ones with a rest after each, because what they write waits for the batch that is just being read and written.
 */
import { Semaphore } from "effect";
import {
  BATCH_BESIDE_OTHERS_MAX_BYTES,
  BATCH_BESIDE_OTHERS_MAX_LINES,
  BATCH_MAX_LINES,
  FLOOD_REST_MAX_MS,
  FLOOD_REST_TIMES,
  OTHERS_WRITE_MS,
  SPOOL_READ_BYTES,
} from "../base/limits.ts";

/** How much is read at once. */
export interface Portion {
  readonly lines: number;
  readonly bytes: number;
}

const LARGE: Portion = { lines: BATCH_MAX_LINES, bytes: SPOOL_READ_BYTES };
const SMALL: Portion = { lines: BATCH_BESIDE_OTHERS_MAX_LINES, bytes: BATCH_BESIDE_OTHERS_MAX_BYTES };

interface LastOutput {
  readonly worker_id: string;
  readonly at_ms: number;
}

/** Two are enough to know of each whether there is another. */
export class OutputActivity {
  /** Whose turn it is to read a long line. */
  readonly longLines = Semaphore.makeUnsafe(1);
  private newest: LastOutput | undefined;
  /** Output of another worker than the newest. */
  private other: LastOutput | undefined;

  /** A worker wrote something that is no flood. Milliseconds are monotonic. */
  heard(worker_id: string, at_ms: number): void {
    if (this.newest?.worker_id !== worker_id) this.other = this.newest;
    this.newest = { worker_id, at_ms };
  }

  portion(worker_id: string, now_ms: number): Portion {
    return this.isBesideOthers(worker_id, now_ms) ? SMALL : LARGE;
  }

  /** Milliseconds until a flood's next batch is read; 0 alone. Not only the batch keeps others waiting, but what many of them bring: checkpoints, garbage. */
  rest(worker_id: string, took_ms: number, now_ms: number): number {
    return this.isBesideOthers(worker_id, now_ms)
      ? Math.min(took_ms * FLOOD_REST_TIMES, FLOOD_REST_MAX_MS)
      : 0;
  }

  private isBesideOthers(worker_id: string, now_ms: number): boolean {
    const beside = this.newest?.worker_id === worker_id ? this.other : this.newest;
    return beside !== undefined && now_ms - beside.at_ms < OTHERS_WRITE_MS;
  }
}
