/** The care for a store: checks, projections made anew, retention, and the look of each tick. */
import type { EventLog } from "./event-log.ts";
import type { GcOptions, GcReport } from "./gc-report.ts";
import type { Heartbeat, Views } from "./views.ts";

export interface CheckReport {
  readonly ok: boolean;
  readonly records: number;
  readonly head: number;
  /** One sentence a finding: a gap in seq, a wrong checksum, a projection that differs from its fold, … */
  readonly findings: readonly string[];
  /** Notes that are no damage: that an older copy was put back. */
  readonly notes: readonly string[];
}

export interface Upkeep {
  /** Writes the newest heartbeats over the earlier ones, in one transaction. They are no records. */
  beat(beats: readonly Heartbeat[]): void;
  /** Throw all projections away and fold them again from the log. */
  rebuild(): { readonly records: number };
  check(): CheckReport;
  /** The same in a worker thread: nothing else waits for it. */
  checkAside(): Promise<CheckReport>;
  rebuildAside(): Promise<{ readonly records: number }>;
  /** Moves old output to archives, and its space back to the disk, in small steps. */
  gc(options: GcOptions): Promise<GcReport>;
  /** On the tick: are the files still in their places, and has the write-ahead log its size? Rows that can be put right are. */
  look(): void;
}

/** A store has all three ports. Its users are handed those that they need. */
export interface Store extends EventLog, Views, Upkeep {
  close(): void;
}
