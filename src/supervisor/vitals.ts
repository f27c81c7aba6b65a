/** Heartbeat and stall of one worker: read on the runtime's tick. What the store refuses, the next tick finds again. */
import { beat, type ClockBounds, clocksAt, isBeatDue, isStalled, progress } from "../actors/clocks.ts";
import type { Run } from "../adapters/spawner.ts";
import { workerStream } from "../protocol/records.ts";
import type { WorkerSpec } from "../protocol/worker.ts";
import type { Journal } from "./journal.ts";

export class Vitals {
  private readonly spec: WorkerSpec;
  private clocks = clocksAt(0);

  constructor(spec: WorkerSpec) {
    this.spec = spec;
  }

  /** An incarnation begins, or is taken over. Monotonic milliseconds, as everywhere here. */
  begin(now: number): void {
    this.clocks = clocksAt(now);
  }

  /** It has made a record. */
  progress(now: number): void {
    this.clocks = progress(this.clocks, now);
  }

  /** Whether a tick has anything to do. */
  isDue(now: number): boolean {
    return isBeatDue(this.clocks, this.bounds(), now) || isStalled(this.clocks, this.bounds(), now);
  }

  async tick(journal: Journal, run: Run, now: number): Promise<void> {
    if (isBeatDue(this.clocks, this.bounds(), now)) await this.heartbeat(journal, run, now);
    if (isStalled(this.clocks, this.bounds(), now)) await this.stalled(journal, now);
  }

  private async heartbeat(journal: Journal, run: Run, now: number): Promise<void> {
    const seen = beat(this.clocks, run.process(), now);
    const payload = { process: seen.clocks.process, idle_ms: Math.round(now - this.clocks.progress_ms) };
    const { worker_id, incarnation } = run;
    const stream = workerStream(worker_id);
    if (seen.changed) {
      const told = await journal
        .commit([{ type: "worker_heartbeat", stream, worker_id, incarnation, payload }])
        .then(
          () => true,
          () => false,
        );
      if (!told) return;
    }
    // There may have been progress meanwhile.
    this.clocks = beat(this.clocks, payload.process, now).clocks;
  }

  private async stalled(journal: Journal, now: number): Promise<void> {
    const value = Math.round(now - this.clocks.progress_ms);
    const { grace_ms, stall_ms: bound } = this.spec;
    await journal.input({ type: "limit", limit: "stall", value, bound, grace_ms }).catch(() => undefined);
  }

  private bounds(): ClockBounds {
    return this.spec;
  }
}
