/** The port of a worker to its budgets. */

import type { Effect } from "effect";
import type { HoldfastError } from "../protocol/errors.ts";
import type { Usage } from "../protocol/records.ts";
import type { WorkerSpec } from "../protocol/worker.ts";
import type { ChildInput, ChildState } from "../supervisor/child/inputs.ts";

/** A worker, as its budgets see it. */
export interface Spender {
  readonly id: string;
  readonly spec: WorkerSpec;
  child(): ChildState;
  /** Decide on an input, record it, then carry it out. Fails only with a store error: nothing has changed then. */
  input(input: ChildInput): Effect.Effect<unknown, HoldfastError>;
}

/** The questions and news of a worker to its budgets. */
export interface Spending {
  /** Its spending has grown: turns, restarts. `isEnding`: it may be about to end by itself, and is not paused now. */
  look(worker: Spender, isEnding?: boolean, open?: Usage): void;
  /** Bytes of output of this incarnation that are in the log; `open`: what its open turn has used so far. */
  wrote(worker: Spender, bytes: number, open?: Usage): void;
  /** Before a message begins a turn, beside `underWay` others of this agent: false where its budget has none left, and somebody is asked. */
  takesTurn(worker: Spender, underWay: number): boolean;
  /** Before an incarnation begins; where a budget is spent, resolves when there is more. */
  gate(worker: Spender): Promise<void> | undefined;
  /** No budget counts it: an incarnation may begin without a look. */
  isFree(worker: Spender): boolean;
}
