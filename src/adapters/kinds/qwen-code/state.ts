/** The state of the Qwen Code decoder between two lines: small, immutable, JSON. */
import { agentOptions } from "../../../protocol/extensions.ts";
import type { Usage } from "../../../protocol/records.ts";
import type { Opening } from "../../adapter.ts";
import { type HeadlessState, NOTHING_YET } from "../../decoding/headless.ts";
import { NO_USAGE } from "../../decoding/usage.ts";

export interface QwenState extends HeadlessState {
  /** The session has turns before this one, so the usage in `result` is not the turn's alone. */
  readonly goes_on: boolean;
  /** The usage of the turn's messages so far. */
  readonly spent: Usage;
  /** The end of a message that may be the CLI's own words for an error. Only the next line tells. */
  readonly held: HeldText | null;
  /** It is a conversation; absent in one prompt, and in a state of an older version. */
  readonly spoken?: true;
  /** The message that the CLI has read, whose turn has not begun. */
  readonly read?: string | undefined;
}

export interface HeldText {
  readonly message_id: string;
  /** At most HELD_MAX_UNITS. */
  readonly text: string;
}

/** Longest text that may be an error of the CLI, in UTF-16 units. */
export const HELD_MAX_UNITS = 2_048;

/** Arguments of the user that name a session. */
export const NAMES_SESSION = /^(?:-r|-c|--resume|--continue|--session-id)(?:=|$)/;

export const initial = ({ spec, session }: Opening): QwenState => ({
  ...NOTHING_YET,
  goes_on:
    spec.interactive ||
    session !== undefined ||
    agentOptions(spec).session !== undefined ||
    spec.argv.some((arg) => NAMES_SESSION.test(arg)),
  spent: NO_USAGE,
  held: null,
  ...(spec.interactive && { spoken: true }),
});
