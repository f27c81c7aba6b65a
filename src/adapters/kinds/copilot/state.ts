/** The memory of the decoder of Copilot CLI between two lines: small, immutable, JSON. */
import type { Opening } from "../../adapter.ts";
import { type HeadlessState, NOTHING_YET } from "../../decoding/headless.ts";
import { chosenSession } from "./session.ts";

export interface CopilotState extends HeadlessState {
  /** Messages and reasonings of which deltas were told, newest last: what comes whole afterwards is the same again. */
  readonly streamed: readonly string[];
  /** HTTP status of the last call of the model that failed; 0 when none. */
  readonly http_status: number;
  /** The CLI was interrupted: a good result after that is none. */
  readonly aborted: boolean;
  /** The session that it was started with; null where its own arguments name one. A state of an older version has none. */
  readonly chosen?: string | null;
}

/** The main agent's and its sub-agents' at one time. */
export const STREAMED_MAX = 32;

export const initial = (opening: Opening): CopilotState => ({
  ...NOTHING_YET,
  streamed: [],
  http_status: 0,
  aborted: false,
  chosen: chosenSession(opening) ?? null,
});
