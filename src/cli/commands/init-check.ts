/**
 * In a container without an init, the orphans of agents become children of PID 1, which never reaps them, so they stay in
 * the process table. That also holds if the daemon itself is PID 1: Node reaps only processes that it has spawned.
 */
import { readdirSync, readFileSync } from "node:fs";
import type { Check } from "../reports.ts";

/** This many ended children of PID 1 at once are no coincidence: an init reaps them within milliseconds. */
const ZOMBIES_MANY = 20;
const FIX = "Start the container with an init: docker run --init, or tini as its entrypoint.";

/** `daemonPid`: undefined if none runs. `zombies`: ended children of PID 1. Returns undefined if there is no problem. */
export const initCheck = (daemonPid: number | undefined, zombies: number): Check | undefined => {
  const name = "init";
  if (daemonPid === 1)
    return {
      name,
      result: "warn",
      finding: "the daemon is PID 1, and nothing reaps the orphans of its agents",
      fix: FIX,
    };
  if (zombies < ZOMBIES_MANY) return undefined;
  return { name, result: "warn", finding: `PID 1 does not reap: it has ${zombies} ended children`, fix: FIX };
};

/** By proc_pid_stat(5); 0 without /proc. */
export const zombiesOfInit = (proc = "/proc"): number => {
  try {
    return readdirSync(proc).filter((name) => /^\d+$/.test(name) && isZombieOfInit(`${proc}/${name}/stat`))
      .length;
  } catch {
    return 0;
  }
};

const isZombieOfInit = (path: string): boolean => {
  try {
    return /^\d+ \(.*\) Z 1 /s.test(readFileSync(path, "latin1"));
  } catch {
    return false;
  }
};
