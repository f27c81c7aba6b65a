/**
 * `RuntimeSpawner`, the runtime side's port (runtime-architecture.txt, Stable contracts): it makes processes, tells how
 * they end and ends them. `process/` implements it with real processes; a test implements it in memory.
 */
import type { RecordedProcesses, RunExit } from "../protocol/incarnation.ts";
import type { ProcessIdentity, SweepReport } from "../protocol/records.ts";
import type { RunLimits } from "../protocol/worker.ts";
import type { SpoolName, StdinPlan } from "./adapter.ts";

export interface RunId {
  readonly worker_id: string;
  readonly incarnation: number;
}

export interface LaunchRequest extends RunId {
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The whole environment of the child; the spawner adds only the marker. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: StdinPlan;
  /** Held for all that it starts; what cannot be held here is refused. */
  readonly limits?: RunLimits;
  /** Its program only watches over the agent in a sandbox: a signal that asks for an end goes past it. */
  readonly isMonitor?: boolean;
  /** Absolute paths of directories that its CLI may leave behind empty: removed with what else is swept, where they were not there before. */
  readonly litter?: readonly string[];
  /** Those of them that were made for this run. */
  readonly made?: readonly string[];
  /** It dies with its supervisor: ended by TERM, and by KILL so long after it. Without this it lives on. */
  readonly lifeline?: { readonly grace_ms: number };
}

/** The name of signal(7). Node's own type of it would ask every reader of our declarations for Node's. */
type SignalName = `SIG${string}`;

export interface SweepOptions {
  /** Nobody is looked for where the launcher has ended by itself, because it does that only with nobody below it. */
  readonly trustsLauncher?: boolean;
}

export interface Run extends RunId {
  readonly agent: ProcessIdentity;
  readonly launcher: ProcessIdentity;
  /** Process group of the launcher and the agent. */
  readonly pgid: number;
  /** Resolves once, with the one exit of this incarnation. Never rejects. */
  readonly exited: Promise<RunExit>;
  /** Called whenever a spool may have grown (spurious calls are allowed), and once at the exit. */
  onOutput(listener: () => void): void;
  /** Liveness by /proc, not by kill(0): T is stopped, Z is dead. */
  process(): "running" | "stopped" | "zombie" | "dead";
  /** To the group, after the identity was read again; TERM and INT are followed by CONT. Returns the pids signalled. */
  signal(signal: SignalName): Promise<readonly number[]>;
  /** STOP by pid to the agent, its group and what descends from it, never to the launcher. Twice is once. Returns who stands still. */
  pause(): Promise<readonly number[]>;
  /** CONT to all of them. A paused process acts on `signal` too: it is told to go on. */
  unpause(): Promise<readonly number[]>;
  /** KILL by pid to the agent and every other member of the group and every known descendant, never to the launcher. */
  kill(): Promise<readonly number[]>;
  /** Find what carries this run's marker or descends from it, stop it until nothing new appears, then kill it. Its litter goes last. */
  sweep(options?: SweepOptions): Promise<SweepReport>;
  /** Bytes of an open stdin that were there when the agent was launched, and that are there now: a torn write shows. */
  readonly stdin_start: number;
  stdinBytes(): number;
  /** The bytes that were written to an open stdin from there on: whose bytes they are tells which message was begun. */
  stdinFrom(offset: number): Uint8Array;
  /** Append to an open stdin; resolves when the bytes are in the file. */
  write(bytes: string | Uint8Array): Promise<void>;
  /** EOF on an open stdin, once the agent has read all of it; from the call on it stands, over daemons too. */
  closeStdin(): Promise<void>;
  isStdinClosed(): boolean;
  /** Variables that the agent was started with, of these names; none where it is gone, or its process cannot be looked at. */
  variables(names: readonly string[]): Readonly<Record<string, string>>;
  /** The last bytes of a spool, decoded leniently. */
  tail(stream: SpoolName, bytes: number): Promise<string>;
  /** Absolute path of a spool file. */
  spool(stream: SpoolName): string;
  /**
   * Give the disk under [from, below) of a spool back; offsets stay. True where that was done; never rejects. Output below it must be in the log for good.
   */
  release(stream: SpoolName, from: number, below: number): Promise<boolean>;
  /** Bytes of a spool that lie on the disk and will not go by themselves: not ingested, or not to be released here. */
  held(stream: SpoolName, ingested: number): number;
  /** Release watches and descriptors; files stay. */
  dispose(): void;
}

export interface ObserveRequest extends RunId {
  /** Missing where the last daemon died before it could record them. */
  readonly processes?: RecordedProcesses | undefined;
}

/** Something about a run directory that nobody but the agent, or somebody beside the runtime, can have done. */
export interface RunFinding {
  /** The name in the run directory. */
  readonly file: string;
  readonly what: "not_a_file" | "contradicts_the_log" | "forged";
  readonly detail: string;
}

/** The word of the process table and the run directory on a recorded incarnation at boot. */
export type ObservedRun =
  | { readonly kind: "running"; readonly run: Run }
  | { readonly kind: "finished"; readonly exit: RunExit; readonly run: Run }
  /** Launcher dead, agent dead, and, checked after those, no exit file. */
  | { readonly kind: "lost"; readonly run: Run }
  /** The launcher never claimed the run, and now never will. */
  | { readonly kind: "never_started" };

/** Living processes with the marker of one run. */
export interface LivingRun extends RunId {
  readonly pids: readonly number[];
}

/** How it was found out that a process belongs to a run, strongest first. */
export type Evidence = "descent" | "cgroup" | "group" | "spool" | "marker";

/** The origin of a process. */
export type ProcessOrigin =
  | ({ readonly type: "run"; readonly by: Evidence } & RunId)
  | { readonly type: "outside" }
  /** It descends from the daemon, and from no run: a program that the daemon runs itself, which an agent may have named. */
  | { readonly type: "daemon" }
  /** It ended before it was looked at, or is in another pid namespace. */
  | { readonly type: "gone" };

export interface RuntimeSpawner {
  /** Mistakes that `launch` would refuse for certain, without starting anything: program, cwd, argument sizes. Rejects with the same errors. */
  check(request: Pick<LaunchRequest, "argv" | "cwd" | "env" | "limits">): Promise<void>;
  /** Resolves when the agent's own pid is known and its exec has not failed; rejects with a typed HoldfastError. */
  launch(request: LaunchRequest): Promise<Run>;
  /** Look a recorded incarnation up again after a restart of the daemon. */
  observe(id: ObserveRequest): Promise<ObservedRun>;
  /** Every run of this store that has living processes, supervised or not. */
  living(): Promise<readonly LivingRun[]>;
  /** The run that a process belongs to. One that began later than `before_s`, in seconds of `statClock`, is not the one that is meant. */
  originOf(pid: number, before_s?: number): ProcessOrigin;
  /** The same of a process that was looked at before. */
  originIn(lineage: readonly RelatedProcess[]): ProcessOrigin;
  /** Sweep a run that nobody supervises, its launcher too: nobody waits for its exit. */
  end(id: RunId): Promise<SweepReport>;
  /** Runs whose output is looked for on a timer, because the machine gives no more file events: all is read, later. */
  polled(): number;
  /** The directory of a worker's files: the launch spec and its incarnations. */
  workerDir(workerId: string): string;
  close(): Promise<void>;
}

/** A process, and what ties it to a run. */
export interface RelatedProcess {
  readonly pid: number;
  readonly ppid: number;
  readonly start_time: string;
  readonly pgrp: number;
  readonly session: number;
  readonly marker: string | undefined;
  /** Directories in which it has its stdout and its stderr as spools have their names. */
  readonly spools: readonly string[];
  /** Path of its cgroup (v2). */
  readonly cgroup: string | undefined;
}
