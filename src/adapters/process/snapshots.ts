/**
 * Records the descendants of all runs, each period and before each signal. One scan of the process table
 * serves all runs and all callers (architecture §5, Stop ladder).
 */
import { readProc } from "./identity.ts";
import { type Kinship, kinshipOf, type ProcessTable, readTable } from "./process-table.ts";

/** The newest pid of any process or thread; undefined if the system does not report it. */
const newestPid = (): number | undefined => {
  const load = readProc("/proc/loadavg");
  return typeof load === "string" ? undefined : Number(load.toString("latin1").trim().split(" ").at(-1));
};

export interface KinshipRecorder {
  record(kinship: Kinship): void;
}

/** A table, and the newest pid before it was read. */
interface KnownTable {
  readonly table: ProcessTable;
  readonly newest: number | undefined;
}

export class Snapshots {
  private readonly runs: ReadonlySet<KinshipRecorder>;
  private readonly newest: () => number | undefined;
  private current: Promise<unknown> = Promise.resolve();
  private next: Promise<Kinship> | undefined;
  private known: KnownTable = { table: new Map(), newest: undefined };

  constructor(runs: ReadonlySet<KinshipRecorder>, newest: () => number | undefined = newestPid) {
    this.runs = runs;
    this.newest = newest;
  }

  /** A scan of all processes that begins after this call; callers before its start share it. Never rejects. */
  refresh(): Promise<Kinship> {
    this.next ??= this.inTurn(() => {
      this.next = undefined;
      return this.scan();
    });
    return this.next;
  }

  /**
   * The periodic scan. It is skipped if no process has begun since the last scan, and reads only new processes. Resolves to
   * the number of processes.
   */
  async keep(): Promise<number> {
    const newest = this.newest();
    if (newest === undefined || newest !== this.known.newest) await this.inTurn(() => this.scan(this.known));
    return this.known.table.size;
  }

  /** One scan at a time, so an older scan never overwrites a newer one. */
  private inTurn(scan: () => Promise<Kinship>): Promise<Kinship> {
    const done = this.current.then(scan);
    this.current = done;
    return done;
  }

  private async scan(known?: KnownTable): Promise<Kinship> {
    try {
      const newest = this.newest();
      // Pids rise until they start again at the lowest. Only after that can a known pid be of another process.
      const hasRisen = newest !== undefined && known?.newest !== undefined && newest >= known.newest;
      const table = await readTable(hasRisen ? known.table : undefined);
      this.known = { table, newest };
      const kinship = kinshipOf(table);
      for (const run of this.runs) run.record(kinship);
      return kinship;
    } catch {
      // No descriptors left: no process can be seen, and the recorded ones stay.
      return kinshipOf(new Map());
    }
  }
}
