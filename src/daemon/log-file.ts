/**
 * Keeps `daemon.log` in order for a daemon that runs for months. The file is the daemon's stderr. Above its
 * bound it is moved aside once, as at a start; if it was deleted or moved, it is made again. Node cannot
 * redirect a descriptor, so lines then go to another descriptor, which the watchdog uses too.
 */
import { closeSync, constants, copyFileSync, fstatSync, ftruncateSync, rmSync } from "node:fs";
import { Effect } from "effect";
import { APPEND, clearName, openRegular, statRegular } from "../base/files/regular-file.ts";
import { DAEMON_LOG_MAX_BYTES } from "../base/limits.ts";
import type { KeptFile } from "./keeping.ts";
import { descriptorOf, type LogOutput } from "./log-output.ts";
import { daemonLogPath } from "./paths.ts";

/**
 * Keeps the file in place and within its bound. A daemon in the foreground writes elsewhere, so nothing is
 * done.
 */
export const keptLog = (
  stateDir: string,
  { place }: LogOutput,
  maxBytes = DAEMON_LOG_MAX_BYTES,
): readonly KeptFile[] => {
  const path = daemonLogPath(stateDir);
  const stderr = descriptorOf(place);
  const isThere = (): boolean => statRegular(path)?.ino === fstatSync(descriptorOf(place)).ino;
  const isOurs = isThere();

  /**
   * Closes a descriptor that was opened here. stderr stays open, because its number would be reused for the
   * next file.
   */
  const openAgain = (): void => {
    const old = descriptorOf(place);
    clearName(path);
    Atomics.store(place, 0, openRegular(path, APPEND, 0o600));
    // No process can find the deleted file any more, but it takes space as long as the daemon lives.
    if (fstatSync(old).nlink === 0) ftruncateSync(old, 0);
    if (old !== stderr) closeSync(old);
  };

  const there: KeptFile = {
    what: "daemon.log",
    keep: Effect.sync(() => {
      if (!isOurs || isThere()) return false;
      openAgain();
      return true;
    }),
  };
  const small: KeptFile = {
    what: "daemon.log",
    words: { wrong: "is over its bound and cannot be put aside", right: "is within its bound again" },
    keep: Effect.sync(() => {
      if (!isOurs || !isThere() || fstatSync(descriptorOf(place)).size <= maxBytes) return false;
      rmSync(`${path}.1`, { force: true });
      copyFileSync(path, `${path}.1`, constants.COPYFILE_EXCL);
      // The file is open for appending, so the next line goes to its start.
      ftruncateSync(descriptorOf(place), 0);
      return false;
    }),
  };
  return [there, small];
};
