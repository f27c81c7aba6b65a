/** The state of the Copilot CLI decoder between two lines: small, immutable, JSON. */
import type { Opening } from "../../adapter.ts";
import { type HeadlessState, NOTHING_YET } from "../../decoding/headless.ts";
import type { TurnEnd } from "../../decoding/steps.ts";
import { chosenSession } from "./session.ts";

export interface CopilotState extends HeadlessState {
  /** Messages and reasonings with recorded deltas, newest last: the whole text that follows repeats them. */
  readonly streamed: readonly string[];
  /** The HTTP status of the last failed call of the model; 0 if there was none. */
  readonly http_status: number;
  /** The end of the turn, which is recorded with its usage once the run is over. */
  readonly ended: Pick<TurnEnd, "duration_ms" | "error"> | null;
  /** The CLI was interrupted, so a result that reports success does not count. */
  readonly aborted: boolean;
  /**
   * The session that it was started with; null if its own arguments name one. Absent in a state of an older
   * version.
   */
  readonly chosen?: string | null;
}

/** Messages in deltas at one time, of the main agent and its sub-agents. */
export const STREAMED_MAX = 32;

export const initial = (opening: Opening): CopilotState => ({
  ...NOTHING_YET,
  streamed: [],
  http_status: 0,
  ended: null,
  aborted: false,
  chosen: chosenSession(opening) ?? null,
});
