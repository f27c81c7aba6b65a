/** A process, and the search for all that a run left behind, as records tell them. */

/** Identity of a process, read again immediately before each signal (architecture §5). */
export interface ProcessIdentity {
  readonly pid: number;
  /** Field 22 of /proc/PID/stat, in clock ticks since boot. */
  readonly start_time: string;
  readonly boot_id: string;
  readonly pid_ns: string;
}

export interface SweepReport {
  readonly method: "marker" | "cgroup" | "pid_namespace";
  /** Processes whose environment could not be read (other users'). */
  readonly unreadable: number;
  /** Pids of this run still alive after the last pass. */
  readonly survivors: readonly number[];
  /** Processes that the sweep killed. */
  readonly killed: number;
  /** The container of this run, if podman could not remove it. */
  readonly left_container?: string;
  /** How the sweep searched; absent in early records. */
  readonly checked_by?: readonly ("cgroup" | "group" | "marker" | "output" | "descent")[];
}
