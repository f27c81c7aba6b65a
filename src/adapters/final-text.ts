/**
 * The final answer as a decoder remembers it until the exit. It has to fit into the decoder's state, which is committed
 * with a spool's offset; the whole answer is in the log, as the texts of its message.
 */
import { truncateMessage } from "../protocol/bounds.ts";

/** Bytes of JSON; leaves the rest of DECODER_STATE_MAX_BYTES to names and ids. */
const KEPT_TEXT_MAX_BYTES = 44 * 1024;

/** The text, or its beginning and the suffix of agent-event.txt. What JSON escapes takes up to six times its room. `max_bytes` is 2 or more. */
export const keptText = (text: string, max_bytes: number = KEPT_TEXT_MAX_BYTES): string => {
  let kept = text;
  // Most texts need a little more in JSON than by themselves: the first try has room for that.
  for (let max = Math.floor(max_bytes * 0.95); !fits(kept, max_bytes); max = Math.floor(max * 0.8))
    kept = truncateMessage(text, max);
  return kept;
};

/** An answer that comes in pieces, as much of it as is kept. */
export interface KeptAnswer {
  readonly text: string;
  /** It was over what can be remembered; what comes after its beginning is in the log alone. */
  readonly cut: boolean;
  /** No less than its JSON takes, so that it need not be written anew for every piece. */
  readonly json_bytes: number;
}

export const NO_ANSWER: KeptAnswer = { text: "", cut: false, json_bytes: 2 };

export const keptAnswer = ({ text, cut, json_bytes }: KeptAnswer, piece: string): KeptAnswer => {
  if (cut || piece === "") return { text, cut, json_bytes };
  // No less than its units; one that is too long by them alone is not written out.
  const bytes = piece.length > KEPT_TEXT_MAX_BYTES ? piece.length : Buffer.byteLength(JSON.stringify(piece));
  const most = json_bytes + bytes;
  if (most <= KEPT_TEXT_MAX_BYTES - MARK_MAX_BYTES) return { text: text + piece, cut, json_bytes: most };
  // Less than the piece needs, so that the suffix says that something is missing.
  const room = Math.min(KEPT_TEXT_MAX_BYTES - json_bytes, bytes - 1);
  return { text: text + keptText(piece, room), cut: true, json_bytes: most };
};

/** Bytes that stay free for the suffix. */
const MARK_MAX_BYTES = 32;

/** JSON needs at most 6 bytes for a UTF-16 unit, so most texts need no counting. */
const fits = (text: string, max_bytes: number): boolean =>
  text.length * 6 + 2 <= max_bytes ||
  (text.length <= max_bytes && Buffer.byteLength(JSON.stringify(text)) <= max_bytes);
