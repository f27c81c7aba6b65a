/**
 * Makes the processes of one incarnation and waits until the agent runs. Everything that the next daemon needs is on
 * disk before the spawn, or written by the run's own processes (architecture §5, No start race).
 */
import { closeSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { crashPoint } from "../../base/crash-point.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { ProcessIdentity } from "../../protocol/records.ts";
import type { LaunchRequest, RunFinding } from "../spawner.ts";
import { currentPlace, identityOf, readStat, signalProcess } from "./identity.ts";
import { launcherArguments, SHELL } from "./launcher.ts";
import { lifelineArguments } from "./lifeline.ts";
import { litterAt } from "./litter.ts";
import { MARKER, markerOf } from "./marker.ts";
import { Notices } from "./notices.ts";
import { execError, preflight } from "./preflight.ts";
import { behind } from "./reaper.ts";
import { type Host, ProcessRun } from "./run.ts";
import { FILE_MODE, makeRunDirectory, runDirectory, writeRunFile } from "./run-directory.ts";
import { agentOf, type Starting, StartTimeout } from "./starting.ts";
import { openStdin } from "./stdin.ts";

/** The agent's umask is the daemon's; the launcher's own files are 0600 whatever it is. */
const UMASK = process.umask().toString(8).padStart(4, "0");

/** Rejects with the typed error of what failed; nothing runs then. */
export const launch = async (host: Host, request: LaunchRequest): Promise<ProcessRun> => {
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
    makeRunDirectory(dir);
    const made = host.cgroups.make(request, limits);
    const cgroup_of = made === undefined ? {} : { cgroup: made };
    const monitor = request.isMonitor === true ? { is_monitor: true as const } : {};
    const known = { version: 1, worker_id, incarnation, stdin, stdin_bytes } as const;
    writeRunFile(dir, { ...known, ...place, ...cgroup_of, ...monitor, ...(litter && { litter }) });
    return made;
  });
  const notices = new Notices(dir, host.watchFiles);
  try {
    crashPoint("launch-before-spawn");
    const launcher = await spawnLauncher(host, request, { dir, cgroup }, notices);
    crashPoint("launch-before-pid");
    const id = { worker_id, incarnation };
    const marker = markerOf(host.storeId, worker_id, incarnation);
    const tell = (finding: RunFinding): void => host.onFinding(id, finding);
    const agent = await started(host, request, { dir, notices, launcher, marker, tell });
    return new ProcessRun(host, {
      ...id,
      dir,
      agent,
      launcher,
      stdin,
      stdin_start: stdin_bytes,
      notices,
      hasStarted: true,
      cgroup,
      keeps_orphans: host.reaper !== undefined,
      isMonitor: request.isMonitor,
      litter,
    });
  } catch (cause) {
    notices.close();
    if (cgroup !== undefined) host.cgroups.remove(cgroup);
    if (cause instanceof HoldfastError && cause.code === "UNAVAILABLE") forget(dir);
    throw cause;
  }
};

/** Nothing was made for want of something, and may be tried again: an incarnation has its directory once. */
const forget = (dir: string): void => {
  try {
    rmSync(dir, { recursive: true, force: true });
  } catch {
    // Still none left: the next try says so.
  }
};

/** Files of our own: what fails here is the disk's or the directory's fault, never the agent's. */
const prepare = <T>(work: () => T): T => {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof HoldfastError) throw cause;
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === "ENOSPC" || code === "EDQUOT")
      throw new HoldfastError("DISK_FULL", "There is no space for the run directory.", { cause });
    if (code === "EACCES" || code === "EPERM" || code === "EROFS")
      throw new HoldfastError("PERMISSION_DENIED", "The run directory may not be written.", { cause });
    if (code === "EMFILE" || code === "ENFILE")
      throw new HoldfastError("UNAVAILABLE", "Too many files are open to start an agent.", { cause });
    throw new HoldfastError("INTERNAL", `The run directory could not be made: ${message}`, { cause });
  }
};

const spawnLauncher = async (
  host: Host,
  request: LaunchRequest,
  { dir, cgroup }: { readonly dir: string; readonly cgroup: string | undefined },
  notices: Notices,
): Promise<ProcessIdentity> => {
  const env = { ...request.env, [MARKER]: markerOf(host.storeId, request.worker_id, request.incarnation) };
  const open: number[] = [];
  try {
    const stdio = prepare(() => {
      if (request.lifeline !== undefined) host.lifeline.hold();
      const input = openStdin(dir, request.stdin);
      if (input !== "ignore") open.push(input);
      const stdout = openSync(join(dir, "stdout"), "ax", FILE_MODE);
      open.push(stdout);
      const stderr = openSync(join(dir, "stderr"), "ax", FILE_MODE);
      open.push(stderr);
      return { stdin: asOption(input), stdout: asOption(stdout), stderr: asOption(stderr) };
    });
    const lifeline = lifelineArguments(host.lifeline, request.lifeline);
    const beside = { cgroup, lifeline, perl: host.reaper?.perl };
    const script = launcherArguments(dir, request.stdin.kind, UMASK, request.argv, beside);
    const command = behind(host.reaper, SHELL, script, env);
    const subprocess = execa(command.program, command.args, {
      cwd: request.cwd,
      env: command.env,
      extendEnv: false,
      ...stdio,
      detached: true,
      buffer: false,
      cleanup: false,
      reject: false,
    });
    const child = subprocess.nodeChildProcess;
    const { pid } = child;
    if (pid === undefined) throw spawnError(request, await subprocess);
    // execa waits on the child's events for a result that nobody reads: without them all that it holds (16 KB a run) goes.
    child.removeAllListeners();
    child.on("error", () => undefined);
    child.unref();
    notices.follow(child);
    // Our own child keeps its pid until we reap it, which cannot happen before this turn of the event loop is over.
    return identityOf(pid, readStat(pid)?.start_time ?? "");
  } finally {
    for (const fd of open) closeSync(fd);
  }
};

/** execa takes any descriptor; its types know only 0 to 9 by name. */
const asOption = (fd: number | "ignore"): 3 | "ignore" => fd as 3 | "ignore";

const NO_RESOURCES: ReadonlySet<string | undefined> = new Set(["EAGAIN", "EMFILE", "ENFILE", "ENOMEM"]);

const spawnError = (
  request: LaunchRequest,
  result: { readonly code?: string; readonly originalMessage?: string },
): HoldfastError => {
  if (result.code === "E2BIG") return execError(request, ": argument list too long");
  if (NO_RESOURCES.has(result.code))
    return new HoldfastError("UNAVAILABLE", `This machine cannot start another process now: ${result.code}.`);
  return execError(request, `: ${result.originalMessage ?? "unknown reason"}`);
};

/** A run that does not start in time is ended with all that it has made meanwhile. */
const started = async (host: Host, request: LaunchRequest, starting: Starting): Promise<ProcessIdentity> => {
  try {
    return await agentOf(request.argv[0], starting, (said) => execError(request, said));
  } catch (cause) {
    if (cause instanceof StartTimeout) {
      const { marker, launcher, dir } = starting;
      await host.sweeper.sweep({ marker, launcher, recorded: new Map(), dir });
      signalProcess(launcher, "SIGKILL");
    }
    throw cause;
  }
};
