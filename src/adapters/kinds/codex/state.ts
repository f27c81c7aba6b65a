/** The memory of the decoder of codex between two lines: small, immutable, JSON. */
import type { Usage, WorkerError } from "../../../protocol/records.ts";
import { NO_USAGE } from "../../decoding/usage.ts";
import type { AppServerState } from "./app-server/state.ts";

export type CodexState = ExecState | AppServerState;

/** The state of `codex exec --json`. */
export interface ExecState {
  readonly mode?: never;
  readonly thread: string | null;
  /** The session facet goes out once a run, on the first thread. */
  readonly announced: boolean;
  readonly turns_started: number;
  readonly turns_ended: number;
  /** Tool items that were started and wait for their end, newest last. */
  readonly tools: readonly string[];
  /** The error that was reported since the last turn's end: `turn.failed` repeats it. */
  readonly reported: WorkerError | null;
  /** How the last turn that ended did so; null before the first and after a good one. */
  readonly failed: WorkerError | null;
  /** The last whole answer. */
  readonly text: string | null;
  readonly usage: Usage;
  /** A line over the limit was skipped: perhaps the end of the turn. */
  readonly skipped: boolean;
}

/** Tool items at one time. An older one's end is told with its call once more. */
export const TOOLS_MAX = 64;

export const initial = (): ExecState => ({
  thread: null,
  announced: false,
  turns_started: 0,
  turns_ended: 0,
  tools: [],
  reported: null,
  failed: null,
  text: null,
  usage: NO_USAGE,
  skipped: false,
});
