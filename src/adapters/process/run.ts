/**
 * The processes of one incarnation: a handle on a run directory and two identities, the same whether this
 * daemon launched or adopted them. It holds numbers and names, no descriptors and no buffers.
 */
import { join } from "node:path";
import { sizeOfRegular } from "../../base/files/regular-file.ts";
import { LAUNCHER_END_MS } from "../../base/limits.ts";
import type { RunExit } from "../../protocol/incarnation.ts";
import type { ProcessIdentity, SweepReport } from "../../protocol/records.ts";
import type { SpoolName, StdinPlan } from "../adapter.ts";
import type { RunFinding, RunProcesses, RunResources, SweepOptions } from "../posix.ts";
import type { Run, RunId, RunInput } from "../spawner.ts";
import type { Cgroups } from "./cgroups.ts";
import { type ChangedFileName, type ChangeWatch, LAUNCHER_ENDED, type WatchFiles } from "./change-watch.ts";
import { containerOf, type RunContainer } from "./containers.ts";
import { decideExit } from "./exit.ts";
import type { ForkServer } from "./fork-server.ts";
import {
  currentPlace,
  exists,
  isAlive,
  isOfOtherBoot,
  knownHere,
  type Liveness,
  livenessOf,
  signalProcess,
} from "./identity.ts";
import {
  hasEndedAlone,
  isLeftByNobody,
  type LauncherEnding,
  launcherEnds,
  withDescent,
} from "./launcher-ending.ts";
import type { Lifeline } from "./lifeline.ts";
import { type Litter, removeLitter } from "./litter.ts";
import { markerOf } from "./marker.ts";
import { type MemoryWatch, wasOutOfMemory } from "./out-of-memory.ts";
import { continueMembers, stopMembers } from "./pause.ts";
import type { PolledRun, Poller } from "./poll.ts";
import { descendantsOf, type Kinship, type KnownProcesses } from "./process-table.ts";
import { realPath } from "./real-path.ts";
import type { Releaser } from "./release.ts";
import { resourcesOf } from "./resources.ts";
import {
  hasExecFailed,
  hasLostLease,
  hasSupervisorDied,
  misplacedIn,
  noteSignal,
  readExitStatus,
  readIdentity,
  readSignals,
  readUnrenamedStatus,
} from "./run-directory.ts";
import type { Snapshots } from "./snapshots.ts";
import type { SpareDirectories } from "./spare-directories.ts";
import { SpoolSource } from "./spool-source.ts";
import { appendStdin, askEof, endPump, isEofAsked, stdinBytes, stdinFrom } from "./stdin.ts";
import { killMembers, signalGroup } from "./stop.ts";
import type { Sweeper } from "./sweep.ts";
import { variablesOf } from "./variables.ts";
import { contradictionsIn, forgedPump, isPumpOf } from "./vouching.ts";

/** Parts that all runs of a spawner share. */
export interface RunParts {
  readonly runsDir: string;
  readonly storeId: string;
  readonly poller: Poller;
  readonly snapshots: Snapshots;
  readonly sweeper: Sweeper;
  readonly lifeline: Lifeline;
  readonly releaser: Releaser;
  readonly memory: MemoryWatch;
  readonly cgroups: Cgroups;
  readonly watchFiles?: WatchFiles | undefined;
  /** Starts each launcher as a sub-reaper; undefined if this machine cannot. */
  readonly forks: ForkServer | undefined;
  /** Only where launchers take its files as they are. */
  readonly spare: SpareDirectories | undefined;
  /** Called each time that a check finds it. */
  readonly onFinding: (id: RunId, finding: RunFinding) => void;
}

export interface RunFacts {
  readonly worker_id: string;
  readonly incarnation: number;
  readonly dir: string;
  readonly agent: ProcessIdentity;
  readonly launcher: ProcessIdentity;
  readonly stdin: StdinPlan["kind"];
  readonly stdin_start: number;
  readonly changes: ChangeWatch;
  /** The program is known to have started, whatever the files say. */
  readonly hasStarted: boolean;
  readonly cgroup?: string | undefined;
  /** The launcher is a sub-reaper. */
  readonly keeps_orphans: boolean;
  /** Another daemon launched it, so the launcher is not our child. */
  readonly isTakenOver?: boolean | undefined;
  readonly isMonitor?: boolean | undefined;
  readonly isContainer?: boolean | undefined;
  readonly litter?: Litter | undefined;
}

const STOPPING: ReadonlySet<string> = new Set(["SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU"]);
const NOBODY: KnownProcesses = new Map();

export class ProcessRun implements Run, RunInput, RunProcesses, PolledRun {
  readonly worker_id: string;
  readonly incarnation: number;
  readonly agent: ProcessIdentity;
  readonly launcher: ProcessIdentity;
  readonly exited: Promise<RunExit>;
  readonly stdin_start: number;
  readonly isMonitor: boolean;
  readonly litter: Litter | undefined;
  /** Known descendants besides the agent, from the last snapshot. */
  recorded: KnownProcesses = NOBODY;
  private readonly dir: string;
  readonly cgroup: string | undefined;
  private readonly keepsOrphans: boolean;
  readonly container: RunContainer | undefined;
  private readonly isTakenOver: boolean;
  private readonly hasStarted: boolean;
  private readonly stdin: StdinPlan["kind"];
  private readonly host: RunParts;
  private readonly changes: ChangeWatch;
  private readonly resolve: (exit: RunExit) => void;
  private listener: (() => void) | undefined;
  private hasExited = false;
  /** The newest pause or continuation: they are carried out one after the other. */
  private pausing: Promise<unknown> | undefined;
  /** The launcher is gone, so no exit will be written. */
  private isUnparented = false;
  /** Bytes of both spools at the last check. */
  private written = 0;
  /** When the agent was first seen dead without an exit, in monotonic ms; 0 while it lives. */
  private dyingSince = 0;

  constructor(host: RunParts, facts: RunFacts) {
    this.worker_id = facts.worker_id;
    this.incarnation = facts.incarnation;
    this.agent = facts.agent;
    this.launcher = facts.launcher;
    this.stdin_start = facts.stdin_start;
    this.isMonitor = facts.isMonitor === true;
    this.litter = facts.litter;
    this.dir = facts.dir;
    this.cgroup = facts.cgroup;
    this.keepsOrphans = facts.keeps_orphans;
    this.isTakenOver = facts.isTakenOver === true;
    this.hasStarted = facts.hasStarted;
    this.stdin = facts.stdin;
    this.host = host;
    this.container = containerOf(facts.isContainer, this.marker);
    this.changes = facts.changes;
    const { promise, resolve } = Promise.withResolvers<RunExit>();
    this.exited = promise;
    this.resolve = resolve;
    this.changes.listener = (notice) => this.notice(notice);
    host.poller.add(this);
    this.check();
  }

  get input(): RunInput {
    return this;
  }

  get posix(): RunProcesses {
    return this;
  }

  get pgid(): number {
    return this.launcher.pid;
  }

  owns(pid: number, start_time: string): boolean {
    const { agent, launcher, recorded } = this;
    const isOne = (one: ProcessIdentity) => one.pid === pid && one.start_time === start_time;
    return recorded.get(pid) === start_time || isOne(agent) || isOne(launcher);
  }

  leads(group: number): boolean {
    return group === this.pgid && (isAlive(this.launcher) || isAlive(this.agent));
  }

  resources(): RunResources | undefined {
    return resourcesOf(this);
  }

  onOutput(listener: () => void): void {
    this.listener = listener;
  }

  /** A dead process also triggers a check, because the event of its end may have been lost. */
  process(): Liveness {
    const liveness = livenessOf(this.agent);
    if (liveness === "dead") this.check();
    return liveness;
  }

  async signal(signal: NodeJS.Signals): Promise<readonly number[]> {
    if (signal === "SIGKILL") return this.kill();
    // A pause in progress would stop processes after this signal has continued them.
    await this.pausing;
    const kinship = await this.host.snapshots.refresh();
    if (this.hasExited) return [];
    noteSignal(this.dir, signal);
    const signalled = signalGroup(this, kinship, signal);
    // Paused by us or by an earlier daemon: it acts on no signal until it continues.
    if (!STOPPING.has(signal)) continueMembers(this, kinship);
    return signalled;
  }

  pause(): Promise<readonly number[]> {
    return this.afterwards(async () =>
      stopMembers(this, await this.pump(), () => this.host.snapshots.refresh()),
    );
  }

  unpause(): Promise<readonly number[]> {
    return this.afterwards(async () => continueMembers(this, await this.host.snapshots.refresh()));
  }

  private afterwards(work: () => Promise<readonly number[]>): Promise<readonly number[]> {
    const mine = (this.pausing ?? Promise.resolve()).then(() => (this.hasExited ? [] : work()));
    this.pausing = mine.catch(() => undefined);
    return mine;
  }

  async kill(): Promise<readonly number[]> {
    const kinship = await this.host.snapshots.refresh();
    if (!this.hasExited) noteSignal(this.dir, "SIGKILL");
    // By podman, so that the container's own watcher is still there to clean up.
    await this.container?.remove();
    const killed = killMembers(this, kinship);
    this.check();
    return killed;
  }

  async sweep({ trustsLauncher = false }: SweepOptions = {}): Promise<SweepReport> {
    if (isAlive(this.agent)) noteSignal(this.dir, "SIGKILL");
    const report =
      trustsLauncher && this.hasExited && (await isLeftByNobody(this.ending()))
        ? await this.host.sweeper.leftByNobody(this)
        : await this.search();
    this.lookAtFiles();
    if (this.litter !== undefined && report.survivors.length === 0)
      await removeLitter(this.host, this, this.litter);
    return report;
  }

  private async search(): Promise<SweepReport> {
    const report = await this.host.sweeper.sweep({
      marker: this.marker,
      launcher: this.launcher,
      recorded: this.recorded,
      dir: realPath(this.dir),
      cgroup: this.cgroup,
      keeps_orphans: this.keepsOrphans,
      container: this.container,
    });
    this.check();
    if (this.hasExited) await launcherEnds(this.ending());
    return hasEndedAlone(this.ending()) ? withDescent(report) : report;
  }

  private ending(): LauncherEnding {
    const { launcher, changes, dir, keepsOrphans: keeps_orphans, isTakenOver } = this;
    return { launcher, changes, dir, keeps_orphans, isTakenOver };
  }

  stdinBytes(): number {
    return stdinBytes(this.dir);
  }

  stdinFrom(offset: number): Uint8Array {
    return stdinFrom(this.dir, offset);
  }

  async write(bytes: string | Uint8Array): Promise<void> {
    appendStdin(this.dir, this.stdin, bytes);
  }

  isStdinClosed(): boolean {
    return isEofAsked(this.dir);
  }

  async closeStdin(): Promise<void> {
    askEof(this.dir, this.stdin);
    const pump = await this.pump();
    if (pump !== undefined) await endPump(this.dir, pump, this.agent);
  }

  /** Undefined if there is none, or if its file names a process of another run. */
  private async pump(): Promise<ProcessIdentity | undefined> {
    const said = readIdentity(this.dir, "pump", currentPlace());
    if (said === undefined || (await isPumpOf(said, this.launcher, this.marker, this.dir))) return said;
    this.tell(forgedPump(said));
    return undefined;
  }

  /** Reports entries of the run directory that were replaced or name foreign processes. They are not used. */
  lookAtFiles(): void {
    for (const { file, found } of misplacedIn(this.dir))
      this.tell({ file, what: "not_a_file", detail: `there is a ${found} in its place` });
    try {
      for (const finding of contradictionsIn(this.dir, this)) this.tell(finding);
    } catch {
      // No descriptors left: an unreadable file names no process.
    }
  }

  private tell(finding: RunFinding): void {
    this.host.onFinding(this, finding);
  }

  private get marker(): string {
    return markerOf(this.host.storeId, this.worker_id, this.incarnation);
  }

  variables(names: readonly string[]): Readonly<Record<string, string>> {
    return variablesOf(this.agent, names);
  }

  source(stream: SpoolName): SpoolSource {
    return new SpoolSource(this.spool(stream), this.host.releaser);
  }

  /** Absolute path of a spool file. */
  spool(stream: SpoolName): string {
    return join(this.dir, stream);
  }

  dispose(): void {
    this.listener = undefined;
    this.changes.close();
    this.host.poller.remove(this);
  }

  /** No event will report this run's next change: it has no launcher, no watch, or is about to end. */
  isUrgent(): boolean {
    return this.isUnparented || !this.changes.isWatching || this.dyingSince > 0;
  }

  lookForLauncher(): void {
    this.changes.look(this.launcher);
    this.isUnparented = !this.changes.launcherRuns && !exists(this.launcher.pid);
  }

  isPolled(): boolean {
    return !this.changes.isWatching;
  }

  look(): void {
    this.check();
    const written = sizeOfRegular(this.spool("stdout")) + sizeOfRegular(this.spool("stderr"));
    if (written === this.written) return;
    this.written = written;
    this.listener?.();
  }

  record(kinship: Kinship): void {
    if (this.recorded.size === 0 && this.isAlone(kinship)) return;
    const known = new Map([...this.recorded, ...knownHere(this.launcher, this.agent)]);
    const found = descendantsOf(kinship, this.pgid, known);
    found.delete(this.launcher.pid);
    found.delete(this.agent.pid);
    this.recorded = found.size === 0 ? NOBODY : found;
  }

  /** Only agent and launcher exist: true for most runs at most times, and checked by three look-ups. */
  private isAlone({ children, sessions }: Kinship): boolean {
    const { agent, launcher } = this;
    const isOurs = ({ pid }: { readonly pid: number }) => pid === agent.pid || pid === launcher.pid;
    return (
      !children.has(agent.pid) &&
      (children.get(launcher.pid) ?? []).every(isOurs) &&
      (sessions.get(launcher.pid) ?? []).every(isOurs)
    );
  }

  private notice(notice: ChangedFileName): void {
    if (notice === LAUNCHER_ENDED) {
      this.isUnparented = true;
      this.host.poller.hurry();
    }
    if (notice === "exit" || notice === LAUNCHER_ENDED || notice === null) this.check();
    if (notice === "stdout" || notice === "stderr" || notice === null) this.listener?.();
  }

  /** Settles the exit as soon as the directory and the process table agree. */
  private check(): void {
    if (this.hasExited) return;
    try {
      const status = this.status();
      if (status !== undefined) this.settle(status);
    } catch {
      // No descriptors left, so nothing is known; the poller checks again.
    }
  }

  /** The launcher's status; null if it can no longer give one, undefined while it may still come. */
  private status(): number | null | undefined {
    // The most common case: no exit is written while the agent lives.
    if (isAlive(this.agent)) {
      this.dyingSince = 0;
      return undefined;
    }
    const status = readExitStatus(this.dir);
    if (status !== undefined) return status;
    if (this.changes.launcherRuns || isAlive(this.launcher)) {
      this.hurryLauncher();
      return undefined;
    }
    // Read again after both were seen dead, because it may have been written in between.
    return readExitStatus(this.dir) ?? readUnrenamedStatus(this.dir) ?? this.changes.launcherCode;
  }

  /** Kills a launcher that does not write the exit of its dead agent (it is stopped, or its disk hangs). */
  private hurryLauncher(): void {
    const now = performance.now();
    if (this.dyingSince === 0) this.host.poller.hurry();
    this.dyingSince ||= now;
    if (now - this.dyingSince >= LAUNCHER_END_MS) signalProcess(this.launcher, "SIGKILL");
  }

  private settle(raw_status: number | null): void {
    const { cgroup, host } = this;
    const kills = () => (cgroup === undefined ? undefined : host.cgroups.memoryKills(cgroup));
    const exit = decideExit({
      raw_status,
      exec_failed: !this.hasStarted && hasExecFailed(this.dir),
      signals_sent: readSignals(this.dir),
      supervisor_died: hasSupervisorDied(this.dir),
      lease_lost: hasLostLease(this.dir),
      other_boot: isOfOtherBoot(this.launcher),
      was_out_of_memory: () =>
        wasOutOfMemory(host.memory.evidence(kills()), [this.agent.pid, ...this.recorded.keys()]),
    });
    this.hasExited = true;
    this.host.poller.remove(this);
    this.resolve(exit);
    this.listener?.();
  }
}
