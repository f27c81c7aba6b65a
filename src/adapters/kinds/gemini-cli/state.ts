/** The memory of the decoder of Gemini CLI between two lines: small, immutable, JSON. */
import { type HeadlessState, NOTHING_YET } from "../../decoding/headless.ts";

export interface GeminiState extends HeadlessState {
  /** Messages of the agent so far: the CLI gives them no ids. */
  readonly messages: number;
  /** The last line that said something was a part of the newest of them. */
  readonly speaking: boolean;
}

export const initial = (): GeminiState => ({ ...NOTHING_YET, messages: 0, speaking: false });
