/** How much of a run's output can be let go of as it is read: whole steps of what is in the log for good, never two at a time. */
import type { SpoolName } from "../../adapters/adapter.ts";
import type { Run } from "../../adapters/spawner.ts";
import { RELEASE_BLOCK_BYTES, RELEASE_STEP_BYTES, SPOOL_KEPT_BYTES } from "../../base/limits.ts";

/** Up to where a spool that is ingested to `offset` can go; undefined while that is less than a step beyond `asked`. */
export const releasable = (offset: number, asked: number): number | undefined => {
  const below = Math.floor((offset - SPOOL_KEPT_BYTES) / RELEASE_BLOCK_BYTES) * RELEASE_BLOCK_BYTES;
  return below - asked >= RELEASE_STEP_BYTES ? below : undefined;
};

interface ReleaseProgress {
  /** Up to where it was asked for, whatever came of it; and up to where it is done. */
  readonly asked: number;
  readonly done: number;
}

const NONE: ReleaseProgress = { asked: 0, done: 0 };

/** A daemon that takes a run over begins at 0 again: a hole in a hole costs nothing. */
export class Releasing {
  private readonly run: Run;
  private readonly places: Partial<Record<SpoolName, ReleaseProgress>> = {};
  private isBusy = false;

  constructor(run: Run) {
    this.run = run;
  }

  /** Undefined where there is nothing to do yet. */
  due(stream: SpoolName, offset: number): number | undefined {
    return this.isBusy ? undefined : releasable(offset, (this.places[stream] ?? NONE).asked);
  }

  /** Output `below` it is in the log for good. Nobody waits for this. */
  release(stream: SpoolName, below: number): void {
    const { done } = this.places[stream] ?? NONE;
    this.isBusy = true;
    this.run
      .release(stream, done, below)
      .catch(() => false)
      .then((released) => {
        this.places[stream] = { asked: below, done: released ? below : done };
        this.isBusy = false;
      });
  }
}
