/** What the decoder of Copilot CLI remembers between two lines: small, immutable, JSON. */
import { type HeadlessState, NOTHING_YET } from "../headless.ts";

export interface CopilotState extends HeadlessState {
  /** Messages and reasonings of which deltas were told, newest last: what comes whole afterwards is the same again. */
  readonly streamed: readonly string[];
  /** HTTP status of the last call of the model that failed; 0 when none. */
  readonly http_status: number;
  /** The CLI was interrupted: a good result after that is none. */
  readonly aborted: boolean;
}

/** The main agent's and its sub-agents' at one time. */
export const STREAMED_MAX = 32;

export const initial = (): CopilotState => ({ ...NOTHING_YET, streamed: [], http_status: 0, aborted: false });
