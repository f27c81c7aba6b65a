/** A daemon that accepts connections but answers nothing: the cause, as far as it is visible from outside, and the next step. */

import { readRegular } from "../base/files/regular-file.ts";
import { STATUS_ANSWER_MAX_MS } from "../base/limits.ts";
import type { Client } from "../daemon/client.ts";
import { isHolderStopped, readDaemonFile } from "../daemon/daemon-file.ts";
import { daemonLogPath, stalledFilePath } from "../daemon/paths.ts";
import type { Replies } from "../daemon/replies.ts";
import type { StallReport } from "../daemon/watchdog.ts";
import { HoldfastError } from "../protocol/errors.ts";
import type { Outcome } from "../protocol/outcome.ts";

/** `daemon/status`, or DAEMON_UNHEALTHY if no answer comes in time. */
export const statusInTime = async (
  client: Client,
  stateDir: string,
): Promise<Outcome<Replies["daemon/status"]>> => {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(silent(stateDir)), STATUS_ANSWER_MAX_MS);
  });
  return Promise.race([client.ask("daemon/status", {}), silence]).finally(() => clearTimeout(timer));
};

/** The watchdog's report about the daemon that now has the state directory. */
export const stalledNow = (stateDir: string): StallReport | undefined => {
  try {
    const stalled = JSON.parse(readRegular(stalledFilePath(stateDir))?.toString("utf8") ?? "") as StallReport;
    return readDaemonFile(stateDir)?.pid === stalled.pid ? stalled : undefined;
  } catch {
    return undefined;
  }
};

export const sentenceOfStall = ({ pid, what, since }: StallReport): string => {
  const seconds = Math.max(1, Math.round((Date.now() - Date.parse(since)) / 1000));
  return what === "loop"
    ? `The daemon (pid ${pid}) does not answer: its event loop has been blocked for ${seconds} s.`
    : `The supervisor's tick of the daemon (pid ${pid}) has stopped for ${seconds} s: stuck agents are not noticed.`;
};

const silent = (stateDir: string): HoldfastError => {
  const holder = readDaemonFile(stateDir);
  const stalled = stalledNow(stateDir);
  const pid = holder?.pid;
  if (holder !== undefined && isHolderStopped(holder))
    return new HoldfastError("DAEMON_UNHEALTHY", `The daemon (pid ${pid}) does not answer: it is stopped.`, {
      suggestion: `Its agents keep running. Continue it with: kill -CONT ${pid}`,
      details: { pid },
    });
  return new HoldfastError(
    "DAEMON_UNHEALTHY",
    stalled === undefined
      ? `The daemon${pid === undefined ? "" : ` (pid ${pid})`} does not answer within ${STATUS_ANSWER_MAX_MS / 1000} s.`
      : sentenceOfStall(stalled),
    {
      suggestion: `Its agents keep running. ${daemonLogPath(stateDir)} says what it did. If it does not recover: kill -9 ${pid ?? "PID"} && agent daemon start, which takes the agents over.`,
      details: { ...stalled },
    },
  );
};
