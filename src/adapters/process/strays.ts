/**
 * Ends helpers of an earlier daemon that died before them. Each carries a variable, by which it and what it
 * started are found. KILL at once: after TERM, one would undo its work while another starts it again.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { RUN_POLL_MS, SWEEP_PASSES_MAX } from "../../base/limits.ts";
import { identityOf, listPids, readStat, signalProcess } from "./identity.ts";
import { eachEnvironment } from "./marker.ts";

/** Resolves when no process carries `variable=value` any more, or after SWEEP_PASSES_MAX passes. */
export const endStrays = async (variable: string, value: string): Promise<void> => {
  const assignment = Buffer.from(`\0${variable}=${value}\0`);
  for (let pass = 0; pass < SWEEP_PASSES_MAX; pass += 1) {
    const found: number[] = [];
    await eachEnvironment(listPids(), (pid, block) => {
      if (typeof block !== "string" && Buffer.concat([NUL, block, NUL]).includes(assignment)) found.push(pid);
    });
    if (found.length === 0) return;
    for (const pid of found) {
      const stat = readStat(pid);
      if (stat !== undefined) signalProcess(identityOf(pid, stat.start_time), "SIGKILL");
    }
    await sleep(RUN_POLL_MS);
  }
};

const NUL = Buffer.from("\0");
