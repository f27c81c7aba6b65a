/** Who decides for a worker: its own supervisor, or the tree that it belongs to. */
import type { RecordDraft } from "../protocol/records.ts";
import type { AppendOptions } from "../store/port.ts";
import type { ChildState, Input } from "./inputs.ts";

export interface Decider {
  /** What the records say of the worker. */
  child(): ChildState;
  /**
   * Rejects with a HoldfastError where the store refuses. `extra` comes first, in the same transaction. Whoever asked may
   * go away in the middle: what is on record by then is carried out all the same.
   */
  input(input: Input, extra?: readonly RecordDraft[], options?: AppendOptions): Promise<void>;
}
