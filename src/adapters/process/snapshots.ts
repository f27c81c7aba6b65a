/**
 * Records the descendants of all runs, each period and before each signal. One scan of the process table
 * serves all runs and all callers (architecture §5, Stop ladder).
 */
import { readProc } from "./identity.ts";
import { type Kinship, kinshipOf, readTable } from "./process-table.ts";

/** The newest pid of any process or thread; undefined if the system does not report it. */
const newestPid = (): string | undefined => {
  const load = readProc("/proc/loadavg");
  return typeof load === "string" ? undefined : load.toString("latin1").trim().split(" ").at(-1);
};

export interface KinshipRecorder {
  record(kinship: Kinship): void;
}

export class Snapshots {
  private readonly runs: ReadonlySet<KinshipRecorder>;
  private readonly newest: () => string | undefined;
  private current: Promise<unknown> = Promise.resolve();
  private next: Promise<Kinship> | undefined;
  /** The newest pid before the last periodic scan, and the number of processes in that scan. */
  private scannedTo: string | undefined;
  private processes = 0;

  constructor(runs: ReadonlySet<KinshipRecorder>, newest: () => string | undefined = newestPid) {
    this.runs = runs;
    this.newest = newest;
  }

  /** A scan that begins after this call; callers before its start share it. Never rejects. */
  refresh(): Promise<Kinship> {
    this.next ??= this.current.then(() => this.scan());
    return this.next;
  }

  /** The periodic `refresh`. It is skipped if no process has begun since the last scan. */
  async keep(): Promise<number> {
    const begun = this.newest();
    if (begun === undefined || begun !== this.scannedTo) {
      const { table } = await this.refresh();
      this.processes = table.size;
      this.scannedTo = begun;
    }
    return this.processes;
  }

  private async scan(): Promise<Kinship> {
    this.current = this.next ?? this.current;
    this.next = undefined;
    try {
      const kinship = kinshipOf(await readTable());
      for (const run of this.runs) run.record(kinship);
      return kinship;
    } catch {
      // No descriptors left: no process can be seen, and the recorded ones stay.
      return kinshipOf(new Map());
    }
  }
}
