/** Heartbeat and stall of one worker: read on the runtime's tick. What the store refuses, the next tick finds again. */
import { Effect, Exit } from "effect";
import { beat, clocksAt, isBeatDue, isStalled, progress } from "../actors/clocks.ts";
import type { Run } from "../adapters/spawner.ts";
import { workerStream } from "../protocol/records.ts";
import type { WorkerSpec } from "../protocol/worker.ts";
import type { Journal } from "./journal.ts";

export interface Vitals {
  /** An incarnation begins, or is taken over. */
  readonly begin: Effect.Effect<void>;
  /** It has made a record. */
  readonly progress: Effect.Effect<void>;
  tick(run: Run, now: number): Effect.Effect<void>;
}

export const makeVitals = (journal: Journal, spec: WorkerSpec): Vitals => {
  const bounds = { stall_ms: spec.stall_ms, heartbeat_ms: spec.heartbeat_ms };
  let clocks = clocksAt(0);

  const heartbeat = (run: Run, at: number) =>
    Effect.gen(function* () {
      const seen = beat(clocks, run.process(), at);
      const payload = { process: seen.clocks.process, idle_ms: Math.round(at - clocks.progress_ms) };
      const { worker_id, incarnation } = run;
      const stream = workerStream(worker_id);
      const told =
        !seen.changed ||
        Exit.isSuccess(
          yield* Effect.exit(
            journal.commit([{ type: "worker_heartbeat", stream, worker_id, incarnation, payload }]),
          ),
        );
      // There may have been progress meanwhile.
      if (told) clocks = beat(clocks, payload.process, at).clocks;
    });

  const stalled = (at: number) => {
    const value = Math.round(at - clocks.progress_ms);
    const { grace_ms, stall_ms: bound } = spec;
    return Effect.ignore(journal.input({ type: "limit", limit: "stall", value, bound, grace_ms }));
  };

  return {
    begin: Effect.map(journal.now, ({ mono_ms }) => {
      clocks = clocksAt(mono_ms);
    }),
    progress: Effect.map(journal.now, ({ mono_ms }) => {
      clocks = progress(clocks, mono_ms);
    }),
    tick: (run, at) =>
      Effect.gen(function* () {
        if (isBeatDue(clocks, bounds, at)) yield* heartbeat(run, at);
        if (isStalled(clocks, bounds, at)) yield* stalled(at);
      }),
  };
};
