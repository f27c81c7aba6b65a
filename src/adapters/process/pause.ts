/**
 * Pauses a run: STOP by pid to the agent, the other members of its group and all its descendants. The
 * launcher is never stopped, because it must write an exit, nor is the pump of an open stdin
 * (docs/explanation/processes.md, Pause).
 */
import { setTimeout as sleep } from "node:timers/promises";
import { crashPoint } from "../../base/crash-point.ts";
import { PAUSE_PASSES_MAX } from "../../base/limits.ts";
import type { ProcessIdentity } from "../../protocol/records.ts";
import { identityOf, signalProcess } from "./identity.ts";
import type { Kinship } from "./process-table.ts";
import { membersOf, type StopTargets } from "./stop.ts";

/**
 * Stops parents first, so that none sees its child stop, and repeats for processes that were forked
 * meanwhile. Returns the pids that are stopped.
 */
export const stopMembers = async (
  run: StopTargets,
  pump: ProcessIdentity | undefined,
  look: () => Promise<Kinship>,
): Promise<readonly number[]> => {
  const told = new Set<number>();
  // The agent stops before the process table is read, because that takes long on a busy machine.
  if (signalProcess(run.agent, "SIGSTOP")) told.add(run.agent.pid);
  for (let pass = 1; ; pass += 1) {
    const kinship = await look();
    const members = membersOf(run, kinship);
    if (pump !== undefined) members.delete(pump.pid);
    let isQuiet = true;
    for (const [pid, start_time] of members) {
      const state = kinship.table.get(pid)?.state;
      if (state === "T" || state === "t") told.add(pid);
      else if (state === "D" && told.has(pid)) {
        if (pass < PAUSE_PASSES_MAX && wakeBorn(kinship, pid)) isQuiet = false;
      } else if (signalProcess(identityOf(pid, start_time), "SIGSTOP")) {
        told.add(pid);
        isQuiet = false;
        crashPoint("pause-mid-signal");
      }
    }
    // On a busy machine a signalled process takes longer to stop.
    if (!isQuiet && pass < PAUSE_PASSES_MAX) await sleep(pass);
    else return [...members.keys()].filter((pid) => told.has(pid));
  }
};

/**
 * Continues the stopped children of a process that was told to stop but cannot. After a vfork it waits for
 * its child's exec, and the child was stopped before that: the child runs up to its exec and is stopped in
 * the next pass. A process that waits for a disk stops when the disk answers.
 */
const wakeBorn = ({ children }: Kinship, parent: number): boolean => {
  const stopped = (children.get(parent) ?? []).filter(({ state }) => state === "T");
  for (const { pid, start_time } of stopped) signalProcess(identityOf(pid, start_time), "SIGCONT");
  return stopped.length > 0;
};

/** Continues children first. Returns the pids signalled. */
export const continueMembers = (run: StopTargets, kinship: Kinship): readonly number[] =>
  [...membersOf(run, kinship)]
    .reverse()
    .flatMap(([pid, start_time]) => (signalProcess(identityOf(pid, start_time), "SIGCONT") ? [pid] : []));
