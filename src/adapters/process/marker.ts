/**
 * The marker in the environment of each process of a run, and how to read the environments of other
 * processes.
 */
import { readlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { ENVIRONMENT_READ_MAX_BYTES, EXEC_LOOKS_MAX, EXEC_WAIT_MS } from "../../base/limits.ts";
import { otherThread, readProc } from "./identity.ts";
import { inSlices } from "./process-table.ts";

export const MARKER = "HOLDFAST_RUN";
export const markerOf = (storeId: string, workerId: string, incarnation: number): string =>
  `${storeId}/${workerId}/${incarnation}`;

/** The value of a variable in an environment block as /proc/PID/environ shows it: NAME=value, each ended by NUL. */
export const variableIn = (block: Buffer, name: string): string | undefined => {
  const assignment = `${name}=`;
  let at = block.indexOf(assignment);
  while (at > 0 && block[at - 1] !== 0) at = block.indexOf(assignment, at + 1);
  if (at === -1) return undefined;
  const end = block.indexOf(0, at);
  return block.toString("latin1", at + assignment.length, end === -1 ? block.length : end);
};

export const markerIn = (block: Buffer): string | undefined => variableIn(block, MARKER);

const shared = Buffer.allocUnsafeSlow(ENVIRONMENT_READ_MAX_BYTES);

/** The process is executing a program, and its marker will appear in a moment. */
export const IN_EXEC = "in exec";

/**
 * The environment block of a process, valid until the next call; an errno if there is nothing that we may
 * read; or IN_EXEC. During an exec the kernel shows a process without arguments and variables, from the
 * release of its old memory until the new program is laid out.
 */
export const readEnvironment = (pid: number): Buffer | string => {
  const path = `/proc/${pid}/environ`;
  const block = readProc(path, shared);
  if (block.length > 0 && block !== "ESRCH") return block;
  // Nothing is shown of a dead process, of a kernel thread, and of a process whose first thread has ended.
  if (!hasProgram(pid)) {
    const other = otherThread(pid);
    return other === undefined ? block : readProc(`${other.path}/environ`, shared);
  }
  if (typeof block === "string") return block;
  const argv = readProc(`/proc/${pid}/cmdline`);
  return argv.length === 0 ? IN_EXEC : readProc(path, shared);
};

/** False for dead processes and kernel threads. */
const hasProgram = (pid: number): boolean => {
  try {
    return readlinkSync(`/proc/${pid}/exe`) !== "";
  } catch {
    return false;
  }
};

/**
 * Visits each process with its environment block. Processes in an exec are visited after it, or after
 * EXEC_LOOKS_MAX tries.
 */
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
