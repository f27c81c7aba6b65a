/**
 * The final answer as a decoder remembers it until the exit. It has to fit into the decoder's state, which is committed
 * with a spool's offset; the whole answer is in the log, as the texts of its message.
 */
import { cutUtf8, isHigh, isLow, TRUNCATED_SUFFIX } from "../../protocol/bounds.ts";

/** Bytes of JSON; leaves the rest of DECODER_STATE_MAX_BYTES to names and ids. */
const KEPT_TEXT_MAX_BYTES = 44 * 1024;

const SUFFIX_BYTES = Buffer.byteLength(TRUNCATED_SUFFIX);

/** The text, or its beginning and the suffix of agent-event.txt. `max_bytes`, of JSON with its quotes, is 2 or more. */
export const keptText = (text: string, max_bytes: number = KEPT_TEXT_MAX_BYTES): string => {
  // JSON needs at most 6 bytes for a UTF-16 unit, so most texts need no counting.
  if (text.length * 6 + 2 <= max_bytes) return text;
  const room = max_bytes - 2;
  const beginning = jsonPrefix(text, 0, room - SUFFIX_BYTES);
  if (jsonPrefix(text, beginning.end, room - beginning.bytes).end === text.length) return text;
  return room < SUFFIX_BYTES ? cutUtf8("…", room) : text.slice(0, beginning.end) + TRUNCATED_SUFFIX;
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

/** There is always room for the suffix, which says that something is missing. */
export const keptAnswer = (before: KeptAnswer, piece: string): KeptAnswer => {
  if (before.cut || piece === "") return before;
  const { end, bytes } = jsonPrefix(piece, 0, KEPT_TEXT_MAX_BYTES - SUFFIX_BYTES - before.json_bytes);
  const json_bytes = before.json_bytes + bytes;
  if (end === piece.length) return { text: before.text + piece, cut: false, json_bytes };
  const text = before.text + piece.slice(0, end) + TRUNCATED_SUFFIX;
  return { text, cut: true, json_bytes: json_bytes + SUFFIX_BYTES };
};

/** Bytes that each ASCII character takes in JSON. */
const ASCII_BYTES = Uint8Array.from(
  { length: 128 },
  (_, code) => JSON.stringify(String.fromCharCode(code)).length - 2,
);

/** As much of a text from `start` on as takes at most `max_bytes` of JSON, without quotes: never half a pair. */
const jsonPrefix = (text: string, start: number, max_bytes: number): { end: number; bytes: number } => {
  let end = start;
  let bytes = 0;
  while (end < text.length) {
    const unit = text.charCodeAt(end);
    const more = unit < 0x80 ? (ASCII_BYTES[unit] as number) : bytesBeyond(unit, text, end);
    if (bytes + more > max_bytes) break;
    bytes += more;
    end += more === PAIR_BYTES ? 2 : 1;
  }
  return { end, bytes };
};

/** Bytes that nothing but a pair of UTF-16 takes. */
const PAIR_BYTES = 4;

/** The bytes of the code point there, which is beyond ASCII. JSON escapes half a pair. */
const bytesBeyond = (unit: number, text: string, at: number): number => {
  if (unit < 0x800) return 2;
  if (!isHigh(unit)) return isLow(unit) ? 6 : 3;
  return isLow(text.charCodeAt(at + 1)) ? PAIR_BYTES : 6;
};
