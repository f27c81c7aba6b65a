/**
 * Descendants of all runs, recorded each period and before each signal: one scan of the process table serves all
 * runs and all that wait for one (architecture §5, Stop ladder).
 */
import { readProc } from "./identity.ts";
import { type Kinship, kinshipOf, readTable } from "./process-table.ts";

/** The pid that was given last, of a process or of a thread; undefined where the system does not say. */
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
  /** The newest pid before the newest scan of the period, and how many processes that found. */
  private scannedTo: string | undefined;
  private processes = 0;

  constructor(runs: ReadonlySet<KinshipRecorder>, newest: () => string | undefined = newestPid) {
    this.runs = runs;
    this.newest = newest;
  }

  /** A scan that begins after this call; callers that come before it begins share it. Never rejects. */
  refresh(): Promise<Kinship> {
    this.next ??= this.current.then(() => this.scan());
    return this.next;
  }

  /** On the period: as `refresh`, unless no process was begun since the last scan, so that everybody was seen by it. */
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
      // Out of descriptors: nobody can be seen, and what was recorded stays.
      return kinshipOf(new Map());
    }
  }
}
