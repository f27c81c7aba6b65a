/**
 * The final answer as a decoder remembers it until the exit. It has to fit into the decoder's state, which is committed
 * with a spool's offset; the whole answer is in the log, as the texts of its message.
 */
import { truncateMessage } from "../protocol/bounds.ts";

/** Bytes of JSON; leaves the rest of DECODER_STATE_MAX_BYTES to names and ids. */
const KEPT_TEXT_MAX_BYTES = 44 * 1024;

/** The text, or its beginning and the suffix of agent-event.txt. What JSON escapes takes up to six times its room. */
export const keptText = (text: string): string => {
  let kept = text;
  for (let max = KEPT_TEXT_MAX_BYTES; !fits(kept); max = Math.floor(max * 0.8))
    kept = truncateMessage(text, max);
  return kept;
};

/** JSON needs at most 6 bytes for a UTF-16 unit, so most texts need no counting. */
const fits = (text: string): boolean =>
  text.length * 6 + 2 <= KEPT_TEXT_MAX_BYTES ||
  (text.length <= KEPT_TEXT_MAX_BYTES && Buffer.byteLength(JSON.stringify(text)) <= KEPT_TEXT_MAX_BYTES);
