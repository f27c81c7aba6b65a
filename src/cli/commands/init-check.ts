/**
 * In a container without an init nobody reaps what agents orphan: their ended processes become children of PID 1 and stay in
 * the process table for good. A daemon that is PID 1 itself is that nobody: Node reaps only what it has spawned.
 */
import { readdirSync, readFileSync } from "node:fs";
import type { Check } from "../reports.ts";

/** So many ended processes of PID 1 at once are no coincidence: an init reaps them within milliseconds. */
const ZOMBIES_MANY = 20;
const FIX = "Start the container with an init: docker run --init, or tini as its entrypoint.";

/** `daemonPid`: undefined where none runs. `zombies`: ended children of PID 1. Nothing to say is undefined. */
export const initCheck = (daemonPid: number | undefined, zombies: number): Check | undefined => {
  const name = "init";
  if (daemonPid === 1)
    return {
      name,
      result: "warn",
      finding: "the daemon is PID 1, and nobody reaps what its agents orphan",
      fix: FIX,
    };
  if (zombies < ZOMBIES_MANY) return undefined;
  return { name, result: "warn", finding: `PID 1 does not reap: it has ${zombies} ended children`, fix: FIX };
};

/** By proc_pid_stat(5); 0 where there is no /proc. */
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
