/** The state of the decoder between two lines: small, immutable, JSON. */
import type { Usage, WorkerError } from "../../../protocol/records.ts";
import type { Opening } from "../../adapter.ts";
import { NO_USAGE } from "../../decoding/usage.ts";

export interface LlmState {
  readonly session: string | null;
  readonly announced: boolean;
  readonly interactive: boolean;
  readonly turns_started: number;
  readonly turns_ended: number;
  /** The part of the last whole answer that is kept. */
  readonly text: string | null;
  /** Keys of open requests for permission. */
  readonly asks: readonly string[];
  readonly usage: Usage;
  readonly refused: WorkerError | null;
  /** The error of the last turn; null before the first end and after a success. */
  readonly failed: WorkerError | null;
  /** A line over the limit was skipped, perhaps the end of a turn. */
  readonly skipped: boolean;
}

/** Open requests that are remembered. The engine asks one after the other. */
export const ASKS_MAX = 8;

export const initial = ({ spec }: Opening): LlmState => ({
  session: null,
  announced: false,
  interactive: spec.interactive,
  turns_started: 0,
  turns_ended: 0,
  text: null,
  asks: [],
  usage: NO_USAGE,
  refused: null,
  failed: null,
  skipped: false,
});
