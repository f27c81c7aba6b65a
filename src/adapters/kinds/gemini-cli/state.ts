/** The state of the Gemini CLI decoder between two lines: small, immutable, JSON. */
import { type HeadlessState, NOTHING_YET } from "../../decoding/headless.ts";

export interface GeminiState extends HeadlessState {
  /** The number of the agent's messages so far, because the CLI gives them no ids. */
  readonly messages: number;
  /** The newest message continues: the last relevant line was a part of it. */
  readonly speaking: boolean;
}

export const initial = (): GeminiState => ({ ...NOTHING_YET, messages: 0, speaking: false });
