/**
 * Decides how much of a run's output can be released from the disk as it is read: whole steps that are in the log for good,
 * one release at a time.
 */
import type { SpoolName } from "../../adapters/adapter.ts";
import type { Run } from "../../adapters/spawner.ts";
import { RELEASE_BLOCK_BYTES, RELEASE_STEP_BYTES, SPOOL_KEPT_BYTES } from "../../base/limits.ts";

/**
 * The offset up to which a spool ingested to `offset` can be released; undefined while that is less than a step beyond
 * `asked`.
 */
export const releasable = (offset: number, asked: number): number | undefined => {
  const below = Math.floor((offset - SPOOL_KEPT_BYTES) / RELEASE_BLOCK_BYTES) * RELEASE_BLOCK_BYTES;
  return below - asked >= RELEASE_STEP_BYTES ? below : undefined;
};

interface ReleaseProgress {
  /** The offset up to which a release was asked for, successful or not, and the one up to which it is done. */
  readonly asked: number;
  readonly done: number;
}

const NONE: ReleaseProgress = { asked: 0, done: 0 };

/** Starts at 0 again after a take-over: releasing the same part twice costs nothing. */
export class Releasing {
  private readonly run: Pick<Run, "source">;
  private readonly places: Partial<Record<SpoolName, ReleaseProgress>> = {};
  private isBusy = false;

  constructor(run: Pick<Run, "source">) {
    this.run = run;
  }

  /** The offset up to which to release now; undefined for nothing to do. */
  due(stream: SpoolName, offset: number): number | undefined {
    return this.isBusy ? undefined : releasable(offset, (this.places[stream] ?? NONE).asked);
  }

  /** Releases the output before `below`, which is in the log for good. Nobody waits for this. */
  release(stream: SpoolName, below: number): void {
    const { done } = this.places[stream] ?? NONE;
    this.isBusy = true;
    this.run
      .source(stream)
      .release(done, below)
      .catch(() => false)
      .then((released) => {
        this.places[stream] = { asked: below, done: released ? below : done };
        this.isBusy = false;
      });
  }
}
