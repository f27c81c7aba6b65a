/**
 * Knows whether other agents write output while one floods. Alone, a flood is read in large batches, which cost the least.
 * Beside others it is read in small ones with a rest after each, because the others' output waits for the current batch.
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

/** The bounds of one read. */
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

/** Remembers the two newest writers: enough to tell for each worker whether another one writes. */
export class OutputActivity {
  /** Lets one worker at a time read a long line. */
  readonly longLines = Semaphore.makeUnsafe(1);
  private newest: LastOutput | undefined;
  /** The newest output of a worker other than `newest`. */
  private other: LastOutput | undefined;

  /** Called when a worker wrote something that is no flood. `at_ms` is monotonic. */
  heard(worker_id: string, at_ms: number): void {
    if (this.newest?.worker_id !== worker_id) this.other = this.newest;
    this.newest = { worker_id, at_ms };
  }

  portion(worker_id: string, now_ms: number): Portion {
    return this.isBesideOthers(worker_id, now_ms) ? SMALL : LARGE;
  }

  /**
   * Milliseconds to wait before a flood's next batch; 0 if it is alone. Other workers wait not only for a batch, but also
   * for its consequences: checkpoints and garbage collection.
   */
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
