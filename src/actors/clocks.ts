/**
 * Stuck is not slow, and alive is not busy: two clocks for each running worker, kept in a table outside its machine.
 * `process` is what /proc says of it (heartbeat); `progress_ms` when it last made a record. Pure: the caller reads both
 * clocks and the process table and acts on what comes back.
 */
export type ProcessState = "running" | "stopped" | "zombie" | "dead";

export interface WorkerClocks {
  /** Monotonic milliseconds. */
  readonly progress_ms: number;
  readonly beat_ms: number;
  readonly process: ProcessState;
}

export interface ClockBounds {
  /** 0 is never. */
  readonly stall_ms: number;
  readonly heartbeat_ms: number;
}

export const clocksAt = (now: number): WorkerClocks => ({
  progress_ms: now,
  beat_ms: now,
  process: "running",
});

export const isBeatDue = (clocks: WorkerClocks, bounds: ClockBounds, now: number): boolean =>
  now - clocks.beat_ms >= bounds.heartbeat_ms;

/** A stopped process cannot make progress: it is not stalled, it is stopped. */
export const isStalled = (clocks: WorkerClocks, bounds: ClockBounds, now: number): boolean =>
  bounds.stall_ms > 0 && clocks.process === "running" && now - clocks.progress_ms >= bounds.stall_ms;

/** A beat: `changed` says that the process's state is news. After a stop, the time that it was stopped is forgiven. */
export const beat = (
  clocks: WorkerClocks,
  process: ProcessState,
  now: number,
): { readonly clocks: WorkerClocks; readonly changed: boolean } => ({
  clocks: {
    process,
    beat_ms: now,
    progress_ms: clocks.process === "stopped" && process === "running" ? now : clocks.progress_ms,
  },
  changed: process !== clocks.process,
});

export const progress = (clocks: WorkerClocks, now: number): WorkerClocks => ({
  ...clocks,
  progress_ms: now,
});
