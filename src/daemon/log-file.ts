/**
 * `daemon.log` of a daemon that runs for months. It is what the daemon was started with as stderr: over its bound it is put aside
 * once, as at a start; where somebody has deleted or moved it, it is made again. Node cannot give a descriptor another file, so
 * the lines go to another descriptor then, which the watchdog finds too.
 */
import { closeSync, constants, copyFileSync, fstatSync, ftruncateSync, rmSync } from "node:fs";
import { Effect } from "effect";
import { APPEND, clearName, openRegular, statRegular } from "../base/files/regular-file.ts";
import { DAEMON_LOG_MAX_BYTES } from "../base/limits.ts";
import type { KeptFile } from "./keeping.ts";
import { descriptorOf, type LogOutput } from "./log-output.ts";
import { daemonLogPath } from "./paths.ts";

/** That it is there, and that it is small. In the foreground the daemon writes to another file, or none, and nothing is done. */
export const keptLog = (
  stateDir: string,
  { place }: LogOutput,
  maxBytes = DAEMON_LOG_MAX_BYTES,
): readonly KeptFile[] => {
  const path = daemonLogPath(stateDir);
  const stderr = descriptorOf(place);
  const isThere = (): boolean => statRegular(path)?.ino === fstatSync(descriptorOf(place)).ino;
  const isOurs = isThere();

  /** A descriptor that was opened here is closed; stderr stays open, or its number would be the next file's. */
  const openAgain = (): void => {
    const old = descriptorOf(place);
    clearName(path);
    Atomics.store(place, 0, openRegular(path, APPEND, 0o600));
    // Nobody can read it any more, and it takes its space as long as the daemon lives.
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
      // It was opened for appending: what is written next stands at its start.
      ftruncateSync(descriptorOf(place), 0);
      return false;
    }),
  };
  return [there, small];
};
