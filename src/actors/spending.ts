/** The port between a worker and its budgets. */

import type { Effect } from "effect";
import type { HoldfastError } from "../protocol/errors.ts";
import type { Usage } from "../protocol/records.ts";
import type { WorkerSpec } from "../protocol/worker.ts";
import type { ChildInput, ChildState } from "../supervisor/child/inputs.ts";

/** A worker as its budgets see it. */
export interface Spender {
  readonly id: string;
  readonly spec: WorkerSpec;
  child(): ChildState;
  /** Decides an input, records it, then carries it out. Fails only with a store error, and then nothing has changed. */
  input(input: ChildInput): Effect.Effect<unknown, HoldfastError>;
}

/** The questions and reports of a worker to its budgets. */
export interface Spending {
  /**
   * Called when its turns or restarts have grown. `isEnding`: it may be about to end by itself, so it is not paused now.
   * `open`: usage of its open turn so far.
   */
  look(worker: Spender, isEnding?: boolean, open?: Usage): void;
  /** Called with the bytes of this incarnation's output that are in the log. `open`: usage of its open turn so far. */
  wrote(worker: Spender, bytes: number, open?: Usage): void;
  /**
   * Called before a message begins a turn, with `underWay` other turns of this agent. False if the budget has none left: a
   * person is asked.
   */
  takesTurn(worker: Spender, underWay: number): boolean;
  /** Called before an incarnation begins. If a budget is spent, resolves when there is more. */
  gate(worker: Spender): Promise<void> | undefined;
  /** True if no budget applies, so that an incarnation may begin without a check. */
  isFree(worker: Pick<Spender, "id">): boolean;
}
