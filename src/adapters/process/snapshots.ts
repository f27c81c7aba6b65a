/**
 * Descendants of all runs, recorded each period and before each signal: one scan of the process table serves all
 * runs and all that wait for one (architecture §5, Stop ladder).
 */
import { type Kinship, kinshipOf, readTable } from "./process-table.ts";

export interface Recorder {
  record(kinship: Kinship): void;
}

export class Snapshots {
  private readonly runs: ReadonlySet<Recorder>;
  private current: Promise<unknown> = Promise.resolve();
  private next: Promise<Kinship> | undefined;

  constructor(runs: ReadonlySet<Recorder>) {
    this.runs = runs;
  }

  /** A scan that begins after this call; callers that come before it begins share it. Never rejects. */
  refresh(): Promise<Kinship> {
    this.next ??= this.current.then(() => this.scan());
    return this.next;
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
