/**
 * Tests whether a starting daemon has enough space for its first writes. Space is tried and not computed,
 * because quotas and file systems count differently.
 */
import { randomBytes } from "node:crypto";
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { START_ROOM_BYTES } from "../base/limits.ts";
import { HoldfastError } from "../protocol/errors.ts";

const FULL: ReadonlySet<string | undefined> = new Set(["ENOSPC", "EDQUOT"]);

/**
 * Throws DISK_FULL or STORE_FAILED. Its file is removed at once, or by the next daemon if this process is
 * killed (`leftovers.ts`).
 */
export const refuseWithoutRoom = (stateDir: string, bytes = START_ROOM_BYTES): void => {
  const path = join(stateDir, `daemon.room.${process.pid}`);
  try {
    const fd = openSync(path, "wx", 0o600);
    try {
      const block = randomBytes(65_536); // compressible data could take no space
      for (let left = bytes; left > 0; left -= writeSync(fd, block, 0, Math.min(left, block.length)));
    } finally {
      closeSync(fd);
    }
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const left = "The running daemon was not changed.";
    if (FULL.has(code))
      throw new HoldfastError(
        "DISK_FULL",
        `The next daemon could not start: there are no ${bytes} bytes free for ${stateDir}. ${left}`,
        { cause },
      );
    throw new HoldfastError(
      "STORE_FAILED",
      `The next daemon could not start: ${stateDir} cannot be written (${message}). ${left}`,
      { cause, suggestion: "See `agent doctor`." },
    );
  } finally {
    rmSync(path, { force: true });
  }
};
