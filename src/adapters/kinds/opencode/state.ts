/** The state of the OpenCode decoder between two lines: small, immutable, JSON. */
import type { Usage } from "../../../protocol/records.ts";
import { type HeadlessState, NOTHING_YET } from "../../decoding/headless.ts";
import { NO_USAGE } from "../../decoding/usage.ts";

export interface OpencodeState extends HeadlessState {
  /** The usage of the steps of the open turn. */
  readonly spent: Usage;
  /** A tool was denied. The CLI cannot ask anybody, so it stops after that step. */
  readonly denied: boolean;
}

export const initial = (): OpencodeState => ({ ...NOTHING_YET, spent: NO_USAGE, denied: false });
