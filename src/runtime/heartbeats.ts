/**
 * When each worker's process was last checked and found as expected. The heartbeats of living workers are in memory; the
 * store has those of all workers, written in bulk and not as records.
 */
import type { Worker } from "../actors/worker/worker.ts";
import { isoTime } from "../base/iso-time.ts";
import { HEARTBEAT_LATE_MIN_MS, HEARTBEATS_LATE_AFTER, HEARTBEATS_WRITTEN_MS } from "../base/limits.ts";
import { HoldfastError } from "../protocol/errors.ts";
import type { Heartbeat } from "../store/views.ts";
import { isPaused } from "../supervisor/holds/pause.ts";
import type { Core } from "./core.ts";

export class Heartbeats {
  private readonly core: Core;
  private writtenMs = Number.NEGATIVE_INFINITY;

  constructor(core: Core) {
    this.core = core;
  }

  /** RFC 3339; null for a worker that never ran, or that ended before one was written. */
  at(workerId: string): string | null {
    const worker = this.core.roster.live.get(workerId);
    const beat = (worker && this.beatOf(worker)) ?? this.core.services.views.heartbeat(workerId);
    return beat === undefined ? null : isoTime(beat.at_ms);
  }

  /**
   * The number of living workers whose last check is more than HEARTBEATS_LATE_AFTER heartbeats ago, and the greatest age
   * in milliseconds.
   */
  late(): { readonly late: number; readonly oldest_ms: number | null } {
    const now = this.core.wallMs();
    let late = 0;
    let oldest: number | null = null;
    for (const worker of this.core.roster.live.values()) {
      const beat = isPaused(worker.child()) ? undefined : this.beatOf(worker);
      if (beat === undefined) continue;
      const age = Math.max(0, now - beat.at_ms);
      oldest = Math.max(oldest ?? 0, age);
      const bound = Math.max(HEARTBEAT_LATE_MIN_MS, worker.spec.heartbeat_ms * HEARTBEATS_LATE_AFTER);
      if (age > bound) late += 1;
    }
    return { late, oldest_ms: oldest };
  }

  /** Writes the heartbeats, on the tick. While the store refuses, the next call tries again. */
  look(): void {
    const { log, upkeep } = this.core.services;
    const now = this.core.monoMs();
    if (now - this.writtenMs < HEARTBEATS_WRITTEN_MS || log.trouble() !== undefined || log.held() > 0) return;
    const beats = [...this.core.roster.live.values()].flatMap((worker) => this.beatOf(worker) ?? []);
    try {
      if (beats.length > 0) upkeep.beat(beats);
      this.writtenMs = now;
    } catch (cause) {
      // A full disk or a missing file: the store reports it itself, and a lost heartbeat is no defect.
      if (!(cause instanceof HoldfastError)) throw cause;
    }
  }

  private beatOf(worker: Worker): Heartbeat | undefined {
    const beat_ms = worker.beatMs();
    if (beat_ms === undefined) return undefined;
    const at_ms = Math.round(this.core.wallMs() - (this.core.monoMs() - beat_ms));
    return { worker_id: worker.id, incarnation: worker.child().incarnation, at_ms };
  }
}
