/**
 * Heartbeat, progress and tools of one worker, looked at on the runtime's tick. The next look finds again what the store refuses. A look may wait for the store, so it holds nobody up and there is never a second one.
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

/** Monotonic milliseconds everywhere. */
export class ActivityClock {
  private readonly spec: WorkerSpec;
  private clocks = NOT_BEGUN;
  /** False: tools that an earlier daemon saw begin are read from the log before anything is decided that they forbid. */
  private areToolsKnown = true;
  private isLooking = false;
  private readonly waitsFor = new Set<"message" | "approval">();

  constructor(spec: WorkerSpec) {
    this.spec = spec;
  }

  /** An incarnation begins. */
  begin(incarnation: number, now: number): void {
    this.clocks = clocksAt(incarnation, now);
    this.areToolsKnown = true;
  }

  /** A new daemon takes it over: patience begins anew, a question that stands goes on. */
  resume({ incarnation, ladder }: ChildState, now: number): void {
    this.clocks = clocksAt(incarnation, now, ladder.stage === "none" ? now : ladder.at_ms);
    this.areToolsKnown = false;
  }

  /** It has made these records. */
  progress(drafts: readonly RecordDraft[], now: number): void {
    this.clocks = progressed(this.clocks, drafts, now);
  }

  /** Time has passed in which nobody could look: it counts for nothing. */
  rebase(now: number): void {
    this.clocks = rebased(this.clocks, now);
  }

  /** It waits for a message, or for a permission, and need not make any progress until it has it. */
  waits(what: "message" | "approval", isSo: boolean, now: number): void {
    if (isSo) this.waitsFor.add(what);
    else this.waitsFor.delete(what);
    const waits = this.waitsFor.size > 0;
    if (waits !== this.clocks.waits) this.clocks = { ...rebased(this.clocks, now), waits };
  }

  /** When its process was last looked at; undefined for another incarnation. */
  beatMs(incarnation: number): number | undefined {
    return incarnation === this.clocks.incarnation ? this.clocks.beat_ms : undefined;
  }

  /** When there is something to look at. */
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
      const seen = beat(this.clocks, incarnation, run.process(), now);
      const payload = { process: seen.clocks.process, idle_ms: Math.round(now - this.clocks.progress_ms) };
      const stream = workerStream(worker_id);
      if (seen.changed) {
        const beats = [{ type: "worker_heartbeat", stream, worker_id, incarnation, payload }] as const;
        if (!(yield* Effect.isSuccess(journal.commit(beats)))) return;
      }
      // There may have been progress meanwhile, or another incarnation.
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
