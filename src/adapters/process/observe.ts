/**
 * Finds a recorded incarnation again after a restart of the daemon: the log says who it was, the process table whether it
 * lives (architecture §5, Boot). If the last daemon died before it recorded the processes, the run directory names them,
 * and the process table must agree. The claim decides between this and a launcher that has not run yet.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { EXEC_POLL_MS, START_TIMEOUT_MS } from "../../base/limits.ts";
import type { RecordedProcesses } from "../../protocol/incarnation.ts";
import type { ProcessIdentity } from "../../protocol/records.ts";
import type { ObservedRun, ObserveRequest, RunFinding } from "../spawner.ts";
import { ChangeWatch } from "./change-watch.ts";
import { type BootNamespace, identityOf, isAlive, NO_PROCESS } from "./identity.ts";
import { isSubReaper } from "./launcher.ts";
import { markerOf } from "./marker.ts";
import { ProcessRun, type RunParts } from "./run.ts";
import {
  claim,
  hasRunDirectory,
  isClaimedByReconcile,
  noteTakeOver,
  readExitStatus,
  readIdentity,
  readRunFile,
  runDirectory,
} from "./run-directory.ts";
import { isEofAsked, stdinBytes } from "./stdin.ts";
import { agentBelow, isOfRun } from "./vouching.ts";

/** Without a readable run.json (power loss) the boot is not known: its pids are nobody's here. */
const UNKNOWN_PLACE: BootNamespace = { boot_id: "", pid_ns: "" };

export const observe = async (
  host: RunParts,
  { processes: recorded, ...asked }: ObserveRequest,
): Promise<ObservedRun> => {
  const id = { worker_id: asked.worker_id, incarnation: asked.incarnation };
  const dir = runDirectory(host.runsDir, id);
  if (!wasStarted(dir, recorded)) return { kind: "never_started" };
  const file = readRunFile(dir);
  const tell = (finding: RunFinding): void => host.onFinding(id, finding);
  const marker = markerOf(host.storeId, id.worker_id, id.incarnation);
  const { launcher, agent } =
    recorded === undefined
      ? await vouched(await namedIn(dir, file ?? UNKNOWN_PLACE), marker, tell)
      : recorded;
  const lives = isAlive(launcher) || isAlive(agent);
  // After the look at the processes: an exit written since then is seen.
  const hasExit = readExitStatus(dir) !== undefined;
  const cgroup = file?.cgroup !== undefined && host.cgroups.isOf(id, file.cgroup) ? file.cgroup : undefined;
  const keeps_orphans = isSubReaper(launcher);
  // A cgroup tells of everybody without its launcher.
  if (keeps_orphans && cgroup === undefined) noteTakeOver(dir);
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
    changes: new ChangeWatch(dir, host.watchFiles),
    hasStarted: recorded !== undefined,
    isTakenOver: true,
    cgroup,
    keeps_orphans,
    isMonitor: file?.is_monitor,
    litter: file?.litter,
  });
  run.lookAtFiles();
  if (hasExit && !isAlive(agent)) return { kind: "finished", exit: await run.exited, run };
  if (!lives) return { kind: "lost", run };
  if (stdin === "open" && isEofAsked(dir)) void run.closeStdin().catch(() => undefined);
  return { kind: "running", run };
};

/** A process that the log names was started, whatever has become of its directory. */
const wasStarted = (dir: string, recorded: RecordedProcesses | undefined): boolean => {
  if (recorded !== undefined && (isAlive(recorded.agent) || isAlive(recorded.launcher))) return true;
  return hasRunDirectory(dir) && !claim(dir) && !isClaimedByReconcile(dir);
};

const nobody = (place: BootNamespace): ProcessIdentity => identityOf(NO_PROCESS, "", place);

/** A launcher that has just claimed its run tells both pids within milliseconds; a dead one never will. */
const namedIn = async (dir: string, place: BootNamespace): Promise<RecordedProcesses> => {
  const deadline = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    const launcher = readIdentity(dir, "claimed", place) ?? nobody(place);
    const agent = readIdentity(dir, "pid", place) ?? nobody(place);
    if (agent.pid !== NO_PROCESS || !isAlive(launcher) || performance.now() > deadline)
      return { launcher, agent };
    await sleep(EXEC_POLL_MS);
  }
};

/** A living process that is not of the run is nobody; then the agent is what the launcher has made. */
const vouched = async (
  named: RecordedProcesses,
  marker: string,
  tell: (finding: RunFinding) => void,
): Promise<RecordedProcesses> => {
  const refused = (file: string, { pid }: ProcessIdentity): void =>
    tell({ file, what: "forged", detail: `it names pid ${pid}, which is not of this run` });
  let { launcher, agent } = named;
  if (isAlive(launcher) && !(await isOfRun(launcher, nobody(launcher), marker))) {
    refused("claimed", launcher);
    launcher = nobody(launcher);
  }
  if (isAlive(agent) && !(await isOfRun(agent, launcher, marker))) {
    refused("pid", agent);
    agent = (await agentBelow(launcher)) ?? nobody(agent);
  }
  return { launcher, agent };
};
