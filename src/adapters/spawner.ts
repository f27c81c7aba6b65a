/**
 * `RuntimeSpawner`, the port of the runtime side (runtime-architecture.txt, Stable contracts): it starts
 * processes, reports how they end, and ends them. `process/` implements it with real processes, and tests
 * implement it in memory.
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
  /** The whole environment of the child, except the marker, which the spawner adds. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: StdinPlan;
  /** Limits for every process of the run. A limit that this machine cannot enforce is refused. */
  readonly limits?: RunLimits;
  /** The program only watches over the agent in a sandbox, so signals that ask for an end bypass it. */
  readonly isMonitor?: boolean;
  /**
   * Absolute paths of directories that its CLI may leave behind empty. The sweep removes those that did not
   * exist before.
   */
  readonly litter?: readonly string[];
  /** The litter directories that were made for this run. */
  readonly made?: readonly string[];
  /** The agent dies with its supervisor: TERM, then KILL after the grace. Without this it lives on. */
  readonly lifeline?: { readonly grace_ms: number };
}

/** A signal name of signal(7). Node's own type would make users of our declarations install Node's types. */
type SignalName = `SIG${string}`;

export interface SweepOptions {
  /**
   * Skip the search if the launcher has ended by itself, because it does that only when no process is left
   * below it.
   */
  readonly trustsLauncher?: boolean;
}

export interface Run extends RunId {
  readonly agent: ProcessIdentity;
  readonly launcher: ProcessIdentity;
  /** Process group of the launcher and the agent. */
  readonly pgid: number;
  /** Resolves once, with the exit of this incarnation. Never rejects. */
  readonly exited: Promise<RunExit>;
  /** Called whenever a spool may have grown (spurious calls are allowed), and once at the exit. */
  onOutput(listener: () => void): void;
  /** The process state from /proc, not from kill(0): T is stopped, Z is dead. */
  process(): "running" | "stopped" | "zombie" | "dead";
  /**
   * Signals the group after a check of its identity. TERM and INT are followed by CONT. Returns the pids
   * signalled.
   */
  signal(signal: SignalName): Promise<readonly number[]>;
  /**
   * Sends STOP by pid to the agent, its group and its descendants, never to the launcher. Idempotent. Returns
   * the pids that are stopped.
   */
  pause(): Promise<readonly number[]>;
  /**
   * Sends CONT to all of them. `signal` also continues a paused process, so that it can act on the signal.
   */
  unpause(): Promise<readonly number[]>;
  /**
   * Sends KILL by pid to the agent, every other member of the group and every known descendant, never to the
   * launcher.
   */
  kill(): Promise<readonly number[]>;
  /**
   * Finds what carries this run's marker or descends from it, stops it until nothing new appears, then kills
   * it. Removes litter last.
   */
  sweep(options?: SweepOptions): Promise<SweepReport>;
  /**
   * `stdin_start` is the length of an open stdin file at the launch, `stdinBytes` its length now. A length
   * that differs from the log's reveals a torn write.
   */
  readonly stdin_start: number;
  stdinBytes(): number;
  /** The bytes of an open stdin from `offset` on. They show which message was begun. */
  stdinFrom(offset: number): Uint8Array;
  /** Append to an open stdin; resolves when the bytes are in the file. */
  write(bytes: string | Uint8Array): Promise<void>;
  /**
   * EOF on an open stdin once the agent has read all of it. The closing is durable from the call on, also for
   * later daemons.
   */
  closeStdin(): Promise<void>;
  isStdinClosed(): boolean;
  /**
   * The values of these variables at the agent's start; empty if the agent is gone or its process cannot be
   * read.
   */
  variables(names: readonly string[]): Readonly<Record<string, string>>;
  /** The last bytes of a spool. Invalid UTF-8 is replaced. */
  tail(stream: SpoolName, bytes: number): Promise<string>;
  /** Absolute path of a spool file. */
  spool(stream: SpoolName): string;
  /**
   * Gives the disk space of [from, below) of a spool back; offsets do not change. True if it was done; never
   * rejects. The output below `below` must be in the log for good.
   */
  release(stream: SpoolName, from: number, below: number): Promise<boolean>;
  /** Bytes of a spool on the disk that will stay: not ingested, or not releasable on this system. */
  held(stream: SpoolName, ingested: number): number;
  /** Releases watches and descriptors; files stay. */
  dispose(): void;
}

export interface ObserveRequest extends RunId {
  /** Absent if the last daemon died before it recorded them. */
  readonly processes?: RecordedProcesses | undefined;
}

/** A change in a run directory that only the agent, or a program outside the runtime, can have made. */
export interface RunFinding {
  /** The name in the run directory. */
  readonly file: string;
  readonly what: "not_a_file" | "contradicts_the_log" | "forged";
  readonly detail: string;
}

/** The state of a recorded incarnation at boot, by the process table and the run directory. */
export type ObservedRun =
  | { readonly kind: "running"; readonly run: Run }
  | { readonly kind: "finished"; readonly exit: RunExit; readonly run: Run }
  /** Launcher and agent are dead, and a check after that found no exit file. */
  | { readonly kind: "lost"; readonly run: Run }
  /** The launcher never claimed the run, and can no longer do so. */
  | { readonly kind: "never_started" };

/** Living processes with the marker of one run. */
export interface LivingRun extends RunId {
  readonly pids: readonly number[];
}

/** The proof that a process belongs to a run, strongest first. */
export type Evidence = "descent" | "cgroup" | "group" | "spool" | "marker";

/** The origin of a process. */
export type ProcessOrigin =
  | ({ readonly type: "run"; readonly by: Evidence } & RunId)
  | { readonly type: "outside" }
  /**
   * It descends from the daemon but from no run: the daemon runs it itself, perhaps because an agent named
   * it.
   */
  | { readonly type: "daemon" }
  /** It ended before it could be checked, or is in another pid namespace. */
  | { readonly type: "gone" };

export interface RuntimeSpawner {
  /**
   * Finds mistakes that `launch` would certainly refuse (program, cwd, argument sizes) without starting
   * anything. Rejects with the same errors.
   */
  check(request: Pick<LaunchRequest, "argv" | "cwd" | "env" | "limits">): Promise<void>;
  /**
   * Resolves when the agent's own pid is known and its exec has not failed. Rejects with a typed
   * HoldfastError.
   */
  launch(request: LaunchRequest): Promise<Run>;
  /** Finds a recorded incarnation again after a restart of the daemon. */
  observe(id: ObserveRequest): Promise<ObservedRun>;
  /** Every run of this store that has living processes, supervised or not. */
  living(): Promise<readonly LivingRun[]>;
  /**
   * The run that a process belongs to. A process that began after `before_s`, in seconds of `statClock`, has
   * reused the pid and does not count. The answer for the same process may be some seconds old.
   */
  originOf(pid: number, before_s?: number): ProcessOrigin;
  /** The same, for a process whose lineage was read before. */
  originIn(lineage: readonly RelatedProcess[]): ProcessOrigin;
  /** Sweeps a run that no supervisor has, including its launcher. */
  end(id: RunId): Promise<SweepReport>;
  /**
   * The number of runs whose output is polled because the machine gives no more file events. No output is
   * lost, only delayed.
   */
  polled(): number;
  /** The runtime's tick has woken the event loop: regular checks of the runs are done now, so that they do not wake it again. */
  ticked?(): void;
  /** The directory of a worker's files: the launch spec and the run directories of its incarnations. */
  workerDir(workerId: string): string;
  close(): Promise<void>;
}

/** A process, with the facts that can tie it to a run. */
export interface RelatedProcess {
  readonly pid: number;
  readonly ppid: number;
  readonly start_time: string;
  readonly pgrp: number;
  readonly session: number;
  readonly marker: string | undefined;
  /** The directories of its stdout and stderr, if these have the names of spools. */
  readonly spools: readonly string[];
  /** Path of its cgroup (v2). */
  readonly cgroup: string | undefined;
}
