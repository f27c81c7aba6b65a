/** Work that one process of a state directory does at a time: the holder of its turn is a file, whose time bounds it. */
import { WEBLISK_TURN_LOOK_MS, WEBLISK_TURN_MAX_MS } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { ServerFiles } from "../server/files.ts";

export interface TurnGround {
  readonly files: ServerFiles;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly pause: (ms: number) => Promise<unknown>;
}

const TRIES_MAX = Math.ceil((2 * WEBLISK_TURN_MAX_MS) / WEBLISK_TURN_LOOK_MS);

/** A turn that its process did not end, because it was killed, is over after WEBLISK_TURN_MAX_MS. Fails with UNAVAILABLE. */
export const inTurnOf = async <T>(
  { files, now, pause }: TurnGround,
  name: string,
  work: () => Promise<T>,
): Promise<T> => {
  for (let tries = 0; !files.mark("turns", name, now()); tries += 1) {
    if (tries >= TRIES_MAX)
      throw new HoldfastError(
        "UNAVAILABLE",
        "Other processes of this state directory register all the time.",
      );
    files.removeOlder("turns", now() - WEBLISK_TURN_MAX_MS);
    await pause(WEBLISK_TURN_LOOK_MS);
  }
  try {
    return await work();
  } finally {
    files.remove("turns", name);
  }
};
