/**
 * The POSIX extras of a runtime: what only runs that are processes of this machine can tell or do. A caller uses them where
 * they are there, and does without them elsewhere.
 */
import type { RecordedProcesses, RunId } from "../protocol/incarnation.ts";
import type { SweepReport } from "../protocol/records.ts";

/** The use of the machine by the living processes of a run. */
export interface RunResources {
  /** Processor time of these processes since their start, and of their children that have ended. */
  readonly cpu_ms: number;
  /** Resident memory; pages that processes share count in each. */
  readonly memory_bytes: number;
  readonly processes: number;
}

/** A run whose agent is a process of this machine. */
export interface RunProcesses extends RecordedProcesses {
  /** Process group of the launcher and the agent. */
  readonly pgid: number;
  /**
   * Finds what carries this run's marker or descends from it, stops it until nothing new appears, then kills
   * it. Removes litter last.
   */
  sweep(options?: SweepOptions): Promise<SweepReport>;
  /**
   * The values of these variables at the agent's start; empty if the agent is gone or its process cannot be
   * read.
   */
  variables(names: readonly string[]): Readonly<Record<string, string>>;
  /**
   * The use of the agent and of its descendants that were found last. Undefined for a container, whose processes are not
   * this daemon's, and if this process cannot read.
   */
  resources(): RunResources | undefined;
}

export interface SweepOptions {
  /**
   * Skip the search if the launcher has ended by itself, because it does that only when no process is left
   * below it.
   */
  readonly trustsLauncher?: boolean;
}

/** A change in a run directory that only the agent, or a program outside the runtime, can have made. */
export interface RunFinding {
  /** The name in the run directory. */
  readonly file: string;
  readonly what: "not_a_file" | "contradicts_the_log" | "forged";
  readonly detail: string;
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

/** A runtime whose runs are processes of this machine. */
export interface MachineRuntime {
  /**
   * The run that a process belongs to. A process that began after `before_s`, in seconds of `statClock`, has
   * reused the pid and does not count. The answer for the same process may be some seconds old.
   */
  originOf(pid: number, before_s?: number): ProcessOrigin;
  /** The same, for a process whose lineage was read before. */
  originIn(lineage: readonly RelatedProcess[]): ProcessOrigin;
  /**
   * The number of runs whose output is polled because the machine gives no more file events. No output is
   * lost, only delayed.
   */
  polled(): number;
  /** Finds the processes of all runs anew, unless none has begun since the last time. Never rejects. */
  look(): Promise<unknown>;
  /** The runtime's tick has woken the event loop: regular checks of the runs are done now, so that they do not wake it again. */
  ticked(): void;
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
