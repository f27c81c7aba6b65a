/**
 * Starts the processes of one incarnation and waits until the agent runs. Everything that the next daemon
 * needs is on disk before the spawn, or is written by the run's own processes (processes.md, No start
 * race).
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { crashPoint } from "../../base/crash-point.ts";
import { isFullDisk, isShortOfDescriptors } from "../../base/system-errors.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { ProcessIdentity } from "../../protocol/records.ts";
import type { RunFinding } from "../posix.ts";
import type { LaunchRequest } from "../spawner.ts";
import { ChangeWatch } from "./change-watch.ts";
import { containerOf, namedContainer, writeContainerConfiguration } from "./containers.ts";
import { ForkError, forkAlone } from "./fork-server.ts";
import { currentPlace, NOBODY, signalProcess } from "./identity.ts";
import { launcherArguments, SHELL } from "./launcher.ts";
import { lifelineArguments } from "./lifeline.ts";
import { litterAt } from "./litter.ts";
import { MARKER, markerOf } from "./marker.ts";
import { execError, preflight } from "./preflight.ts";
import { ProcessRun, type RunParts } from "./run.ts";
import { makeRunDirectory, runDirectory, writeRunFile } from "./run-directory.ts";
import { agentOf, type Starting, StartTimeout } from "./starting.ts";
import { makeStdin } from "./stdin.ts";

/** The agent gets the daemon's umask. The launcher's own files are always 0600. */
const UMASK = process.umask().toString(8).padStart(4, "0");

/** Rejects with a typed error; then nothing runs. */
export const launch = async (host: RunParts, request: LaunchRequest): Promise<ProcessRun> => {
  preflight(request);
  const { worker_id, incarnation } = request;
  const stdin = request.stdin.kind;
  const stdin_bytes = request.stdin.kind === "empty" ? 0 : Buffer.byteLength(request.stdin.text);
  const dir = runDirectory(host.runsDir, request);
  const place = currentPlace();
  const limits = request.limits ?? {};
  host.cgroups.check(limits);
  const litter =
    request.litter === undefined ? undefined : litterAt(request.litter, host.poller.runs, request.made);
  const cgroup = prepare(() => {
    if (host.spare?.take(dir) !== true) makeRunDirectory(dir);
    const made = host.cgroups.make(request, limits);
    const cgroup_of = made === undefined ? {} : { cgroup: made };
    const monitor = request.isMonitor === true ? { is_monitor: true as const } : {};
    const container = request.isContainer === true ? { is_container: true as const } : {};
    const known = { version: 1, worker_id, incarnation, stdin, stdin_bytes } as const;
    writeRunFile(dir, {
      ...known,
      ...place,
      ...cgroup_of,
      ...monitor,
      ...container,
      ...(litter && { litter }),
    });
    return made;
  });
  const changes = new ChangeWatch(dir, host.watchFiles);
  try {
    crashPoint("launch-before-spawn");
    const launcher = await startLauncher(host, request, { dir, cgroup }, changes);
    crashPoint("launch-before-pid");
    const id = { worker_id, incarnation };
    const marker = markerOf(host.storeId, worker_id, incarnation);
    const tell = (finding: RunFinding): void => host.onFinding(id, finding);
    const agent = await started(host, request, { dir, changes, launcher, marker, tell });
    host.spare?.prepare();
    return new ProcessRun(host, {
      ...id,
      dir,
      agent,
      launcher,
      stdin,
      stdin_start: stdin_bytes,
      changes,
      hasStarted: true,
      cgroup,
      keeps_orphans: host.forks !== undefined,
      isMonitor: request.isMonitor,
      isContainer: request.isContainer,
      litter,
    });
  } catch (cause) {
    changes.close();
    if (cgroup !== undefined) host.cgroups.remove(cgroup);
    if (cause instanceof HoldfastError && cause.code === "UNAVAILABLE") forget(dir);
    throw cause;
  }
};

/**
 * Removes the run directory of a start that failed for lack of a resource, because an incarnation can make
 * its directory only once and the start will be tried again.
 */
const forget = (dir: string): void => {
  try {
    rmSync(dir, { recursive: true, force: true });
  } catch {
    // Still no descriptors or space: the next try fails with that error.
  }
};

/** Errors here concern our own files, so the disk or the directory is at fault, never the agent. */
const prepare = <T>(work: () => T): T => {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof HoldfastError) throw cause;
    const { code, message } = cause as NodeJS.ErrnoException;
    if (isFullDisk(cause))
      throw new HoldfastError("DISK_FULL", "There is no space for the run directory.", { cause });
    if (code === "EACCES" || code === "EPERM" || code === "EROFS")
      throw new HoldfastError("PERMISSION_DENIED", "The run directory is not writable.", { cause });
    if (isShortOfDescriptors(cause))
      throw new HoldfastError("UNAVAILABLE", "Too many files are open to start an agent.", { cause });
    throw new HoldfastError("INTERNAL", `The run directory could not be made: ${message}`, { cause });
  }
};

const startLauncher = async (
  host: RunParts,
  request: LaunchRequest,
  { dir, cgroup }: { readonly dir: string; readonly cgroup: string | undefined },
  changes: ChangeWatch,
): Promise<ProcessIdentity> => {
  const { cwd } = request;
  const marker = markerOf(host.storeId, request.worker_id, request.incarnation);
  const { argv, configured } = wordsOf(request, dir, marker);
  const env = { ...request.env, ...configured, [MARKER]: marker };
  const stdin = prepare(() => {
    if (request.lifeline !== undefined) host.lifeline.hold();
    return makeStdin(dir, request.stdin);
  });
  const lifeline = lifelineArguments(host.lifeline, request.lifeline);
  const beside = { cgroup, lifeline, perl: host.forks?.perl };
  const args = launcherArguments(dir, request.stdin.kind, UMASK, argv, beside);
  const files = {
    claimed: join(dir, "claimed"),
    stdin,
    stdout: join(dir, "stdout"),
    stderr: join(dir, "stderr"),
  };
  const fork = { program: SHELL, args, cwd, env, ...files };
  changes.launcherRuns = true;
  try {
    return await (host.forks === undefined ? forkAlone(fork, changes) : host.forks.start(fork, changes));
  } catch (cause) {
    changes.launcherRuns = false;
    if (cause instanceof ForkError) throw startError(request, cause.code);
    // It is unknown whether the launcher was started, so end everything with the run's marker before the next
    // try.
    await host.sweeper.sweep({
      marker,
      launcher: NOBODY,
      recorded: new Map(),
      dir,
      container: containerOf(request.isContainer, marker),
    });
    throw cause;
  }
};

/** The words and variables of podman, which names the container after its run. */
const wordsOf = (
  { isContainer, argv }: LaunchRequest,
  dir: string,
  marker: string,
): { readonly argv: readonly string[]; readonly configured: Readonly<Record<string, string>> } => {
  if (isContainer !== true) return { argv, configured: {} };
  const path = prepare(() => writeContainerConfiguration(dir, marker));
  return { argv: namedContainer(argv, marker), configured: { CONTAINERS_CONF: path } };
};

const NO_RESOURCES: ReadonlySet<string> = new Set(["EAGAIN", "EMFILE", "ENFILE", "ENOMEM"]);
const NO_SPACE: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT"]);

const startError = (request: LaunchRequest, code: string): HoldfastError => {
  if (code === "E2BIG") return execError(request, ": argument list too long");
  if (NO_SPACE.has(code)) return new HoldfastError("DISK_FULL", "There is no space for the run directory.");
  if (NO_RESOURCES.has(code))
    return new HoldfastError("UNAVAILABLE", `This machine cannot start another process now: ${code}.`);
  return execError(request, `: ${code}`);
};

/** Waits for the start. A run that does not start in time is swept. */
const started = async (
  host: RunParts,
  request: LaunchRequest,
  starting: Starting,
): Promise<ProcessIdentity> => {
  try {
    return await agentOf(request.argv[0], starting, (said) => execError(request, said));
  } catch (cause) {
    if (cause instanceof StartTimeout) {
      const { marker, launcher, dir } = starting;
      const container = containerOf(request.isContainer, marker);
      await host.sweeper.sweep({ marker, launcher, recorded: new Map(), dir, container });
      signalProcess(launcher, "SIGKILL");
    }
    throw cause;
  }
};
