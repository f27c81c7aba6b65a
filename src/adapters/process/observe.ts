/**
 * Finds a recorded incarnation again after a restart of the daemon: its directory says who it was, the process table
 * whether it lives (architecture §5, Boot). The claim decides between this and a launcher that has not run yet.
 */
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { EXEC_POLL_MS, START_TIMEOUT_MS } from "../../protocol/limits.ts";
import type { ProcessIdentity } from "../../protocol/records.ts";
import type { Observed, RunId } from "../spawner.ts";
import { identityOf, isAlive, NO_PROCESS, type Place } from "./identity.ts";
import { Notices } from "./notices.ts";
import { type Host, ProcessRun } from "./run.ts";
import {
  claim,
  isClaimedByReconcile,
  readExitStatus,
  readIdentity,
  readRunFile,
  runDirectory,
} from "./run-directory.ts";
import { isEofAsked, stdinBytes } from "./stdin.ts";

/** Without a readable run.json (power loss) the boot is not known: its pids are nobody's here. */
const UNKNOWN_PLACE: Place = { boot_id: "", pid_ns: "" };

export const observe = async (host: Host, id: RunId): Promise<Observed> => {
  const dir = runDirectory(host.runsDir, id);
  if (!existsSync(dir) || claim(dir) || isClaimedByReconcile(dir)) return { kind: "never_started" };
  const file = readRunFile(dir);
  const place: Place = file ?? UNKNOWN_PLACE;
  const { launcher, agent } = await processesOf(dir, place);
  const lives = isAlive(launcher) || isAlive(agent);
  // After the look at the processes: an exit written since then is seen.
  const hasExit = readExitStatus(dir) !== undefined;
  const stdin = file?.stdin ?? "empty";
  // A run of an older version has not noted it: all that is there counts as there from the start.
  const stdin_start = file?.stdin_bytes ?? stdinBytes(dir);
  const run = new ProcessRun(host, {
    ...id,
    dir,
    agent,
    launcher,
    stdin,
    stdin_start,
    notices: new Notices(dir, host.watchFiles),
    cgroup: file?.cgroup,
    isMonitor: file?.is_monitor,
    litter: file?.litter,
  });
  if (hasExit) return { kind: "finished", exit: await run.exited, run };
  if (!lives) return { kind: "lost", run };
  if (stdin === "open" && isEofAsked(dir)) void run.closeStdin().catch(() => undefined);
  return { kind: "running", run };
};

const nobody = (place: Place): ProcessIdentity => identityOf(NO_PROCESS, "", place);

/** A launcher that has just claimed its run tells both pids within milliseconds; a dead one never will. */
const processesOf = async (
  dir: string,
  place: Place,
): Promise<{ launcher: ProcessIdentity; agent: ProcessIdentity }> => {
  const deadline = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    const launcher = readIdentity(dir, "claimed", place) ?? nobody(place);
    const agent = readIdentity(dir, "pid", place) ?? nobody(place);
    if (agent.pid !== NO_PROCESS || !isAlive(launcher) || performance.now() > deadline)
      return { launcher, agent };
    await sleep(EXEC_POLL_MS);
  }
};
