/**
 * Whether a SIGKILL that we did not send was the kernel's, for want of memory. The exit status cannot say; these can: the
 * run's own cgroup counts its kills, the kernel's log names the process, and /proc/vmstat counts all kills of the machine.
 * It stays inferred.
 */
import { closeSync, constants, openSync, readSync } from "node:fs";
import { KERNEL_LOG_MAX_RECORDS } from "../../base/limits.ts";
import { readProc } from "./identity.ts";

export interface MemoryEvidence {
  /** Kills that the run's own cgroup has counted; undefined where it has none. */
  readonly of_run?: number | undefined;
  /** Kills of the whole machine since somebody last looked; undefined where it does not count them. */
  readonly of_machine: number | undefined;
  /** Whom the kernel's log says that it killed for memory; undefined where it may not be read. */
  readonly logged: () => ReadonlySet<number> | undefined;
}

/** `pids`: the run's own processes. The log is read only where a kill is to be found in it. */
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

/** "Out of memory: Killed process 123 (name)", and the same of a cgroup. */
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
    // EAGAIN is its end.
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

/** The machine's count, looked at on a period: a kill of long ago is not this run's. */
export class MemoryWatch {
  private readonly read: () => number | undefined;
  private readonly log: () => ReadonlySet<number> | undefined;
  /** As it was one look before the last one: a kill and the news of it may lie on both sides of a look. */
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
