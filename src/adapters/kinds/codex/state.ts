/** The state of the codex decoder between two lines: small, immutable, JSON. */
import type { Usage, WorkerError } from "../../../protocol/records.ts";
import { NO_USAGE } from "../../decoding/usage.ts";
import type { AppServerState } from "./app-server/state.ts";

export type CodexState = ExecState | AppServerState;

/** The state of the `codex exec --json` decoder. */
export interface ExecState {
  readonly mode?: never;
  readonly thread: string | null;
  /** The session facet has been sent: once per run, with the first thread. */
  readonly announced: boolean;
  readonly turns_started: number;
  readonly turns_ended: number;
  /** Started tool items without an end, newest last. */
  readonly tools: readonly string[];
  /** The error reported since the end of the last turn, because `turn.failed` repeats it. */
  readonly reported: WorkerError | null;
  /** The error of the last ended turn; null before the first end and after a success. */
  readonly failed: WorkerError | null;
  /** The last whole answer. */
  readonly text: string | null;
  readonly usage: Usage;
  /** A line over the limit was skipped, perhaps the end of a turn. */
  readonly skipped: boolean;
}

/** Open tool items that are remembered. The end of an older one is recorded together with its call again. */
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
