/** The marker that each process of a run carries in its environment, and how the environments of other processes are read. */
import { readlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { EXEC_LOOKS_MAX, EXEC_WAIT_MS } from "../../base/limits.ts";
import { readProc } from "./identity.ts";
import { inSlices } from "./process-table.ts";

export const MARKER = "HOLDFAST_RUN";
export const markerOf = (storeId: string, workerId: string, incarnation: number): string =>
  `${storeId}/${workerId}/${incarnation}`;

const assignment = Buffer.from(`${MARKER}=`);

/** The marker in an environment block as /proc/PID/environ shows it: NAME=value, each ended by NUL. */
export const markerIn = (block: Buffer): string | undefined => {
  let at = block.indexOf(assignment);
  while (at > 0 && block[at - 1] !== 0) at = block.indexOf(assignment, at + 1);
  if (at === -1) return undefined;
  const end = block.indexOf(0, at);
  return block.toString("latin1", at + assignment.length, end === -1 ? block.length : end);
};

/** As large as an environment that we make may be; a larger one is read as far as this. */
const shared = Buffer.allocUnsafeSlow(1024 * 1024);

/** In the middle of an exec the marker of a process shows in a moment. */
export const IN_EXEC = "in exec";

/**
 * The environment block of a process, valid until the next call; an errno where there is nothing for us to read, and IN_EXEC.
 * The kernel shows a process without arguments and variables from the moment its old memory is gone until its new program is laid out.
 */
export const readEnvironment = (pid: number): Buffer | string => {
  const path = `/proc/${pid}/environ`;
  const block = readProc(path, shared);
  if (typeof block === "string" || block.length > 0 || !hasProgram(pid)) return block;
  const argv = readProc(`/proc/${pid}/cmdline`);
  return argv.length === 0 ? IN_EXEC : readProc(path, shared);
};

/** The dead and the kernel's own have none. */
const hasProgram = (pid: number): boolean => {
  try {
    return readlinkSync(`/proc/${pid}/exe`) !== "";
  } catch {
    return false;
  }
};

/** Visits each process with its environment block: those in the middle of an exec when that is over, or after EXEC_LOOKS_MAX looks. */
export const eachEnvironment = async (
  pids: readonly number[],
  visit: (pid: number, block: Buffer | string) => void,
): Promise<void> => {
  let left = pids;
  for (let look = 1; left.length > 0; look += 1) {
    const again: number[] = [];
    await inSlices(left, (pid) => {
      const block = readEnvironment(pid);
      if (block === IN_EXEC && look < EXEC_LOOKS_MAX) again.push(pid);
      else visit(pid, block);
    });
    left = again;
    if (left.length > 0) await sleep(EXEC_WAIT_MS);
  }
};
