/** `daemon.log` of a daemon that runs for months: over its bound it is put aside once, as at a start. */
import { copyFileSync, fstatSync, ftruncateSync, statSync } from "node:fs";
import { Effect } from "effect";
import { DAEMON_LOG_MAX_BYTES } from "../protocol/limits.ts";
import type { Kept } from "./keeping.ts";
import { daemonLogPath } from "./paths.ts";

/** `fd` is what the daemon writes to. In the foreground that is another file, or none, and nothing is done. */
export const boundedLog = (stateDir: string, fd: number, maxBytes = DAEMON_LOG_MAX_BYTES): Kept => ({
  what: "daemon.log",
  keep: Effect.sync(() => {
    const path = daemonLogPath(stateDir);
    const { size, ino } = fstatSync(fd);
    if (size <= maxBytes || statSync(path, { throwIfNoEntry: false })?.ino !== ino) return false;
    copyFileSync(path, `${path}.1`);
    // It was opened for appending: what is written next stands at its start.
    ftruncateSync(fd, 0);
    return false;
  }),
});
