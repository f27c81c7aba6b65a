/**
 * A run that stands still: STOP by pid to the agent, the other members of its group and all that descends from it. Never to
 * the launcher, which has an exit to write, nor to the pump of an open stdin, which ends with it (architecture §5, Bounds).
 */
import { setTimeout as sleep } from "node:timers/promises";
import { crashPoint } from "../../base/crash-point.ts";
import { PAUSE_PASSES_MAX } from "../../base/limits.ts";
import type { ProcessIdentity } from "../../protocol/records.ts";
import { identityOf, signalProcess } from "./identity.ts";
import type { Kinship } from "./process-table.ts";
import { membersOf, type StopTargets } from "./stop.ts";

/**
 * Parents first, so that none sees its child stop; again for what was forked meanwhile, until all stand still. Returns who
 * does.
 */
export const stopMembers = async (
  run: StopTargets,
  pump: ProcessIdentity | undefined,
  look: () => Promise<Kinship>,
): Promise<readonly number[]> => {
  const told = new Set<number>();
  // At once, and before anybody has looked who else there is, which takes long on a busy machine: it is what spends.
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
    // The busier the machine, the longer until who was signalled has come to it.
    if (!isQuiet && pass < PAUSE_PASSES_MAX) await sleep(pass);
    else return [...members.keys()].filter((pid) => told.has(pid));
  }
};

/**
 * The state of one that was told to stop and cannot yet. After a vfork it waits for its child's exec, before which that was stopped:
 * the child goes on up to there, and is stopped in the next pass. A process that waits for a disk stops when that has answered.
 */
const wakeBorn = ({ children }: Kinship, parent: number): boolean => {
  const stopped = (children.get(parent) ?? []).filter(({ state }) => state === "T");
  for (const { pid, start_time } of stopped) signalProcess(identityOf(pid, start_time), "SIGCONT");
  return stopped.length > 0;
};

/** Children first. Returns who was told. */
export const continueMembers = (run: StopTargets, kinship: Kinship): readonly number[] =>
  [...membersOf(run, kinship)]
    .reverse()
    .flatMap(([pid, start_time]) => (signalProcess(identityOf(pid, start_time), "SIGCONT") ? [pid] : []));
