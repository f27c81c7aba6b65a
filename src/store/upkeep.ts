/** The upkeep of a store: checks, rebuilds of projections, retention, and the work of each tick. */
import type { EventLog } from "./event-log.ts";
import type { GcOptions, GcReport } from "./gc-report.ts";
import type { Heartbeat, Views } from "./views.ts";

export interface CheckReport {
  readonly ok: boolean;
  readonly records: number;
  readonly head: number;
  /** One sentence for each finding: a gap in seq, a wrong checksum, a projection that differs from its fold, … */
  readonly findings: readonly string[];
  /** Notes that are not damage, such as an older copy that was put back. */
  readonly notes: readonly string[];
}

export interface Upkeep {
  /** Writes the newest heartbeats over the earlier ones in one transaction. They are not records. */
  beat(beats: readonly Heartbeat[]): void;
  /** Drops all projections and folds them again from the log. */
  rebuild(): { readonly records: number };
  check(): CheckReport;
  /** As `check`, in a worker thread: nothing else waits for it. */
  checkAside(): Promise<CheckReport>;
  rebuildAside(): Promise<{ readonly records: number }>;
  /** Moves old output to archives and returns its space to the disk, in small steps. */
  gc(options: GcOptions): Promise<GcReport>;
  /**
   * Called on the tick: checks that the files are in their places and that the write-ahead log is not too large, and
   * repairs what it can.
   */
  look(): void;
}

/** A store has all three ports. Each user gets only those it needs. */
export interface Store extends EventLog, Views, Upkeep {
  close(): void;
}
