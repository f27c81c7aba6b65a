/** The log as the daemon of a simulation has it: records with their instants, and the fold of them after a crash. */
import type { LogRecord, RecordDraft } from "../../src/protocol/records.ts";
import type { WorkerSpec } from "../../src/protocol/worker.ts";
import { type Instant, monotonicOf } from "../../src/supervisor/child/evolve.ts";
import { emptyTree, evolveTree } from "../../src/supervisor/tree/evolve.ts";
import type { TreeState } from "../../src/supervisor/tree/state.ts";

export interface Stored {
  readonly seq: number;
  readonly draft: RecordDraft;
  readonly wall_ms: number;
}

/** A difference of wall clocks over a reboot counts for no more than this. */
const AGO_MAX_MS = 600_000;

export class Disk {
  readonly records: Stored[] = [];

  commit(drafts: readonly RecordDraft[], wall_ms: number): readonly Stored[] {
    const first = this.records.length + 1;
    const stored = drafts.map((draft, index) => ({ seq: first + index, draft, wall_ms }));
    this.records.push(...stored);
    return stored;
  }

  /** `specOf`: the spec that a worker had first; what changed it is on record. */
  fold(name: string, now: Instant, specOf: (id: string) => WorkerSpec): TreeState {
    let tree = emptyTree(name);
    for (const { draft, wall_ms } of this.records) {
      const clock = "clock" in draft.payload ? draft.payload.clock : undefined;
      const at =
        clock?.boot_id === now.boot_id
          ? Math.min(now.mono_ms, Number(clock.mono_ns) / 1e6)
          : monotonicOf(
              { ...draft, recorded_at: new Date(wall_ms).toISOString() } as LogRecord,
              now,
              AGO_MAX_MS,
            );
      tree = evolveTree(tree, draft, at, specOf);
    }
    return tree;
  }
}
