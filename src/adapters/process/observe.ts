/**
 * Finds a recorded incarnation again after a restart of the daemon. The log names its processes, and the
 * process table tells whether they live (architecture §5, Boot). If the last daemon died before it recorded
 * them, the run directory names them and the process table must agree. The claim decides between this daemon
 * and a launcher that has not run yet.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { EXEC_POLL_MS, START_TIMEOUT_MS } from "../../base/limits.ts";
import type { RecordedProcesses, RunExit } from "../../protocol/incarnation.ts";
import type { ProcessIdentity } from "../../protocol/records.ts";
import type { RunFinding } from "../posix.ts";
import type { ObserveRequest } from "../spawner.ts";
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

/** Without a readable run.json (power loss) the boot is unknown, so its pids mean nothing here. */
const UNKNOWN_PLACE: BootNamespace = { boot_id: "", pid_ns: "" };

/** `ObservedRun`, of runs that are processes. */
export type ObservedProcesses =
  | { readonly kind: "running" | "lost"; readonly run: ProcessRun }
  | { readonly kind: "finished"; readonly exit: RunExit; readonly run: ProcessRun }
  | { readonly kind: "never_started" };

export const observe = async (
  host: RunParts,
  { processes: recorded, ...asked }: ObserveRequest,
): Promise<ObservedProcesses> => {
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
  // Read after the processes, so that an exit written in between is seen.
  const hasExit = readExitStatus(dir) !== undefined;
  const cgroup = file?.cgroup !== undefined && host.cgroups.isOf(id, file.cgroup) ? file.cgroup : undefined;
  const keeps_orphans = isSubReaper(launcher);
  // With a cgroup the sweep finds every process without the launcher.
  if (keeps_orphans && cgroup === undefined) noteTakeOver(dir);
  const stdin = file?.stdin ?? "empty";
  // An older version did not note the length: everything in the file counts as written before the launch.
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
    isContainer: file?.is_container,
    litter: file?.litter,
  });
  run.lookAtFiles();
  if (hasExit && !isAlive(agent)) return { kind: "finished", exit: await run.exited, run };
  if (!lives) return { kind: "lost", run };
  if (stdin === "open" && isEofAsked(dir)) void run.closeStdin().catch(() => undefined);
  return { kind: "running", run };
};

/** Whether a run was started. A living process from the log proves it, even without a run directory. */
const wasStarted = (dir: string, recorded: RecordedProcesses | undefined): boolean => {
  if (recorded !== undefined && (isAlive(recorded.agent) || isAlive(recorded.launcher))) return true;
  return hasRunDirectory(dir) && !claim(dir) && !isClaimedByReconcile(dir);
};

const nobody = (place: BootNamespace): ProcessIdentity => identityOf(NO_PROCESS, "", place);

/**
 * Waits for both pids: a launcher that has just claimed its run writes them within milliseconds, a dead one
 * never.
 */
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

/**
 * Drops a living process that does not belong to the run. The agent is then the process that the launcher
 * made.
 */
const vouched = async (
  named: RecordedProcesses,
  marker: string,
  tell: (finding: RunFinding) => void,
): Promise<RecordedProcesses> => {
  const refused = (file: string, { pid }: ProcessIdentity): void =>
    tell({ file, what: "forged", detail: `it names pid ${pid}, which does not belong to this run` });
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
