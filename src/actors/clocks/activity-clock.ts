/**
 * Checks the heartbeat, the progress and the tools of one worker on the runtime's tick. If the store refuses a record,
 * the next check makes it again. A check may wait for the store, so it runs beside the tick, and at most one at a time.
 */

import { Effect } from "effect";
import type { Run } from "../../adapters/spawner.ts";
import { type RecordDraft, workerStream } from "../../protocol/records.ts";
import type { WorkerSpec } from "../../protocol/worker.ts";
import type { ChildInput, ChildState } from "../../supervisor/child/inputs.ts";
import { beat, clocksAt, isBeatDue, progressed, rebased } from "../../supervisor/clocks/clocks.ts";
import { askTime, climb, dueAt, type Ladder, type LadderStep } from "../../supervisor/clocks/ladder.ts";
import type { Journal } from "../deciding/journal.ts";
import { toolsInFlight } from "./tools.ts";

const NOT_BEGUN = clocksAt(0, 0);

/** All times are monotonic milliseconds. */
export class ActivityClock {
  private readonly spec: WorkerSpec;
  private clocks = NOT_BEGUN;
  /**
   * False after a take-over: calls of tools that an earlier daemon saw begin are read from the log before any decision
   * that depends on them.
   */
  private areToolsKnown = true;
  private isLooking = false;
  private readonly waitsFor = new Set<"message" | "approval">();

  constructor(spec: WorkerSpec) {
    this.spec = spec;
  }

  /** Starts all clocks for a new incarnation. */
  begin(incarnation: number, now: number): void {
    this.clocks = clocksAt(incarnation, now);
    this.areToolsKnown = true;
  }

  /** A new daemon takes the worker over: the stall clock starts anew, but the clock of an open question goes on. */
  resume({ incarnation, ladder }: ChildState, now: number): void {
    this.clocks = clocksAt(incarnation, now, ladder.stage === "none" ? now : ladder.at_ms);
    this.areToolsKnown = false;
  }

  /** Updates the clocks with new records of the agent. */
  progress(drafts: readonly RecordDraft[], now: number): void {
    this.clocks = progressed(this.clocks, drafts, now);
  }

  /** Leaves out a gap in which the daemon could not check. */
  rebase(now: number): void {
    this.clocks = rebased(this.clocks, now);
  }

  /** Sets whether the agent waits for a message or for a permission. Until it has it, it need not make progress. */
  waits(what: "message" | "approval", isSo: boolean, now: number): void {
    if (isSo) this.waitsFor.add(what);
    else this.waitsFor.delete(what);
    const waits = this.waitsFor.size > 0;
    if (waits !== this.clocks.waits) this.clocks = { ...rebased(this.clocks, now), waits };
  }

  /** The last time at which its process was checked; undefined for another incarnation. */
  beatMs(incarnation: number): number | undefined {
    return incarnation === this.clocks.incarnation ? this.clocks.beat_ms : undefined;
  }

  /** The next time at which a check is needed. Infinite during a check. */
  dueAt(ladder: Ladder): number {
    if (this.isLooking) return Number.POSITIVE_INFINITY;
    if (!this.areToolsKnown && this.spec.tool_timeout_ms > 0) return 0;
    return dueAt(ladder, this.clocks, this.spec);
  }

  tick(journal: Journal, run: Run, now: number): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.isLooking || run.incarnation !== this.clocks.incarnation) return Effect.void;
      this.isLooking = true;
      const looked = Effect.sync(() => {
        this.isLooking = false;
      });
      return Effect.ensuring(this.look(journal, run, now), looked);
    });
  }

  private look(journal: Journal, run: Run, now: number): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      if (isBeatDue(this.clocks, this.spec, now)) yield* this.heartbeat(journal, run, now);
      const next = () => climb(journal.child().ladder, this.clocks, this.spec, now);
      if (!this.areToolsKnown && (this.spec.tool_timeout_ms > 0 || next() !== undefined)) {
        const tools = yield* toolsInFlight(journal, run, now);
        this.areToolsKnown = true;
        if (run.incarnation === this.clocks.incarnation) this.clocks = { ...this.clocks, tools };
      }
      const step = next();
      if (step === undefined || run.incarnation !== this.clocks.incarnation) return;
      yield* Effect.ignore(journal.input(inputOf(step, this.spec, run.incarnation, now)));
    });
  }

  private heartbeat(journal: Journal, run: Run, now: number): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const { worker_id, incarnation } = run;
      const process = run.process();
      if (process === "unknown") return;
      const seen = beat(this.clocks, incarnation, process, now);
      const payload = { process: seen.clocks.process, idle_ms: Math.round(now - this.clocks.progress_ms) };
      const stream = workerStream(worker_id);
      if (seen.changed) {
        const beats = [{ type: "worker_heartbeat", stream, worker_id, incarnation, payload }] as const;
        if (!(yield* Effect.isSuccess(journal.commit(beats)))) return;
      }
      // During the commit there may have been progress, or a new incarnation: fold into the current clocks.
      this.clocks = beat(this.clocks, incarnation, payload.process, now).clocks;
    });
  }
}

const inputOf = (
  step: LadderStep,
  { stall_ms, grace_ms }: WorkerSpec,
  incarnation: number,
  now: number,
): ChildInput => {
  switch (step.type) {
    case "warn":
      return { type: "stalled", idle_ms: step.idle_ms, bound_ms: stall_ms };
    case "ask": {
      const answer_within_ms = askTime(stall_ms);
      const question_id = `${incarnation}.${Math.round(now)}`;
      return { type: "ask", question_id, idle_ms: step.idle_ms, answer_within_ms };
    }
    case "withdraw":
      return { type: "withdraw" };
    case "limit":
      return { ...step, grace_ms };
  }
};
