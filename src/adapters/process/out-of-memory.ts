/**
 * Tells whether the kernel sent a SIGKILL that is not ours, for lack of memory. The exit status cannot tell,
 * but these can: the kill count of the run's cgroup, the kernel's log, and the machine's kill count in
 * /proc/vmstat. The result is still inferred.
 */
import { closeSync, constants, openSync, readSync } from "node:fs";
import { KERNEL_LOG_MAX_RECORDS } from "../../base/limits.ts";
import { readProc } from "./identity.ts";

export interface MemoryEvidence {
  /** Kills counted by the run's own cgroup; undefined without a cgroup. */
  readonly of_run?: number | undefined;
  /** Kills on the whole machine since the last check; undefined if it does not count them. */
  readonly of_machine: number | undefined;
  /** The pids that the kernel's log reports as killed for memory; undefined if the log may not be read. */
  readonly logged: () => ReadonlySet<number> | undefined;
}

/** `pids`: the run's own processes. The log is read only if the machine counted a kill. */
export const wasOutOfMemory = (
  { of_run, of_machine, logged }: MemoryEvidence,
  pids: Iterable<number>,
): boolean => {
  if (of_run !== undefined) return of_run > 0;
  if (of_machine === undefined || of_machine <= 0) return false;
  const named = logged();
  return named === undefined || [...pids].some((pid) => named.has(pid));
};

/** proc(5), /proc/vmstat. */
export const oomKillsOf = (text: string): number | undefined => {
  const count = /^oom_kill (\d+)$/m.exec(text)?.[1];
  return count === undefined ? undefined : Number(count);
};

/** Matches "Out of memory: Killed process 123 (name)", and the same message about a cgroup. */
export const killedByKernel = (record: string): number | undefined => {
  const pid = /out of memory: Killed process (\d+) /i.exec(record)?.[1];
  return pid === undefined ? undefined : Number(pid);
};

const kernelLog = (): ReadonlySet<number> | undefined => {
  const named = new Set<number>();
  const record = Buffer.allocUnsafe(8 * 1024);
  let fd: number | undefined;
  try {
    fd = openSync("/dev/kmsg", constants.O_RDONLY | constants.O_NONBLOCK);
    for (let n = 0; n < KERNEL_LOG_MAX_RECORDS; n += 1) {
      const pid = killedByKernel(record.toString("latin1", 0, readSync(fd, record, 0, record.length, null)));
      if (pid !== undefined) named.add(pid);
    }
  } catch (cause) {
    // EAGAIN is the end of the log.
    if ((cause as NodeJS.ErrnoException).code !== "EAGAIN") return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
  return named;
};

const vmstat = Buffer.allocUnsafe(16 * 1024);
const killsNow = (): number | undefined => {
  try {
    const bytes = readProc("/proc/vmstat", vmstat);
    return typeof bytes === "string" ? undefined : oomKillsOf(bytes.toString("latin1"));
  } catch {
    return undefined;
  }
};

/** Reads the machine's count periodically, so that an old kill is not attributed to this run. */
export class MemoryWatch {
  private readonly read: () => number | undefined;
  private readonly log: () => ReadonlySet<number> | undefined;
  /** The count before the last read: a kill may come before a read, and the exit that it caused after it. */
  private before: number | undefined;
  private last: number | undefined;

  constructor(read = killsNow, log = kernelLog) {
    this.read = read;
    this.log = log;
    this.before = this.last = read();
  }

  look(): void {
    this.before = this.last;
    this.last = this.read();
  }

  evidence(of_run?: number): MemoryEvidence {
    const now = this.read();
    const of_machine = now === undefined || this.before === undefined ? undefined : now - this.before;
    return { of_run, of_machine, logged: this.log };
  }
}
